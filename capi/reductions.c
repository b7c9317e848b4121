//go:build capi && cgo && linux

/* Collectives of groups. A barrier whose signals lie in memory of this host is carried out here until it
 * would sleep. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "library.h"
#include "_cgo_export.h"

enum { NONE, BARRIER, ALLREDUCE, ALLREDUCE_USER };

/* Whether barriers of a group are carried out here: not known before the first one has ended. */
enum { UNKNOWN, HERE, IN_GO };

/* Collectives of a group. Threads take turns over it. */
static struct {
  pthread_mutex_t turn;
  int unfinished; /* the collective that has ended with GASPI_TIMEOUT and is to be finished by the same call */
  int barriers;
  ggo_barrier_words words;
} groups[GGO_IDS] = { [0 ... GGO_IDS - 1] = { .turn = PTHREAD_MUTEX_INITIALIZER } };

void ggo_collectives_forget(gaspi_group_t g) {
  pthread_mutex_lock(&groups[g].turn);
  groups[g].unfinished = NONE;
  groups[g].barriers = UNKNOWN;
  pthread_mutex_unlock(&groups[g].turn);
}

/* Locks a mutex within t milliseconds. */
static int lock(pthread_mutex_t *m, gaspi_timeout_t t) {
  if (pthread_mutex_trylock(m) == 0) return 1;
  uint64_t ms = ggo_ms(t);
  if (ms == 0) return 0;
  if (ms > UINT32_MAX) return pthread_mutex_lock(m) == 0;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  uint64_t ns = (uint64_t)end.tv_nsec + ms % 1000 * 1000000;
  end.tv_sec += (time_t)(ms / 1000 + ns / 1000000000);
  end.tv_nsec = (long)(ns % 1000000000);
  return pthread_mutex_timedlock(m, &end) == 0;
}

/* Begins a collective of a group, or goes on with one of its kind. */
static gaspi_return_t enter(gaspi_group_t g, int kind, gaspi_timeout_t t) {
  if (!lock(&groups[g].turn, t)) return GASPI_TIMEOUT;
  int now = groups[g].unfinished;
  if (now == NONE || now == kind) return GASPI_SUCCESS;
  pthread_mutex_unlock(&groups[g].turn);
  return GASPI_ERR_ACTIVE_COLL;
}

static gaspi_return_t leave(gaspi_group_t g, int kind, int rc, gaspi_timeout_t t) {
  groups[g].unfinished = rc == GASPI_TIMEOUT ? kind : NONE;
  pthread_mutex_unlock(&groups[g].turn);
  return ggo_result(rc, t);
}

static uint32_t after(uint32_t number) { return number + 1 ? number + 1 : 1; }

static int reached(const ggo_barrier_words *w, uint32_t number) {
  for (uint32_t i = 0; i < w->count; i++)
    if ((int32_t)(__atomic_load_n(&w->from[i], __ATOMIC_ACQUIRE) - number) < 0) return 0;
  return 1;
}

static int reachable(const ggo_signal *to) {
  return !__atomic_load_n(&ggo.gone[to->rank], __ATOMIC_RELAXED) && __atomic_load_n(to->live, __ATOMIC_SEQ_CST) == to->generation;
}

/* Carries out a barrier. Returns 0 if Go has to go on with it. */
static int meet(ggo_barrier_words *w, gaspi_timeout_t t) {
  uint32_t number = after(w->number);
  for (uint32_t i = 0; i < w->count; i++)
    if (!reachable(&w->to[i])) return 0;
  for (uint32_t i = 0; i < w->count; i++) ggo_set(w->to[i].word, w->to[i].wake, number);
  for (int looks = ggo_ms(t) ? ggo.place.looks : 1; !reached(w, number); ggo_relax())
    if (--looks <= 0) return 0;
  w->number = number;
  return 1;
}

/* Carries out a barrier by Go. */
static int meet_in_go(gaspi_group_t g, gaspi_timeout_t t) {
  ggo_barrier_words *w = &groups[g].words;
  int here = groups[g].barriers == HERE;
  int rc = GO(ggo_barrier(g, here ? &w->number : NULL, ggo_ms(t)));
  if (rc && rc != GASPI_TIMEOUT) groups[g].barriers = IN_GO; /* which knows how far this one came */
  if (rc) return rc;
  if (here) w->number = after(w->number);
  if (groups[g].barriers == UNKNOWN) groups[g].barriers = GO(ggo_barrier_map(g, w)) ? HERE : IN_GO;
  return GASPI_SUCCESS;
}

WEAK(barrier)
gaspi_return_t pgaspi_barrier(gaspi_group_t g, gaspi_timeout_t t) {
  NEED_INIT();
  gaspi_return_t entered = enter(g, BARRIER, t);
  if (entered) return entered;
  ggo_count(GGO_BARRIERS, 1);
  uint64_t start = ggo_clock();
  int here = groups[g].barriers == HERE && groups[g].unfinished == NONE && ggo_group_there(g) && meet(&groups[g].words, t);
  int rc = here ? GASPI_SUCCESS : meet_in_go(g, t);
  uint64_t ticks = ggo_spent(GGO_TIME_BARRIER, start);
  if (here) {
    ggo_count_done(GGO_DONE_BARRIERS, 1);
    ggo_count_done(GGO_DONE_BARRIER_TIME, ticks);
  }
  return leave(g, BARRIER, rc, t);
}

WEAK(allreduce)
gaspi_return_t pgaspi_allreduce(const gaspi_pointer_t s, gaspi_pointer_t r, gaspi_number_t num, gaspi_operation_t op,
                                gaspi_datatype_t type, gaspi_group_t g, gaspi_timeout_t t) {
  NEED_INIT();
  NEED(s);
  NEED(r);
  if (num > ggo.config.allreduce_elem_max) return GASPI_ERR_INV_NUM;
  if ((unsigned)op > GASPI_OP_SUM || (unsigned)type > GASPI_TYPE_ULONG) return GASPI_ERROR;
  gaspi_return_t entered = enter(g, ALLREDUCE, t);
  if (entered) return entered;
  return leave(g, ALLREDUCE, GO(ggo_allreduce((char *)s, (char *)r, num, (int)op, (int)type, g, ggo_ms(t))), t);
}

gaspi_return_t ggo_call_reduce(gaspi_reduce_operation_t fn, char *a, char *b, char *result, char *state, uint32_t num,
                               uint64_t element_size, uint64_t timeout_ms) {
  return fn(a, b, result, state, num, element_size, timeout_ms);
}

WEAK(allreduce_user)
gaspi_return_t pgaspi_allreduce_user(const gaspi_pointer_t s, gaspi_pointer_t r, gaspi_number_t num, gaspi_size_t element_size,
                                     gaspi_reduce_operation_t fn, gaspi_reduce_state_t state, gaspi_group_t g, gaspi_timeout_t t) {
  NEED_INIT();
  NEED(s);
  NEED(r);
  if (!fn) return GASPI_ERR_NULLPTR;
  if (num > ggo.config.allreduce_elem_max) return GASPI_ERR_INV_NUM;
  if (element_size > 8ul * ggo.config.allreduce_elem_max || num * element_size > 8ul * ggo.config.allreduce_elem_max) return GASPI_ERR_INV_SIZE;
  gaspi_return_t entered = enter(g, ALLREDUCE_USER, t);
  if (entered) return entered;
  return leave(g, ALLREDUCE_USER, GO(ggo_allreduce_user((char *)s, (char *)r, num, element_size, fn, (char *)state, g, ggo_ms(t))), t);
}
