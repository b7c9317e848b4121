//go:build capi && cgo && linux

/* The helpers of GASPI_Threads.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

#include "library.h"
#include "include/GASPI_Threads.h"

static pthread_barrier_t all;
static int total;
static _Atomic int next = -1; /* number of the next thread that registers; -1 before init */
static __thread int number = -1;

gaspi_return_t gaspi_threads_get_num_cores(gaspi_int *cores) {
  NEED(cores);
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus)) return GASPI_ERROR;
  *cores = CPU_COUNT(&cpus);
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_init_user(unsigned int num) {
  if (next >= 0 || num < 1 || pthread_barrier_init(&all, NULL, num)) return GASPI_ERROR;
  total = (int)num;
  next = 0;
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_init(gaspi_int *num) {
  gaspi_return_t rc = gaspi_threads_get_num_cores(num);
  return rc == GASPI_SUCCESS ? gaspi_threads_init_user((unsigned)*num) : rc;
}

gaspi_return_t gaspi_threads_term(void) {
  if (next < 0) return GASPI_ERROR;
  pthread_barrier_destroy(&all);
  next = -1;
  total = 0;
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_get_tid(gaspi_int *tid) {
  NEED(tid);
  if (number < 0) return GASPI_ERROR;
  *tid = number;
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_get_total(gaspi_int *num) {
  NEED(num);
  if (next < 0) return GASPI_ERROR;
  *num = total;
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_run(void *(*function)(void *), void *arg) {
  pthread_t thread;
  pthread_attr_t detached;
  if (next < 0 || pthread_attr_init(&detached)) return GASPI_ERROR;
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  int rc = pthread_create(&thread, &detached, function, arg);
  pthread_attr_destroy(&detached);
  return rc ? GASPI_ERROR : GASPI_SUCCESS;
}

gaspi_return_t gaspi_threads_register(gaspi_int *tid) {
  NEED(tid);
  if (next < 0) return GASPI_ERROR;
  number = atomic_fetch_add(&next, 1);
  *tid = number;
  return number < total ? GASPI_SUCCESS : GASPI_ERROR;
}

void gaspi_threads_sync(void) { pthread_barrier_wait(&all); }

gaspi_return_t gaspi_threads_sync_all(gaspi_group_t group, gaspi_timeout_t t) {
  gaspi_threads_sync();
  gaspi_return_t rc = number == 0 ? pgaspi_barrier(group, t) : GASPI_SUCCESS;
  gaspi_threads_sync();
  return rc;
}
