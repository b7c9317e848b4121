//go:build capi && cgo && linux

/* The functions of gaspigo.h: checks, and then Go. */
#include <stdio.h>

#include "library.h"
#include "_cgo_export.h"

static __thread char text[1024];

#define MOST_WAITED (UINT64_C(1) << 40) /* milliseconds, thirty years */

void ggo_set_error(const char *new) { snprintf(text, sizeof text, "%s", new); }

const char *gaspigo_error(void) { return text; }

static __thread uint64_t waited;

int gaspigo_waited(gaspi_timeout_t ms) {
  waited = ms < MOST_WAITED ? ms : MOST_WAITED;
  return GASPI_SUCCESS;
}

uint64_t ggo_take_waited(void) {
  uint64_t ms = waited;
  waited = 0;
  return ms;
}

static int refuse(int rc, const char *why) {
  ggo_set_error(why);
  return rc;
}

#define INSIDE() do { if (!ggo_inside()) return refuse(GASPI_ERR_NOINIT, "gaspi_proc_init comes first"); } while (0)
#define GIVEN(p) do { if (!(p)) return refuse(GASPI_ERR_NULLPTR, #p " is NULL"); } while (0)

/* Notes the team that a call with that result has made, for getters. */
static int made(int rc, const gaspigo_team_t *team) {
  if (rc == GASPI_SUCCESS) ggo_team_made(*team);
  return rc;
}

int gaspigo_team_new(gaspi_group_t group, unsigned int tag, gaspi_timeout_t timeout_ms, gaspigo_team_t *team) {
  INSIDE();
  GIVEN(team);
  return made(GO(ggo_team_new(group, tag, ggo_ms(timeout_ms), team)), team);
}

int gaspigo_team_split(gaspigo_team_t team, int color, int key, gaspi_timeout_t timeout_ms, gaspigo_team_t *split) {
  INSIDE();
  GIVEN(split);
  return made(GO(ggo_team_split(team, color, key, ggo_ms(timeout_ms), split)), split);
}

int gaspigo_team_close(gaspigo_team_t team) {
  INSIDE();
  ggo_team_ended(team);
  return GO(ggo_team_close(team));
}

int gaspigo_team_rank(gaspigo_team_t team, int *rank) {
  INSIDE();
  GIVEN(rank);
  int size;
  return ggo_team_known(team, rank, NULL, NULL) ? GASPI_SUCCESS : GO(ggo_team_place(team, rank, &size));
}

int gaspigo_team_size(gaspigo_team_t team, int *size) {
  INSIDE();
  GIVEN(size);
  int rank;
  return ggo_team_known(team, NULL, size, NULL) ? GASPI_SUCCESS : GO(ggo_team_place(team, &rank, size));
}

int gaspigo_team_ranks(gaspigo_team_t team, gaspi_rank_t *ranks) {
  INSIDE();
  GIVEN(ranks);
  return ggo_team_known(team, NULL, NULL, ranks) ? GASPI_SUCCESS : GO(ggo_team_ranks(team, (char *)ranks));
}

int gaspigo_team_revoke(gaspigo_team_t team, const char *cause) {
  INSIDE();
  GIVEN(cause);
  return GO(ggo_team_revoke(team, (char *)cause));
}

int gaspigo_team_agree(gaspigo_team_t team, unsigned int flags, gaspi_timeout_t timeout_ms, unsigned int *agreed) {
  INSIDE();
  GIVEN(agreed);
  return GO(ggo_team_agree(team, flags, ggo_ms(timeout_ms), agreed));
}

int gaspigo_team_shrink(gaspigo_team_t team, gaspi_timeout_t timeout_ms, gaspigo_team_t *shrunk) {
  INSIDE();
  GIVEN(shrunk);
  return made(GO(ggo_team_shrink(team, ggo_ms(timeout_ms), shrunk)), shrunk);
}

int gaspigo_alloc(gaspigo_team_t team, gaspi_size_t bytes, gaspi_timeout_t timeout_ms, void **mem) {
  INSIDE();
  GIVEN(mem);
  return GO(ggo_alloc(team, bytes, ggo_ms(timeout_ms), (char **)mem));
}

int gaspigo_release(gaspigo_team_t team, void *mem, gaspi_timeout_t timeout_ms) {
  INSIDE();
  GIVEN(mem);
  return GO(ggo_release(team, (char *)mem, ggo_ms(timeout_ms)));
}

