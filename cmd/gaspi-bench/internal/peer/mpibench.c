//go:build ignore

// mpibench measures operations of an MPI library by the rules of gaspi-bench:
// blocks of operations back to back, about half a millisecond each, after a
// barrier; the time of a block is that of the slowest rank. Package peer of
// gaspi-bench compiles it, starts it by mpirun, and reads what rank 0 prints:
//
//	start I              point I begins
//	times I N T T T ...  nanoseconds of its blocks, of N operations each
//	done                 there are no more points
//
// usage: mpibench DTYPE OP ROOT MOST MICROSECONDS VERIFY YIELD POINT...
// where a POINT is OPERATION:COUNT:WAY, COUNT elements in a vector, or in a
// block where there are blocks, and bytes in a message.

#include <mpi.h>

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static int rank, ranks;

// fail ends the job with one sentence.
static void fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "mpibench: rank %d: ", rank);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	MPI_Abort(MPI_COMM_WORLD, 1);
	abort();
}

// allocate returns memory of its own pages, none of them shared or missing.
static void *allocate(size_t bytes)
{
	enum { page = 4096 };
	size_t whole = (bytes + page) / page * page;
	void *memory = aligned_alloc(page, whole);
	if (!memory)
		fail("no memory for %zu bytes", bytes);
	memset(memory, 0, whole);
	return memory;
}

#include "values.h"
#include "work.h"
#include "collectives.h"
#include "pairs.h"

// The rules of gaspi-bench's measure.go.
static const double block_time = 500e3; // nanoseconds
enum { min_blocks = 15, max_blocks = 4000, max_batch = 1 << 20 };

// So many rounds go before calibration: libraries set up what an operation needs
// when it is first called.
enum { warm_up = 4 };

static double budget; // nanoseconds for a point
static int verify;    // every operation is checked

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

// try_once does one operation with fresh inputs, and checks its result.
static double try_once(struct work *w)
{
	w->tries++;
	w->fill(w);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = now();
	w->batch(w, 1);
	double took = now() - start;
	w->check(w);
	return took;
}

// block is the time of one batch here, 0 where this rank's clock does not count.
static double block(struct work *w, int n)
{
	if (verify && w->fill)
		return try_once(w);
	MPI_Barrier(MPI_COMM_WORLD);
	double start = now();
	w->batch(w, n);
	return w->timed ? now() - start : 0;
}

static double slowest(double mine)
{
	double most;
	MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

// calibrate finds how many rounds fill a block, and how long that takes.
static int calibrate(struct work *w, double *took)
{
	double enough = (block_time < budget ? block_time : budget) / 2;
	if (verify && w->fill) {
		*took = slowest(try_once(w));
		return 1;
	}
	w->batch(w, warm_up);
	for (int n = 1;; n *= 2) {
		// The better of two: what first touches memory would end this early.
		double first = block(w, n), second = block(w, n);
		*took = slowest(first < second ? first : second);
		if (*took >= enough || n >= max_batch)
			return n;
	}
}

// measure times a point and prints its blocks.
static void measure(struct work *w, int point)
{
	if (w->fill)
		try_once(w);
	double took;
	int n = calibrate(w, &took);
	double fit = budget / (took > 1 ? took : 1);
	int blocks = fit < min_blocks ? min_blocks : fit > max_blocks ? max_blocks : (int)fit;
	double *mine = allocate(blocks * sizeof *mine), *most = allocate(blocks * sizeof *most);
	for (int i = 0; i < blocks; i++)
		mine[i] = block(w, n);
	MPI_Reduce(mine, most, blocks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (w->fill)
		try_once(w);
	if (rank == 0) {
		printf("times %d %d", point, n * w->steps);
		for (int i = 0; i < blocks; i++)
			printf(" %.0f", most[i]);
		printf("\n");
		fflush(stdout);
	}
	free(mine);
	free(most);
}

// run reads a point, OPERATION:COUNT:WAY, and measures it.
static void run(const char *text, int point, const struct task *task)
{
	char operation[32], way[32] = "";
	struct work w = {.task = task, .timed = 1, .steps = 1};
	if (sscanf(text, "%31[^:]:%zu:%31s", operation, &w.count, way) < 2)
		fail("point \"%s\": expected OPERATION:COUNT:WAY", text);
	if (rank == 0) {
		printf("start %d\n", point);
		fflush(stdout);
	}
	if (!open_collective(&w, operation, way) && !open_pair(&w, operation, way))
		fail("there is no %s %s", operation, way);
	measure(&w, point);
	w.close(&w);
}

int main(int argc, char **argv)
{
	// Whoever started this has gone: no rank is left behind.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	enum { first = 8 };
	if (argc <= first)
		fail("usage: mpibench DTYPE OP ROOT MOST MICROSECONDS VERIFY YIELD POINT...");
	struct task task = {.root = atoi(argv[3]), .most = atoi(argv[4]), .yield = atoi(argv[7])};
	find_dtype(&task, argv[1]);
	find_op(&task, argv[2]);
	budget = atof(argv[5]) * 1e3;
	verify = atoi(argv[6]);
	for (int i = first; i < argc; i++)
		run(argv[i], i - first, &task);
	if (rank == 0) {
		printf("done\n");
		fflush(stdout);
	}
	MPI_Finalize();
	return 0;
}
