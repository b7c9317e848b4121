/* All ranks count on rank 0, and take a lock there. */
#include "check.h"

int main(void) {
  start();
  char *mem = segment(0, 64);
  gaspi_atomic_value_t old, sum = 0;
  const int each = 500;
  for (int i = 0; i < each; i++) OK(gaspi_atomic_fetch_add(0, 8, 0, 3, &old, i % 2 ? GASPI_BLOCK : GASPI_TEST));
  for (int i = 0; i < each / 10; i++) {
    do OK(gaspi_atomic_compare_swap(0, 16, 0, 0, (gaspi_atomic_value_t)rank + 1, &old, GASPI_BLOCK)); while (old != 0);
    OK(gaspi_read(0, 32, 0, 0, 24, 8, 0, GASPI_BLOCK)); /* the lock's counter */
    OK(gaspi_wait(0, GASPI_BLOCK));
    sum = *(gaspi_atomic_value_t *)(void *)(mem + 32) + 1;
    *(gaspi_atomic_value_t *)(void *)(mem + 40) = sum;
    OK(gaspi_write_notify(0, 40, 0, 0, 24, 8, 1, 1, 0, GASPI_BLOCK));
    OK(gaspi_wait(0, GASPI_BLOCK));
    do OK(gaspi_read(0, 32, 0, 0, 24, 8, 0, GASPI_BLOCK)); while (gaspi_wait(0, GASPI_BLOCK) || *(volatile gaspi_atomic_value_t *)(void *)(mem + 32) != sum);
    OK(gaspi_atomic_compare_swap(0, 16, 0, (gaspi_atomic_value_t)rank + 1, 0, &old, GASPI_BLOCK));
    IS(rank + 1, old);
  }
  barrier();
  OK(gaspi_atomic_fetch_add(0, 8, 0, 0, &old, GASPI_BLOCK));
  IS(3 * each * num, old);
  OK(gaspi_atomic_fetch_add(0, 24, 0, 0, &old, GASPI_BLOCK));
  IS(each / 10 * num, old);
  OK(gaspi_atomic_compare_swap(0, 8, 0, 1, 2, &old, GASPI_BLOCK));
  IS(3 * each * num, old);
  finish();
  return 0;
}