int gaspigo_do(gaspigo_team_t team, const gaspigo_task_t *task, gaspi_timeout_t timeout_ms) {
  INSIDE();
  GIVEN(task);
  return GO(ggo_do(team, (gaspigo_task_t *)task, ggo_ms(timeout_ms)));
}

int gaspigo_start(gaspigo_team_t team, const gaspigo_task_t *task, gaspi_timeout_t timeout_ms, gaspigo_request_t *request) {
  INSIDE();
  GIVEN(task);
  GIVEN(request);
  return GO(ggo_start(team, (gaspigo_task_t *)task, ggo_ms(timeout_ms), request));
}

int gaspigo_test(gaspigo_request_t request, int *done) {
  INSIDE();
  GIVEN(done);
  return GO(ggo_test(request, done));
}

int gaspigo_wait(gaspigo_request_t request, gaspi_timeout_t timeout_ms) {
  INSIDE();
  return GO(ggo_wait_request(request, ggo_ms(timeout_ms)));
}

int gaspigo_join(gaspigo_request_t request, gaspi_timeout_t timeout_ms) {
  INSIDE();
  return GO(ggo_join(request, ggo_ms(timeout_ms)));
}

int gaspigo_request_free(gaspigo_request_t request) {
  INSIDE();
  return GO(ggo_free(request));
}

int gaspigo_plan_new(gaspigo_team_t team, const gaspigo_task_t *task, gaspi_timeout_t timeout_ms, gaspigo_plan_t *plan) {
  INSIDE();
  GIVEN(task);
  GIVEN(plan);
  return GO(ggo_plan_new(team, (gaspigo_task_t *)task, ggo_ms(timeout_ms), plan));
}

int gaspigo_plan_run(gaspigo_plan_t plan, gaspi_timeout_t timeout_ms) {
  INSIDE();
  return GO(ggo_plan_run(plan, ggo_ms(timeout_ms)));
}

int gaspigo_plan_start(gaspigo_plan_t plan, gaspigo_request_t *request) {
  INSIDE();
  GIVEN(request);
  return GO(ggo_plan_start(plan, request));
}

int gaspigo_plan_close(gaspigo_plan_t plan) {
  INSIDE();
  return GO(ggo_plan_close(plan));
}

int gaspigo_store_open(gaspi_group_t group, gaspi_size_t capacity, unsigned int tag, gaspi_timeout_t timeout_ms, gaspigo_store_t *store) {
  INSIDE();
  GIVEN(store);
  return GO(ggo_store_open(group, capacity, tag, ggo_ms(timeout_ms), store));
}

int gaspigo_store_close(gaspigo_store_t store, gaspi_timeout_t timeout_ms) {
  INSIDE();
  return GO(ggo_store_close(store, ggo_ms(timeout_ms)));
}

int gaspigo_put(gaspigo_store_t store, const char *id, const void *data, gaspi_size_t bytes, gaspi_timeout_t timeout_ms) {
  INSIDE();
  GIVEN(id);
  return GO(ggo_put(store, (char *)id, (char *)data, bytes, ggo_ms(timeout_ms)));
}

int gaspigo_get(gaspigo_store_t store, const char *id, void *data, gaspi_size_t capacity, gaspi_size_t *bytes, gaspi_timeout_t timeout_ms) {
  INSIDE();
  GIVEN(id);
  GIVEN(bytes);
  return GO(ggo_get(store, (char *)id, (char *)data, capacity, bytes, ggo_ms(timeout_ms)));
}

int gaspigo_view(gaspigo_store_t store, const char *id, gaspi_timeout_t timeout_ms, gaspigo_view_t *view, const void **data, gaspi_size_t *bytes) {
  INSIDE();
  GIVEN(id);
  GIVEN(view);
  GIVEN(data);
  GIVEN(bytes);
  return GO(ggo_view(store, (char *)id, ggo_ms(timeout_ms), view, (char **)data, bytes));
}

int gaspigo_view_release(gaspigo_view_t view) {
  INSIDE();
  return GO(ggo_view_release(view));
}

