/* The counters of gaspi_statistic_*. */
#include "check.h"

static unsigned long counter(const char *wanted) {
  gaspi_number_t most;
  OK(gaspi_statistic_counter_max(&most));
  IS(18, most);
  for (gaspi_statistic_counter_t c = 0; c < most; c++) {
    gaspi_statistic_argument_t a;
    gaspi_string_t name, text;
    gaspi_number_t level;
    unsigned long v;
    OK(gaspi_statistic_counter_info(c, &a, &name, &text, &level));
    IS(GASPI_STATISTIC_ARGUMENT_NONE, a);
    IS(1, level);
    HOLDS(strlen(text) > 0);
    if (strcmp(name, wanted)) continue;
    OK(gaspi_statistic_counter_get(c, 0, &v));
    OK(gaspi_statistic_counter_reset(c));
    return v;
  }
  FAIL("no counter %s", wanted);
}

enum { THREADS = 16, WRITES = 60 };

static void *write_bytes(void *none) {
  for (int i = 0; i < WRITES; i++) OK(gaspi_write(0, 0, rank, 0, 64, 3, 1, GASPI_BLOCK));
  return none;
}

/* Threads count together, whether they are there or have ended. */
static void threads_count(void) {
  counter("NumberOfWrites");
  counter("BytesWritten");
  for (int round = 1; round <= 2; round++) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) HOLDS(!pthread_create(&threads[i], NULL, write_bytes, NULL));
    for (int i = 0; i < THREADS; i++) HOLDS(!pthread_join(threads[i], NULL));
    OK(gaspi_wait(1, GASPI_BLOCK));
    IS(THREADS * WRITES, counter("NumberOfWrites"));
    IS(3 * THREADS * WRITES, counter("BytesWritten"));
  }
  counter("NumberOfWaits");
}

int main(void) {
  start();
  segment(0, 4096);
  threads_count();
  gaspi_rank_t to = (gaspi_rank_t)((rank + 1) % num);
  counter("NumberOfBarriers");
  barrier();
  IS(1, counter("NumberOfBarriers"));
  IS(0, counter("NumberOfBarriers"));
  OK(gaspi_write(0, 0, to, 0, 64, 10, 0, GASPI_BLOCK));
  OK(gaspi_write_notify(0, 0, to, 0, 64, 5, 1, 1, 0, GASPI_BLOCK));
  OK(gaspi_read(0, 128, to, 0, 64, 7, 0, GASPI_BLOCK));
  OK(gaspi_read_notify(0, 128, to, 0, 64, 7, 2, 0, GASPI_BLOCK));
  OK(gaspi_wait(0, GASPI_BLOCK));
  await(0, 1);
  await(0, 2);
  IS(15, counter("BytesWritten"));
  IS(14, counter("BytesRead"));
  IS(1, counter("NumberOfWrites"));
  IS(1, counter("NumberOfWriteNotifys"));
  IS(1, counter("NumberOfReads"));
  IS(1, counter("NumberOfReadNotifys"));
  IS(1, counter("NumberOfWaits"));
  IS(1, counter("NumberOfSegmentCreate"));
  IS(0, counter("NumberOfSegmentAlloc"));
  gaspi_notification_id_t got;
  counter("TimeInWaitSome");
  RETURNS(GASPI_TIMEOUT, gaspi_notify_waitsome(0, 9, 1, &got, 50));
  HOLDS(counter("TimeInWaitSome") >= 45);
  OK(gaspi_statistic_verbosity_level(0));
  OK(gaspi_write(0, 0, to, 0, 64, 10, 0, GASPI_BLOCK));
  IS(0, counter("BytesWritten"));
  OK(gaspi_statistic_verbosity_level(1));
  unsigned long v;
  HOLDS(gaspi_statistic_counter_get(18, 0, &v) != GASPI_SUCCESS);
  RETURNS(GASPI_ERR_NULLPTR, gaspi_statistic_counter_max(NULL));
  OK(gaspi_wait(0, GASPI_BLOCK));
  finish();
  return 0;
}
