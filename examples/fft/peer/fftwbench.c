/* fftwbench: FFTW-MPI on a complex grid, to set beside examples/fft.
 *
 *   mpicc -O2 -o fftwbench fftwbench.c -lfftw3_mpi -lfftw3 -lm
 *   mpirun -np 2 ./fftwbench 128 128 128 21
 *
 * It prints, as medians over the repetitions of the slowest rank's time in
 * milliseconds:
 *
 *   forward     forward transform whose result is distributed as examples/fft
 *               leaves it, along y (FFTW_MPI_TRANSPOSED_OUT): one exchange
 *   natural     forward transform whose result is distributed as its input: two
 *               exchanges
 *   transpose   the exchange of `forward` alone, as FFTW plans it, with the packing
 *               that is part of it: NX x NY rows of NZ numbers from x to y
 *   local       the rest of `forward`: what the local transforms take
 *
 * All plans are made with FFTW_MEASURE, or with the flag that the last argument
 * names: estimate, measure or patient.
 */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* fill sets n numbers to something that is no zero and never denormal. */
static void fill(fftw_complex *x, ptrdiff_t n, int rank) {
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = cos(0.001 * i + rank) + I * sin(0.002 * i - rank);
}

/* median runs a plan repeat times on fresh data and returns the median of the
 * slowest rank's time in milliseconds. */
static double median(fftw_plan plan, fftw_complex *x, ptrdiff_t n, int rank, int repeat) {
    double *t = malloc(repeat * sizeof *t);
    for (int r = -2; r < repeat; r++) { /* two runs to warm up */
        fill(x, n, rank);
        MPI_Barrier(MPI_COMM_WORLD);
        double t0 = MPI_Wtime(), mine, worst;
        fftw_execute(plan);
        mine = MPI_Wtime() - t0;
        MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (r >= 0)
            t[r] = 1e3 * worst;
    }
    qsort(t, repeat, sizeof *t, compare);
    double m = t[repeat / 2];
    free(t);
    return m;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 5 || atoi(argv[4]) < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: fftwbench NX NY NZ REPEAT [estimate|measure|patient]\n");
        MPI_Finalize();
        return 2;
    }
    ptrdiff_t nx = atol(argv[1]), ny = atol(argv[2]), nz = atol(argv[3]);
    int repeat = atoi(argv[4]);
    unsigned flag = FFTW_MEASURE;
    if (argc > 5 && strcmp(argv[5], "estimate") == 0)
        flag = FFTW_ESTIMATE;
    if (argc > 5 && strcmp(argv[5], "patient") == 0)
        flag = FFTW_PATIENT;

    ptrdiff_t lx, x0, ly, y0;
    ptrdiff_t room = fftw_mpi_local_size_3d_transposed(nx, ny, nz, MPI_COMM_WORLD, &lx, &x0, &ly, &y0);
    fftw_complex *x = fftw_alloc_complex(room);
    fftw_plan forward = fftw_mpi_plan_dft_3d(nx, ny, nz, x, x, MPI_COMM_WORLD, FFTW_FORWARD, flag | FFTW_MPI_TRANSPOSED_OUT);
    fftw_plan natural = fftw_mpi_plan_dft_3d(nx, ny, nz, x, x, MPI_COMM_WORLD, FFTW_FORWARD, flag);
    fftw_plan transpose = fftw_mpi_plan_many_transpose(nx, ny, 2 * nz, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK,
                                                       (double *)x, (double *)x, MPI_COMM_WORLD, flag);
    double f = median(forward, x, room, rank, repeat);
    double n = median(natural, x, room, rank, repeat);
    double t = median(transpose, x, room, rank, repeat);
    if (rank == 0)
        printf("fftw-mpi %ldx%ldx%ld c2c float64, %d ranks, %d repetitions: forward %.2f ms, natural %.2f ms, transpose %.2f ms, local %.2f ms\n",
               (long)nx, (long)ny, (long)nz, size, repeat, f, n, t, f - t);
    fftw_destroy_plan(forward);
    fftw_destroy_plan(natural);
    fftw_destroy_plan(transpose);
    fftw_free(x);
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