int gaspigo_delete(gaspigo_store_t store, const char *id, gaspi_timeout_t timeout_ms) {
  INSIDE();
  GIVEN(id);
  return GO(ggo_delete(store, (char *)id, ggo_ms(timeout_ms)));
}

int gaspigo_store_reduce(gaspigo_store_t store, const char *target, const char *const *ids, gaspi_size_t num, gaspi_size_t k, int type, int op, gaspi_timeout_t timeout_ms, unsigned char *used) {
  INSIDE();
  GIVEN(target);
  GIVEN(ids);
  return GO(ggo_store_reduce(store, (char *)target, (char **)ids, num, k, type, op, ggo_ms(timeout_ms), (char *)used));
}

int gaspigo_store_wait(gaspigo_store_t store, const char *const *ids, gaspi_size_t num, gaspi_timeout_t timeout_ms, gaspi_size_t *which) {
  INSIDE();
  GIVEN(ids);
  GIVEN(which);
  return GO(ggo_store_wait(store, (char **)ids, num, ggo_ms(timeout_ms), which));
}

int gaspigo_reduction_new(gaspi_group_t group, gaspi_size_t count, int type, int op, int slack, unsigned int tag, gaspi_timeout_t timeout_ms, gaspigo_reduction_t *reduction) {
  INSIDE();
  GIVEN(reduction);
  return GO(ggo_reduction_new(group, count, type, op, slack, tag, ggo_ms(timeout_ms), reduction));
}

int gaspigo_reduction_run(gaspigo_reduction_t reduction, const void *mine, void *out, gaspi_timeout_t timeout_ms, long *oldest, long *newest) {
  INSIDE();
  return GO(ggo_reduction_run(reduction, (char *)mine, (char *)out, ggo_ms(timeout_ms), oldest, newest));
}

int gaspigo_reduction_clock(gaspigo_reduction_t reduction, long *clock) {
  INSIDE();
  GIVEN(clock);
  return GO(ggo_reduction_clock(reduction, clock));
}

int gaspigo_reduction_close(gaspigo_reduction_t reduction, gaspi_timeout_t timeout_ms) {
  INSIDE();
  return GO(ggo_reduction_close(reduction, ggo_ms(timeout_ms)));
}

int gaspigo_barrier(gaspigo_team_t team, gaspi_timeout_t timeout_ms) {
  gaspigo_task_t x = { .call = GASPIGO_BARRIER };
  return gaspigo_do(team, &x, timeout_ms);
}

int gaspigo_allreduce(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, int op, gaspi_timeout_t timeout_ms) {
  gaspigo_task_t x = { .call = GASPIGO_ALLREDUCE, .dst = dst, .src = src, .count = count, .type = type, .op = op };
  return gaspigo_do(team, &x, timeout_ms);
}

int gaspigo_reduce(gaspigo_team_t team, int root, void *dst, const void *src, gaspi_size_t count, int type, int op, gaspi_timeout_t timeout_ms) {
  gaspigo_task_t x = { .call = GASPIGO_REDUCE, .root = root, .dst = dst, .src = src, .count = count, .type = type, .op = op };
  return gaspigo_do(team, &x, timeout_ms);
}

int gaspigo_broadcast(gaspigo_team_t team, int root, void *mem, gaspi_size_t count, int type, gaspi_timeout_t timeout_ms) {
  gaspigo_task_t x = { .call = GASPIGO_BROADCAST, .root = root, .dst = mem, .count = count, .type = type };
  return gaspigo_do(team, &x, timeout_ms);
}

int gaspigo_allgather(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, gaspi_timeout_t timeout_ms) {
  gaspigo_task_t x = { .call = GASPIGO_ALLGATHER, .dst = dst, .src = src, .count = count, .type = type };
  return gaspigo_do(team, &x, timeout_ms);
}

int gaspigo_reduce_scatter(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, int op, gaspi_timeout_t timeout_ms) {
  gaspigo_task_t x = { .call = GASPIGO_REDUCE_SCATTER, .dst = dst, .src = src, .count = count, .type = type, .op = op };
  return gaspigo_do(team, &x, timeout_ms);
}

int gaspigo_alltoall(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, gaspi_timeout_t timeout_ms) {
  gaspigo_task_t x = { .call = GASPIGO_ALLTOALL, .dst = dst, .src = src, .count = count, .type = type };
  return gaspigo_do(team, &x, timeout_ms);
}
