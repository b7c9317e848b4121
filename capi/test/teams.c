/* Collective operations of teams: every call and type, requests, plans, and memory of gaspigo_alloc. */
#include "check.h"
#include "gaspigo.h"

#define DID(call) do { int rc_ = (call); if (rc_) FAIL("%s: %d: %s", #call, rc_, gaspigo_error()); } while (0)

enum { N = 5, MOST = 8 };

/* The calls on elements of one type, whose sums are exact. */
#define CALLS(T, kind) static void calls_##T(gaspigo_team_t team, int me, int n) { \
  T a[N * MOST], b[N * MOST]; \
  for (int i = 0; i < N; i++) a[i] = (T)(me + i); \
  DID(gaspigo_allreduce(team, b, a, N, kind, GASPIGO_SUM, GASPI_BLOCK)); \
  for (int i = 0; i < N; i++) HOLDS(b[i] == (T)(n * i + n * (n - 1) / 2)); \
  DID(gaspigo_allreduce(team, a, NULL, N, kind, GASPIGO_MAX, GASPI_BLOCK)); \
  for (int i = 0; i < N; i++) HOLDS(a[i] == (T)(n - 1 + i)); \
  for (int i = 0; i < N; i++) a[i] = (T)(me + i); \
  DID(gaspigo_reduce(team, n - 1, b, a, N, kind, GASPIGO_MIN, GASPI_BLOCK)); \
  if (me == n - 1) for (int i = 0; i < N; i++) HOLDS(b[i] == (T)i); \
  for (int i = 0; i < N; i++) b[i] = (T)(me == 0 ? 7 + i : 0); \
  DID(gaspigo_broadcast(team, 0, b, N, kind, GASPI_BLOCK)); \
  for (int i = 0; i < N; i++) HOLDS(b[i] == (T)(7 + i)); \
  DID(gaspigo_allgather(team, b, a, N, kind, GASPI_BLOCK)); \
  for (int r = 0; r < n; r++) for (int i = 0; i < N; i++) HOLDS(b[r * N + i] == (T)(r + i)); \
  for (int i = 0; i < n * N; i++) a[i] = (T)(me + i); \
  DID(gaspigo_reduce_scatter(team, b, a, N, kind, GASPIGO_SUM, GASPI_BLOCK)); \
  for (int i = 0; i < N; i++) HOLDS(b[i] == (T)(n * (me * N + i) + n * (n - 1) / 2)); \
  for (int r = 0; r < n; r++) for (int i = 0; i < N; i++) a[r * N + i] = (T)(10 * me + r + i); \
  DID(gaspigo_alltoall(team, b, a, N, kind, GASPI_BLOCK)); \
  for (int r = 0; r < n; r++) for (int i = 0; i < N; i++) HOLDS(b[r * N + i] == (T)(10 * r + me + i)); \
  DID(gaspigo_barrier(team, GASPI_BLOCK)); \
}
typedef signed char int8;
typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long uint64;
CALLS(int8, GASPIGO_INT8)
CALLS(short, GASPIGO_INT16)
CALLS(int, GASPIGO_INT32)
CALLS(long, GASPIGO_INT64)
CALLS(uint8, GASPIGO_UINT8)
CALLS(uint16, GASPIGO_UINT16)
CALLS(uint32, GASPIGO_UINT32)
CALLS(uint64, GASPIGO_UINT64)
CALLS(float, GASPIGO_FLOAT32)
CALLS(double, GASPIGO_FLOAT64)

