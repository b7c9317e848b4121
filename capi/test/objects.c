/* Objects with names, and stale reductions. */
#include "check.h"
#include "gaspigo.h"

#define DID(call) do { int rc_ = (call); if (rc_) FAIL("%s: %d: %s", #call, rc_, gaspigo_error()); } while (0)

enum { N = 5000 };

static void store(void) {
  gaspigo_store_t s;
  DID(gaspigo_store_open(GASPI_GROUP_ALL, 8 << 20, 3, GASPI_BLOCK, &s));
  static int data[N], got[N];
  char id[16], names[8][16];
  const char *ids[8];
  for (int i = 0; i < N; i++) data[i] = rank * N + i;
  snprintf(id, sizeof id, "of %d", rank);
  DID(gaspigo_put(s, id, data, sizeof data, GASPI_BLOCK));
  HOLDS(gaspigo_put(s, id, data, sizeof data - 4, GASPI_BLOCK) != 0); /* the name is taken */
  HOLDS(strstr(gaspigo_error(), id) != NULL);
  for (int r = 0; r < num; r++) {
    gaspi_size_t bytes;
    snprintf(names[r], sizeof names[r], "of %d", r);
    ids[r] = names[r];
    DID(gaspigo_get(s, names[r], got, sizeof got, &bytes, GASPI_BLOCK));
    IS(sizeof data, bytes);
    for (int i = 0; i < N; i++) IS(r * N + i, got[i]);
    HOLDS(gaspigo_get(s, names[r], got, 10, &bytes, GASPI_BLOCK) != 0);
    gaspigo_view_t view;
    const void *at;
    DID(gaspigo_view(s, names[r], GASPI_BLOCK, &view, &at, &bytes));
    IS(sizeof data, bytes);
    IS(r * N + 17, ((const int *)at)[17]);
    DID(gaspigo_view_release(view));
    HOLDS(gaspigo_view_release(view) != 0);
  }
  gaspi_size_t bytes, which;
  HOLDS(gaspigo_get(s, "never", got, sizeof got, &bytes, 20) == GASPI_TIMEOUT);
  HOLDS(gaspigo_get(s, "never", got, sizeof got, &bytes, GASPI_TEST) == GASPI_TIMEOUT);
  DID(gaspigo_store_wait(s, ids, num, GASPI_BLOCK, &which));
  HOLDS(which < num);
  unsigned char used[8];
  if (rank == 0) {
    DID(gaspigo_store_reduce(s, "sum", ids, num, 0, GASPIGO_INT32, GASPIGO_SUM, GASPI_BLOCK, used));
    for (int r = 0; r < num; r++) IS(1, used[r]);
  }
  DID(gaspigo_get(s, "sum", got, sizeof got, &bytes, GASPI_BLOCK));
  for (int i = 0; i < N; i++) IS(num * i + N * (num * (num - 1) / 2), got[i]);
  barrier();
  DID(gaspigo_delete(s, id, GASPI_BLOCK));
  DID(gaspigo_store_close(s, GASPI_BLOCK));
  HOLDS(gaspigo_store_close(s, GASPI_BLOCK) != 0);
}

static void stale(void) {
  gaspigo_reduction_t r;
  if (num & (num - 1)) return; /* their number is a power of two */
  DID(gaspigo_reduction_new(GASPI_GROUP_ALL, 3, GASPIGO_FLOAT64, GASPIGO_SUM, 0, 5, GASPI_BLOCK, &r));
  for (int round = 1; round <= 20; round++) {
    double mine[3] = { round, rank, 1 }, out[3];
    long oldest, newest, clock;
    int rc;
    while ((rc = gaspigo_reduction_run(r, mine, out, round % 2 ? GASPI_BLOCK : GASPI_TEST, &oldest, &newest)) == GASPI_TIMEOUT) gaspi_delay();
    DID(rc);
    HOLDS(out[0] == num * round && out[1] == num * (num - 1) / 2 && out[2] == num); /* with slack 0 it is an allreduce */
    IS(round, newest);
    IS(round, oldest);
    DID(gaspigo_reduction_clock(r, &clock));
    IS(round, clock);
  }
  double one[3] = { 0 };
  long clock;
  HOLDS(gaspigo_reduction_run(r, one, NULL, GASPI_BLOCK, NULL, NULL) == GASPI_ERR_NULLPTR && strstr(gaspigo_error(), "out is NULL"));
  HOLDS(gaspigo_reduction_run(r, NULL, one, GASPI_BLOCK, NULL, NULL) == GASPI_ERR_NULLPTR && strstr(gaspigo_error(), "mine is NULL"));
  DID(gaspigo_reduction_clock(r, &clock));
  IS(20, clock); /* what was refused is no round */
  HOLDS(gaspigo_reduction_new(GASPI_GROUP_ALL, 3, GASPIGO_COMPLEX64, GASPIGO_SUM, 0, 6, GASPI_BLOCK, &r) != 0);
  HOLDS(gaspigo_reduction_new(GASPI_GROUP_ALL, 3, GASPIGO_FLOAT32, GASPIGO_XOR, 0, 6, GASPI_BLOCK, &r) != 0);
  DID(gaspigo_reduction_close(r, GASPI_BLOCK));
}

/* Every operation, of the same contributions: 2 + rank, with slack 0. */
static void operations(void) {
  for (int op = GASPIGO_SUM; op <= GASPIGO_XOR; op++) {
    gaspigo_reduction_t r;
    unsigned int mine = 2 + rank, out = 0, want = 2;
    for (unsigned int x = 3; x < 2u + num; x++) {
      const unsigned int all[] = { want + x, want * x, want < x ? want : x, want > x ? want : x, want & x, want | x, want ^ x };
      want = all[op];
    }
    DID(gaspigo_reduction_new(GASPI_GROUP_ALL, 1, GASPIGO_UINT32, op, 0, 7, GASPI_BLOCK, &r));
    for (int round = 0; round < 3; round++) {
      DID(gaspigo_reduction_run(r, &mine, &out, GASPI_BLOCK, NULL, NULL));
      IS(want, out);
    }
    DID(gaspigo_reduction_close(r, GASPI_BLOCK));
  }
}

int main(void) {
  start();
  store();
  stale();
  operations();
  finish();
  return 0;
}
