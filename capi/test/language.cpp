// The headers in C++, and a program with them.
#include "GASPI.h"
#include "GASPI_Ext.h"
#include "GASPI_Threads.h"
#include "PGASPI.h"

#include "check.h"

#include <vector>

int main() {
  start();
  gaspi_config_t c;
  OK(gaspi_config_get(&c));
  char *mem = segment(0, 1024);
  std::vector<double> values(4, rank), sums(4);
  OK(gaspi_allreduce(values.data(), sums.data(), 4, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_BLOCK));
  for (double s : sums) HOLDS(s == num * (num - 1) / 2);
  mem[0] = char(rank);
  OK(gaspi_write_notify(0, 0, gaspi_rank_t((rank + 1) % num), 0, 64, 1, 0, 1, 0, GASPI_BLOCK));
  await(0, 0);
  IS((rank + num - 1) % num, mem[64]);
  OK(gaspi_wait(0, GASPI_BLOCK));
  finish();
  return 0;
}