/* Types that C99 has no name for: 1.0 and its sums as bits. */
static void small_floats(gaspigo_team_t team, int n) {
  const uint16 half[] = { 0, 0x3c00, 0x4000, 0x4200, 0x4400 }, brain[] = { 0, 0x3f80, 0x4000, 0x4040, 0x4080 };
  if (n > 4) return;
  uint16 a = half[1], b = brain[1];
  DID(gaspigo_allreduce(team, &a, NULL, 1, GASPIGO_FLOAT16, GASPIGO_SUM, GASPI_BLOCK));
  DID(gaspigo_allreduce(team, &b, NULL, 1, GASPIGO_BFLOAT16, GASPIGO_SUM, GASPI_BLOCK));
  IS(half[n], a);
  IS(brain[n], b);
  float c[2] = { 1, 2 };
  double d[2] = { 1, 2 };
  DID(gaspigo_allreduce(team, c, NULL, 1, GASPIGO_COMPLEX64, GASPIGO_SUM, GASPI_BLOCK));
  DID(gaspigo_allreduce(team, d, NULL, 1, GASPIGO_COMPLEX128, GASPIGO_SUM, GASPI_BLOCK));
  HOLDS(c[0] == n && c[1] == 2 * n && d[0] == n && d[1] == 2 * n);
}

/* Blocks of different lengths: member r has r + 1 elements. */
static void unequal(gaspigo_team_t team, int me, int n) {
  gaspi_size_t counts[MOST], sends[MOST];
  int total = 0, a[64], b[64];
  for (int r = 0; r < n; r++) {
    counts[r] = (gaspi_size_t)(r + 1);
    sends[r] = (gaspi_size_t)(me + 1);
    total += r + 1;
  }
  gaspigo_task_t x = { .call = GASPIGO_ALLGATHERV, .type = GASPIGO_INT32, .dst = b, .src = a, .receives = counts };
  for (int i = 0; i <= me; i++) a[i] = 100 * me + i;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  for (int r = 0, at = 0; r < n; r++)
    for (int i = 0; i <= r; i++) IS(100 * r + i, b[at++]);
  memset(b, 0, sizeof b);
  x.call = GASPIGO_GATHERV;
  x.root = n - 1;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  if (me == n - 1) IS(100 * me + me, b[total - 1]);
  x.call = GASPIGO_SCATTERV;
  for (int i = 0; i < total; i++) a[i] = 1000 + i;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  IS(1000 + me * (me + 1) / 2, b[0]);
  x.call = GASPIGO_REDUCE_SCATTERV;
  x.op = GASPIGO_SUM;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  IS(n * (1000 + me * (me + 1) / 2), b[0]);
  /* member me sends me + 1 elements to each */
  x.call = GASPIGO_ALLTOALLV;
  x.sends = sends;
  for (int i = 0; i < n * (me + 1); i++) a[i] = 100 * me + i / (me + 1);
  int rc;
  while ((rc = gaspigo_do(team, &x, GASPI_TEST)) == GASPI_TIMEOUT) {
  }
  DID(rc);
  for (int r = 0, at = 0; r < n; r++)
    for (int i = 0; i <= r; i++) IS(100 * r + me, b[at++]);
}

/* Calls that have no function of their own. */
static void others(gaspigo_team_t team, int me, int n) {
  long a[MOST], b[MOST];
  gaspigo_task_t x = { .call = GASPIGO_GATHER, .type = GASPIGO_INT64, .dst = b, .src = a, .count = 1 };
  a[0] = me * 3;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  if (me == 0) for (int r = 0; r < n; r++) IS(3 * r, b[r]);
  x.call = GASPIGO_SCATTER;
  for (int r = 0; r < n; r++) a[r] = 5 * r;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  IS(5 * me, b[0]);
  x.call = GASPIGO_SCAN;
  b[0] = me + 1;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  IS((me + 1) * (me + 2) / 2, b[0]);
  x.call = GASPIGO_EXSCAN;
  b[0] = me + 1;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  if (me > 0) IS(me * (me + 1) / 2, b[0]);
  unsigned bits = 1u << me;
  DID(gaspigo_allreduce(team, &bits, NULL, 1, GASPIGO_UINT32, GASPIGO_OR, GASPI_BLOCK));
  IS((1u << n) - 1, bits);
}

