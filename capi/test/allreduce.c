/* Reductions of every type and operation, by a function, and in loops over GASPI_TEST. */
#include "check.h"

#define TEST(type, kind) do { \
  type s[255], r[255]; \
  for (int op = GASPI_OP_MIN; op <= GASPI_OP_SUM; op++) \
    for (int n = 1; n <= 255; n += 127) { \
      for (int i = 0; i < n; i++) s[i] = (type)(rank + i); \
      OK(gaspi_allreduce(s, r, (gaspi_number_t)n, (gaspi_operation_t)op, kind, GASPI_GROUP_ALL, GASPI_BLOCK)); \
      for (int i = 0; i < n; i++) \
        if (r[i] != (type)(op == GASPI_OP_MIN ? i : op == GASPI_OP_MAX ? num - 1 + i : num * i + num * (num - 1) / 2)) FAIL(#type " %d of op %d", i, op); \
      for (int i = 0; i < n; i++) IS(rank + i, s[i]); \
    } } while (0)

typedef struct { long key; char name[16]; } item;

/* The item with the largest key. */
static gaspi_return_t largest(const gaspi_pointer_t a, const gaspi_pointer_t b, const gaspi_pointer_t result, const gaspi_reduce_state_t state,
                              const gaspi_number_t n, const gaspi_size_t size, const gaspi_timeout_t timeout) {
  const item *x = a, *y = b;
  item *r = result;
  IS(sizeof(item), size);
  HOLDS(timeout == GASPI_BLOCK || timeout == GASPI_TEST);
  ++*(int *)state;
  for (gaspi_number_t i = 0; i < n; i++) r[i] = x[i].key > y[i].key ? x[i] : y[i];
  return GASPI_SUCCESS;
}

static gaspi_return_t fails(const gaspi_pointer_t a, const gaspi_pointer_t b, const gaspi_pointer_t result, const gaspi_reduce_state_t state,
                            const gaspi_number_t n, const gaspi_size_t size, const gaspi_timeout_t timeout) {
  (void)a, (void)b, (void)state, (void)timeout;
  memset(result, 0, n * size);
  return GASPI_ERROR;
}

int main(void) {
  start();
  TEST(int, GASPI_TYPE_INT);
  TEST(unsigned, GASPI_TYPE_UINT);
  TEST(float, GASPI_TYPE_FLOAT);
  TEST(double, GASPI_TYPE_DOUBLE);
  TEST(long, GASPI_TYPE_LONG);
  TEST(unsigned long, GASPI_TYPE_ULONG);
  long in_place[4] = { 1, rank, -1, 5 };
  OK(gaspi_allreduce(in_place, in_place, 4, GASPI_OP_SUM, GASPI_TYPE_LONG, GASPI_GROUP_ALL, GASPI_BLOCK));
  IS(num, in_place[0]);
  IS(-(long)num, in_place[2]);
  item s[3], r[3];
  int calls = 0;
  for (int t = 0; t < 2; t++) {
    for (int i = 0; i < 3; i++) {
      s[i].key = (rank * 7 + i * 3) % num;
      snprintf(s[i].name, sizeof s[i].name, "of %d", rank);
    }
    gaspi_return_t rc;
    while ((rc = gaspi_allreduce_user(s, r, 3, sizeof(item), largest, &calls, GASPI_GROUP_ALL, t ? GASPI_TEST : GASPI_BLOCK)) == GASPI_TIMEOUT) gaspi_delay();
    OK(rc);
    for (int i = 0; i < 3; i++) HOLDS(r[i].key < num && strncmp(r[i].name, "of ", 3) == 0);
  }
  RETURNS(GASPI_ERR_INV_SIZE, gaspi_allreduce_user(s, r, 255, 9, largest, NULL, GASPI_GROUP_ALL, GASPI_BLOCK));
  RETURNS(GASPI_ERR_NULLPTR, gaspi_allreduce_user(s, r, 3, 8, NULL, NULL, GASPI_GROUP_ALL, GASPI_BLOCK));
  if (num == 2 && rank == 0) HOLDS(calls > 0);
  gaspi_return_t failed = gaspi_allreduce_user(s, r, 1, 8, fails, NULL, GASPI_GROUP_ALL, GASPI_BLOCK);
  HOLDS(rank != 0 || num == 1 || failed == GASPI_ERROR);
  /* one kind at a time */
  barrier();
  if (rank == 0 && num > 1) {
    double x = 1, y;
    RETURNS(GASPI_TIMEOUT, gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST));
    RETURNS(GASPI_ERR_ACTIVE_COLL, gaspi_allreduce(&x, &y, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, GASPI_TEST));
  } else {
    usleep(100000);
  }
  barrier();
  for (int i = 0; i < 200; i++) {
    double x = rank + i, y;
    gaspi_return_t rc;
    while ((rc = gaspi_allreduce(&x, &y, 1, GASPI_OP_MAX, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, i % 3 ? GASPI_TEST : 1)) == GASPI_TIMEOUT) gaspi_delay();
    OK(rc);
    HOLDS(y == num - 1 + i);
    while ((rc = gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST)) == GASPI_TIMEOUT) gaspi_delay();
    OK(rc);
  }
  finish();
  return 0;
}
