/* What test programs share. */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "GASPI.h"
#include "GASPI_Ext.h"
#include "PGASPI.h"

#define FAIL(...) do { fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); fprintf(stderr, __VA_ARGS__); fprintf(stderr, "\n"); exit(1); } while (0)
/* The call returns this code. */
#define RETURNS(code, call) do { gaspi_return_t got_ = (call), want_ = (code); if (got_ != want_) FAIL("%s: %d (%s), want %d", #call, (int)got_, gaspi_error_str(got_), (int)want_); } while (0)
#define OK(call) RETURNS(GASPI_SUCCESS, call)
#define IS(want, got) do { unsigned long got_ = (unsigned long)(got), want_ = (unsigned long)(want); if (got_ != want_) FAIL("%s: %lu, want %lu", #got, got_, want_); } while (0)
#define HOLDS(what) do { if (!(what)) FAIL("not: %s", #what); } while (0)

static gaspi_rank_t rank, num;

static inline void start(void) {
  OK(gaspi_proc_init(GASPI_BLOCK));
  OK(gaspi_proc_rank(&rank));
  OK(gaspi_proc_num(&num));
}

static inline void barrier(void) { OK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK)); }

static inline void finish(void) {
  barrier();
  OK(gaspi_proc_term(GASPI_BLOCK));
}

static inline char *segment(gaspi_segment_id_t id, gaspi_size_t size) {
  gaspi_pointer_t p;
  OK(gaspi_segment_create(id, size, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  OK(gaspi_segment_ptr(id, &p));
  return (char *)p;
}

/* Runs getters on a thread of its own, and fails if they enter Go: the first call that does gives the thread a
 * stack for signals, as gaspi_proc_ping shows. */
static inline void *without_go(void *getters) {
  stack_t before, after;
  sigaltstack(NULL, &before);
  (*(void (**)(void))getters)();
  sigaltstack(NULL, &after);
  HOLDS(before.ss_sp == after.ss_sp && before.ss_flags == after.ss_flags);
  OK(gaspi_proc_ping(rank, GASPI_BLOCK));
  sigaltstack(NULL, &after);
  HOLDS(!(after.ss_flags & SS_DISABLE));
  return NULL;
}

static inline void stays_in_c(void (*getters)(void)) {
  pthread_t thread;
  HOLDS(pthread_create(&thread, NULL, without_go, &getters) == 0);
  HOLDS(pthread_join(thread, NULL) == 0);
}

/* Waits for notification id of a segment, resets it and returns its value. */
static inline gaspi_notification_t await(gaspi_segment_id_t segment, gaspi_notification_id_t id) {
  gaspi_notification_id_t got;
  gaspi_notification_t v;
  OK(gaspi_notify_waitsome(segment, id, 1, &got, GASPI_BLOCK));
  IS(id, got);
  OK(gaspi_notify_reset(segment, id, &v));
  return v;
}

#endif