static void requests(gaspigo_team_t team, int me, int n) {
  enum { LONG = 100000 };
  void *mem;
  DID(gaspigo_alloc(team, LONG * sizeof(double), GASPI_BLOCK, &mem));
  IS(0, (unsigned long)mem % 8);
  double *v = mem, small = me;
  for (int i = 0; i < LONG; i++) v[i] = me + i;
  gaspigo_task_t x = { .call = GASPIGO_ALLREDUCE, .type = GASPIGO_FLOAT64, .op = GASPIGO_SUM, .dst = v, .count = LONG };
  gaspigo_task_t y = { .call = GASPIGO_ALLREDUCE, .type = GASPIGO_FLOAT64, .op = GASPIGO_MAX, .dst = &small, .count = 1 };
  gaspigo_request_t r, s;
  DID(gaspigo_start(team, &x, GASPI_BLOCK, &r));
  DID(gaspigo_start(team, &y, GASPI_BLOCK, &s));
  int done = 0;
  while (!done) DID(gaspigo_test(s, &done));
  HOLDS(small == n - 1);
  int rc;
  while ((rc = gaspigo_join(r, 1)) == GASPI_TIMEOUT) {
  }
  DID(rc);
  DID(gaspigo_wait(r, GASPI_BLOCK));
  for (int i = 0; i < LONG; i++) HOLDS(v[i] == (double)n * i + n * (n - 1) / 2);
  DID(gaspigo_request_free(r));
  DID(gaspigo_request_free(s));
  HOLDS(gaspigo_request_free(s) != 0 && strlen(gaspigo_error()) > 0);
  gaspigo_plan_t plan;
  DID(gaspigo_plan_new(team, &x, GASPI_BLOCK, &plan));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < LONG; i++) v[i] = 1;
    if (round < 2) {
      while ((rc = gaspigo_plan_run(plan, round ? GASPI_TEST : GASPI_BLOCK)) == GASPI_TIMEOUT) {
      }
      DID(rc);
    } else {
      DID(gaspigo_plan_start(plan, &r));
      DID(gaspigo_wait(r, GASPI_BLOCK));
      DID(gaspigo_request_free(r));
    }
    HOLDS(v[0] == n && v[LONG - 1] == n);
  }
  if (me == 0 && n > 1) { /* the others have not begun the run */
    DID(gaspigo_plan_start(plan, &r));
    IS(GASPI_ERR_ACTIVE_COLL, gaspigo_plan_close(plan));
  }
  barrier();
  if (me != 0 || n == 1) DID(gaspigo_plan_start(plan, &r));
  DID(gaspigo_wait(r, GASPI_BLOCK));
  DID(gaspigo_request_free(r));
  DID(gaspigo_plan_close(plan));
  HOLDS(gaspigo_plan_close(plan) != 0);
  x.algorithm = "ring";
  for (int i = 0; i < LONG; i++) v[i] = 2;
  DID(gaspigo_do(team, &x, GASPI_BLOCK));
  HOLDS(v[7] == 2 * n);
  DID(gaspigo_release(team, mem, GASPI_BLOCK));
  HOLDS(gaspigo_release(team, mem, GASPI_BLOCK) != 0);
}

static void wrong(gaspigo_team_t team) {
  int v = 0, done;
  HOLDS(gaspigo_allreduce(team, &v, NULL, 1, 99, GASPIGO_SUM, GASPI_BLOCK) != 0);
  HOLDS(strstr(gaspigo_error(), "99") != NULL);
  HOLDS(gaspigo_allreduce(team, &v, NULL, 1, GASPIGO_INT32, 99, GASPI_BLOCK) != 0);
  HOLDS(gaspigo_allreduce(team + 1000, &v, NULL, 1, GASPIGO_INT32, 0, GASPI_BLOCK) != 0);
  HOLDS(gaspigo_test(team, &done) != 0); /* a handle of another kind */
  HOLDS(gaspigo_do(team, NULL, GASPI_BLOCK) == GASPI_ERR_NULLPTR);
  gaspigo_task_t x = { .call = GASPIGO_ALLTOALLV };
  HOLDS(gaspigo_do(team, &x, GASPI_BLOCK) != 0);
  x.call = 50;
  HOLDS(gaspigo_do(team, &x, GASPI_BLOCK) != 0);
}

