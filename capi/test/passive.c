/* Passive messages to the next rank and to the own one, with all kinds of timeouts. */
#include "check.h"

static void *receiver(void *arg) {
  int *sum = arg;
  gaspi_rank_t from;
  gaspi_pointer_t p;
  OK(gaspi_segment_ptr(0, &p));
  for (int i = 0; i < 60; i++) {
    gaspi_return_t rc;
    while ((rc = gaspi_passive_receive(0, 4096, &from, 2048, i % 3 == 0 ? GASPI_BLOCK : i % 3 == 1 ? GASPI_TEST : 5)) == GASPI_TIMEOUT) usleep(50);
    OK(rc);
    HOLDS(from == rank || from == (rank + num - 1) % num);
    *sum += ((unsigned char *)p)[4096 + 99];
  }
  return NULL;
}

enum { SENDERS = 4 };

static void *sender(void *arg) {
  (void)arg;
  OK(gaspi_passive_send(0, 0, (gaspi_rank_t)((rank + 1) % num), 100, GASPI_BLOCK));
  return NULL;
}

/* Threads that send the same bytes to the same rank at a time send a message each. */
static void same(void) {
  pthread_t threads[SENDERS];
  gaspi_rank_t from;
  for (int i = 0; i < SENDERS; i++) HOLDS(pthread_create(&threads[i], NULL, sender, NULL) == 0);
  usleep(50000); /* so that all of them are in the call, as a rule */
  for (int i = 0; i < SENDERS; i++) OK(gaspi_passive_receive(0, 4096, &from, 2048, 20000));
  for (int i = 0; i < SENDERS; i++) HOLDS(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
  start();
  char *mem = segment(0, 8192);
  memset(mem, 1, 100);
  int sum = 0;
  pthread_t t;
  gaspi_rank_t nobody;
  RETURNS(GASPI_TIMEOUT, gaspi_passive_receive(0, 4096, &nobody, 100, 5));
  RETURNS(GASPI_TIMEOUT, gaspi_passive_receive(0, 4096, &nobody, 100, GASPI_TEST));
  barrier();
  pthread_create(&t, NULL, receiver, &sum);
  for (int i = 0; i < 60; i++) {
    gaspi_rank_t to = i % 4 ? (gaspi_rank_t)((rank + 1) % num) : rank;
    gaspi_return_t rc;
    while ((rc = gaspi_passive_send(0, 0, to, 100, i % 3 == 0 ? GASPI_BLOCK : i % 3 == 1 ? GASPI_TEST : 5)) == GASPI_TIMEOUT) usleep(50);
    OK(rc);
  }
  pthread_join(t, NULL);
  IS(60, sum);
  barrier();
  same();
  finish();
  return 0;
}
