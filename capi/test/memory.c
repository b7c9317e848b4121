/* Memory that calls of gaspigo.h cannot have: NULL, and more elements than there are addresses. They are errors that say
 * so, but for memory of teams at this rank alone and without a message to the others. */
#include "check.h"
#include "gaspigo.h"

enum { MOST = 64 };

/* More elements than there is memory for: as many as a size counts, and numbers whose bytes, or whose bytes for all
 * members, wrap around. */
static const gaspi_size_t huge[] = { ~0ul, ~0ul / 2 + 1, 1ul << 62, 1ul << 61, ~0ul - 6 };

static void refused(const char *what, gaspi_size_t n, int want, const char *word, int rc) {
  if (rc != want || !strstr(gaspigo_error(), word)) FAIL("%s of %lu: %d: %s, want %d and \"%s\"", what, n, rc, gaspigo_error(), want, word);
}

/* A task of every call, with count elements, or with them for one member, and no memory where in is NULL. */
static int does(gaspigo_team_t team, int call, gaspi_size_t count, const double *in, double *out) {
  gaspi_size_t counts[MOST] = { 0 };
  for (int r = 0; r < num; r++) counts[r] = count;
  gaspigo_task_t x = { .call = call, .type = GASPIGO_FLOAT64, .dst = out, .src = in, .count = count, .receives = counts, .sends = counts };
  gaspigo_request_t request;
  int rc = gaspigo_do(team, &x, GASPI_BLOCK);
  IS(rc, gaspigo_start(team, &x, GASPI_BLOCK, &request));
  return rc;
}

static void tasks(gaspigo_team_t team) {
  double in[2], out[2];
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
    for (int call = GASPIGO_ALLREDUCE; call <= GASPIGO_ALLTOALLV; call++) {
      refused("a call", huge[i], GASPI_ERR_INV_REM_OFF, "out of range", does(team, call, huge[i], in, out));
      if (call < GASPIGO_ALLGATHERV) refused("a call in place", huge[i], GASPI_ERR_INV_REM_OFF, "out of range", does(team, call, huge[i], out, out));
    }
  const int in_place[] = { GASPIGO_ALLREDUCE, GASPIGO_REDUCE, GASPIGO_BROADCAST, GASPIGO_SCAN, GASPIGO_EXSCAN };
  for (size_t i = 0; i < sizeof in_place / sizeof *in_place; i++)
    refused("a call without memory", 2, GASPI_ERR_NULLPTR, "dst is NULL", does(team, in_place[i], 2, NULL, NULL));
}

/* All members allocate. */
static void allocations(gaspigo_team_t team) {
  void *p;
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
    if (gaspigo_alloc(team, huge[i], GASPI_BLOCK, &p) == GASPI_SUCCESS || strstr(gaspigo_error(), " 0 elements"))
      FAIL("gaspigo_alloc of %lu: %s", huge[i], gaspigo_error());
}

static void objects(gaspigo_store_t store) {
  char mem[8] = { 0 }, id[16];
  const char *ids[1] = { id };
  gaspi_size_t n;
  snprintf(id, sizeof id, "of %d", rank);
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
    if (huge[i] > 1ul << 62) refused("gaspigo_put", huge[i], GASPI_ERR_INV_REM_OFF, "out of range", gaspigo_put(store, id, mem, huge[i], GASPI_BLOCK));
    refused("gaspigo_store_wait", huge[i], GASPI_ERR_INV_REM_OFF, "out of range", gaspigo_store_wait(store, ids, huge[i], GASPI_BLOCK, &n));
    refused("gaspigo_store_reduce", huge[i], GASPI_ERR_INV_REM_OFF, "out of range",
            gaspigo_store_reduce(store, "sum", ids, huge[i], 0, GASPIGO_INT8, GASPIGO_SUM, GASPI_BLOCK, NULL));
  }
  refused("gaspigo_put", 8, GASPI_ERR_NULLPTR, "data is NULL", gaspigo_put(store, id, NULL, 8, GASPI_BLOCK));
  IS(0, gaspigo_put(store, id, mem, sizeof mem, GASPI_BLOCK));
  refused("gaspigo_get", ~0ul, GASPI_ERR_INV_REM_OFF, "out of range", gaspigo_get(store, id, mem, ~0ul, &n, GASPI_BLOCK));
  refused("gaspigo_get", 8, GASPI_ERR_INV_SIZE, "room for 0", gaspigo_get(store, id, NULL, 8, &n, GASPI_BLOCK));
  IS(0, gaspigo_get(store, id, mem, sizeof mem, &n, GASPI_BLOCK));
  IS(sizeof mem, n);
}

static void segments(void) {
  static char mem[64];
  for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
    if (huge[i] <= 1ul << 62) continue;
    RETURNS(GASPI_ERR_INV_SEGSIZE, gaspi_segment_use(1, mem, huge[i], GASPI_GROUP_ALL, GASPI_BLOCK, 0));
    RETURNS(GASPI_ERR_INV_SEGSIZE, gaspi_segment_bind(1, mem, huge[i], 0));
  }
  OK(gaspi_segment_bind(1, mem, sizeof mem, 0));
}

int main(void) {
  gaspigo_team_t team;
  gaspigo_store_t store;
  start();
  IS(0, gaspigo_team_new(GASPI_GROUP_ALL, 0, GASPI_BLOCK, &team));
  IS(0, gaspigo_store_open(GASPI_GROUP_ALL, 1 << 16, 0, GASPI_BLOCK, &store));
  allocations(team);
  if (rank == num - 1) {
    tasks(team);
    objects(store);
    segments();
  }
  if (gaspigo_barrier(team, GASPI_BLOCK)) FAIL("gaspigo_barrier: %s", gaspigo_error());
  finish();
  return 0;
}