static void all(gaspigo_team_t team) {
  int me, n;
  DID(gaspigo_team_rank(team, &me));
  DID(gaspigo_team_size(team, &n));
  calls_int8(team, me, n);
  calls_short(team, me, n);
  calls_int(team, me, n);
  calls_long(team, me, n);
  calls_uint8(team, me, n);
  calls_uint16(team, me, n);
  calls_uint32(team, me, n);
  calls_uint64(team, me, n);
  calls_float(team, me, n);
  calls_double(team, me, n);
  small_floats(team, n);
  unequal(team, me, n);
  others(team, me, n);
  requests(team, me, n);
  wrong(team);
}

static gaspigo_team_t asked;

static void getters(void) {
  int me, n;
  gaspi_rank_t ranks[64];
  DID(gaspigo_team_rank(asked, &me));
  DID(gaspigo_team_size(asked, &n));
  DID(gaspigo_team_ranks(asked, ranks));
  IS(rank, ranks[me]);
  HOLDS(me < n);
}

/* More teams than the library remembers for getters: each knows its own place, and one that is closed is gone. */
static void many(gaspigo_team_t team) {
  for (int i = 0; i < 260; i++) {
    gaspigo_team_t split;
    int me, n;
    gaspi_rank_t ranks[64];
    int alone = i % 2, mine = alone ? 0 : num - 1 - rank;
    DID(gaspigo_team_split(team, alone ? rank : 0, -rank, GASPI_BLOCK, &split));
    DID(gaspigo_team_rank(split, &me));
    DID(gaspigo_team_size(split, &n));
    DID(gaspigo_team_ranks(split, ranks));
    IS(mine, me);
    IS(alone ? 1 : num, n);
    IS(rank, ranks[me]);
    DID(gaspigo_team_rank(team, &me));
    DID(gaspigo_team_size(team, &n));
    DID(gaspigo_team_ranks(team, ranks));
    IS(rank, me);
    IS(num, n);
    for (int r = 0; r < num; r++) IS(r, ranks[r]);
    DID(gaspigo_team_close(split));
    HOLDS(gaspigo_team_rank(split, &me) != 0 && strstr(gaspigo_error(), "closed"));
    HOLDS(gaspigo_team_size(split, &me) != 0 && gaspigo_team_ranks(split, ranks) != 0);
  }
}

int main(void) {
  gaspigo_team_t team, split;
  HOLDS(gaspigo_team_new(GASPI_GROUP_ALL, 0, GASPI_BLOCK, &team) == GASPI_ERR_NOINIT);
  start();
  DID(gaspigo_team_new(GASPI_GROUP_ALL, 0, GASPI_BLOCK, &team));
  gaspi_rank_t ranks[64];
  DID(gaspigo_team_ranks(team, ranks));
  IS(num - 1, ranks[num - 1]);
  asked = team;
  stays_in_c(getters);
  all(team);
  DID(gaspigo_team_split(team, rank % 2, -rank, GASPI_BLOCK, &split));
  int n;
  DID(gaspigo_team_size(split, &n));
  IS((num + 1 - rank % 2) / 2, n);
  all(split);
  asked = split;
  stays_in_c(getters);
  DID(gaspigo_team_close(split));
  many(team);
  DID(gaspigo_team_split(team, -1, 0, GASPI_BLOCK, &split));
  IS(0, split);
  unsigned flags;
  DID(gaspigo_team_agree(team, 0xff & ~(1u << rank), GASPI_BLOCK, &flags));
  IS(0xff & ~((1u << num) - 1), flags);
  if (rank == 0) DID(gaspigo_team_revoke(team, "that is enough"));
  int rc = 0;
  while (rc == 0) rc = gaspigo_barrier(team, GASPI_BLOCK);
  HOLDS(rank == 0 || strstr(gaspigo_error(), "that is enough") || strlen(gaspigo_error()) > 0);
  DID(gaspigo_team_shrink(team, GASPI_BLOCK, &split));
  DID(gaspigo_barrier(split, GASPI_BLOCK));
  asked = split;
  stays_in_c(getters);
  DID(gaspigo_team_close(split));
  DID(gaspigo_team_close(team));
  HOLDS(gaspigo_team_close(team) != 0);
  finish();
  return 0;
}
