/* Groups: of all ranks, of even ones, of one. */
#include "check.h"

static gaspi_group_t asked;

static void getters(void) {
  gaspi_number_t n;
  gaspi_rank_t ranks[64];
  gaspi_state_t states[64];
  OK(gaspi_state_vec_get(states));
  OK(gaspi_group_num(&n));
  OK(gaspi_group_size(asked, &n));
  OK(gaspi_group_ranks(asked, ranks));
}

int main(void) {
  start();
  gaspi_group_t g, one;
  gaspi_number_t n;
  gaspi_rank_t ranks[64];
  OK(gaspi_group_num(&n));
  IS(1, n);
  OK(gaspi_group_size(GASPI_GROUP_ALL, &n));
  IS(num, n);
  OK(gaspi_group_ranks(GASPI_GROUP_ALL, ranks));
  for (int r = 0; r < num; r++) IS(r, ranks[r]);
  RETURNS(GASPI_ERR_INV_GROUP, gaspi_group_ranks(7, ranks));
  OK(gaspi_group_commit(GASPI_GROUP_ALL, GASPI_BLOCK));
  for (int round = 0; round < 5; round++) {
    OK(gaspi_group_create(&g));
    HOLDS(g != GASPI_GROUP_ALL);
    OK(gaspi_group_size(g, &n));
    IS(0, n);
    HOLDS(gaspi_barrier(g, GASPI_BLOCK) != GASPI_SUCCESS); /* not committed */
    for (int r = num - 1; r >= 0; r--)
      if (r % 2 == rank % 2) OK(gaspi_group_add(g, (gaspi_rank_t)r));
    RETURNS(GASPI_ERR_INV_RANK, gaspi_group_add(g, rank));
    RETURNS(GASPI_ERR_INV_RANK, gaspi_group_add(g, num));
    OK(gaspi_group_commit(g, GASPI_BLOCK));
    OK(gaspi_group_size(g, &n));
    IS((num + 1 - rank % 2) / 2, n);
    OK(gaspi_group_ranks(g, ranks));
    for (unsigned i = 0; i < n; i++) IS(2 * i + rank % 2, ranks[i]);
    asked = g;
    stays_in_c(getters);
    OK(gaspi_barrier(g, GASPI_BLOCK));
    int one_each = 1, sum;
    OK(gaspi_allreduce(&one_each, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, g, GASPI_BLOCK));
    IS(n, sum);
    OK(gaspi_group_num(&n));
    IS(2, n);
    OK(gaspi_segment_create(0, 64, g, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
    OK(gaspi_barrier(g, GASPI_BLOCK));
    OK(gaspi_segment_delete(0));
    OK(gaspi_group_delete(g));
    RETURNS(GASPI_ERR_INV_GROUP, gaspi_group_delete(g));
    RETURNS(GASPI_ERR_INV_GROUP, gaspi_group_ranks(g, ranks));
  }
  OK(gaspi_group_create(&one));
  IS(g, one); /* the number that is free again, with nothing of its last ranks */
  OK(gaspi_group_add(one, rank));
  ranks[0] = ranks[1] = 65535;
  OK(gaspi_group_ranks(one, ranks));
  IS(rank, ranks[0]);
  IS(65535, ranks[1]);
  OK(gaspi_group_commit(one, GASPI_BLOCK));
  OK(gaspi_group_commit(one, GASPI_TEST));
  OK(gaspi_barrier(one, GASPI_TEST));
  /* all groups, as a loop over time would make them */
  gaspi_return_t rc;
  OK(gaspi_group_create(&g));
  for (gaspi_rank_t r = 0; r < num; r++) OK(gaspi_group_add(g, r));
  while ((rc = gaspi_group_commit(g, GASPI_TEST)) == GASPI_TIMEOUT) usleep(100);
  OK(rc);
  /* barriers that end at once, by looking, in Go, and after a time limit, each rank in an order of its own:
   * nobody ends one that another has not begun */
  enum { MEETINGS = 500 };
  OK(gaspi_segment_create(1, 8, g, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  gaspi_timeout_t limits[] = { GASPI_TEST, 1, GASPI_BLOCK, GASPI_BLOCK };
  gaspi_atomic_value_t begun;
  unsigned draw = rank + 1u;
  for (int i = 1; i <= MEETINGS; i++) {
    draw = draw * 1103515245u + 12345u;
    if (draw >> 16 & 1) usleep(draw >> 20 & 63);
    OK(gaspi_atomic_fetch_add(1, 0, 0, 1, &begun, GASPI_BLOCK));
    while ((rc = gaspi_barrier(g, limits[draw >> 28 & 3])) == GASPI_TIMEOUT) gaspi_delay();
    OK(rc);
    OK(gaspi_atomic_fetch_add(1, 0, 0, 0, &begun, GASPI_BLOCK));
    HOLDS(begun >= (gaspi_atomic_value_t)i * num);
  }
  finish();
  return 0;
}
