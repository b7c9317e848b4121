/* MPI and GASPI in one program: MPI_Init comes first, and ranks are the same. */
#include "check.h"

#include <mpi.h>

int main(int argc, char **argv) {
  int r, n, sum, one;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  start();
  IS(r, rank);
  IS(n, num);
  char *mem = segment(0, 64);
  for (int i = 0; i < 20; i++) {
    mem[0] = (char)(rank + i);
    OK(gaspi_write_notify(0, 0, (gaspi_rank_t)((rank + 1) % num), 0, 32, 1, 0, 1, 0, GASPI_BLOCK));
    await(0, 0);
    OK(gaspi_wait(0, GASPI_BLOCK));
    IS((rank + num - 1) % num + i, mem[32]);
    one = mem[32] - i;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    IS(n * (n - 1) / 2, sum);
    barrier();
  }
  finish();
  MPI_Finalize();
  return 0;
}
