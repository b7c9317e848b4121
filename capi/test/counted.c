/* Does what counted_test.go looks for in the counts of the job. */
#include "check.h"

static void *write_once(void *to) {
  OK(gaspi_write(0, 0, *(gaspi_rank_t *)to, 0, 64, 1000, 1, GASPI_BLOCK));
  OK(gaspi_wait(1, GASPI_BLOCK));
  return NULL;
}

static void fill(gaspi_queue_id_t q, gaspi_rank_t to) {
  gaspi_number_t depth;
  OK(gaspi_queue_size_max(&depth));
  for (gaspi_number_t i = 0; i < depth; i++) OK(gaspi_notify(0, to, 9, 1, q, GASPI_BLOCK));
  for (int i = 0; i < 2; i++) RETURNS(GASPI_QUEUE_FULL, gaspi_write(0, 0, to, 0, 64, 8, q, GASPI_BLOCK));
  RETURNS(GASPI_QUEUE_FULL, gaspi_notify(0, to, 9, 1, q, GASPI_BLOCK));
  OK(gaspi_wait(q, GASPI_BLOCK));
}

int main(void) {
  start();
  segment(0, 4096);
  gaspi_rank_t to = (gaspi_rank_t)((rank + 1) % num);
  OK(gaspi_statistic_verbosity_level(0)); /* of gaspi_statistic_* alone */
  for (int i = 0; i < 5; i++) OK(gaspi_write(0, 0, to, 0, 64, 100, 0, GASPI_BLOCK));
  OK(gaspi_write(0, 0, to, 0, 64, 0, 0, GASPI_BLOCK)); /* nothing */
  for (int i = 0; i < 3; i++) OK(gaspi_write_notify(0, 0, to, 0, 64, 20, 1, 1, 0, GASPI_BLOCK));
  for (int i = 0; i < 4; i++) OK(gaspi_read(0, 2048, to, 0, 3072, 8, 0, GASPI_BLOCK));
  OK(gaspi_read_notify(0, 2048, to, 0, 3072, 16, 2, 0, GASPI_BLOCK));
  for (int i = 0; i < 6; i++) OK(gaspi_notify(0, to, 3, 1, 0, GASPI_BLOCK));
  gaspi_segment_id_t segments[] = { 0, 0 };
  gaspi_offset_t from[] = { 0, 8 }, at[] = { 64, 72 };
  gaspi_size_t sizes[] = { 8, 8 };
  OK(gaspi_write_list_notify(2, segments, from, to, segments, at, sizes, 0, 4, 1, 0, GASPI_BLOCK));
  OK(gaspi_wait(0, GASPI_BLOCK));
  for (int i = 0; i < 7; i++) {
    gaspi_atomic_value_t old;
    OK(gaspi_atomic_fetch_add(0, 3584, to, 1, &old, GASPI_BLOCK));
  }
  pthread_t thread;
  HOLDS(!pthread_create(&thread, NULL, write_once, &to));
  HOLDS(!pthread_join(thread, NULL));
  fill(2, to);
  for (int i = 0; i < 20; i++) barrier();
  finish();
  return 0;
}
