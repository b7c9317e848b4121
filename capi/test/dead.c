/* A rank is killed: writes to it are posted, the wait after them fails, and the state vector says it.
 * The others go on. Started with a launcher that goes on, too. */
#include "check.h"
#include "gaspigo.h"

/* Ranks 0 and 1 tell each other something, after pauses in which the other sleeps. */
static void exchange(void) {
  gaspi_notification_id_t id;
  gaspi_notification_t v;
  if (num < 3 || rank > 1) return;
  for (int i = 0; i < 3; i++) {
    if (i % 2 == rank) {
      usleep(20000);
      OK(gaspi_notify(0, 1 - rank, 2, 1, 0, GASPI_BLOCK));
      OK(gaspi_wait(0, GASPI_BLOCK));
      continue;
    }
    OK(gaspi_notify_waitsome(0, 2, 1, &id, GASPI_BLOCK));
    OK(gaspi_notify_reset(0, id, &v));
    IS(1, v);
  }
  RETURNS(GASPI_TIMEOUT, gaspi_notify_waitsome(0, 2, 1, &id, 20));
}

int main(void) {
  start();
  segment(0, 4096);
  gaspi_state_t state[64];
  gaspi_number_t n;
  gaspi_rank_t last = (gaspi_rank_t)(num - 1);
  gaspigo_team_t team;
  IS(0, gaspigo_team_new(GASPI_GROUP_ALL, 0, GASPI_BLOCK, &team));
  OK(gaspi_state_vec_get(state));
  for (int r = 0; r < num; r++) IS(GASPI_STATE_HEALTHY, state[r]);
  OK(gaspi_write(0, 0, last, 0, 8, 8, 0, GASPI_BLOCK));
  OK(gaspi_wait(0, GASPI_BLOCK));
  barrier();
  if (rank == last) pause();
  if (rank == 0) OK(gaspi_proc_kill(last, GASPI_BLOCK));
  int failed = 0;
  while (!failed) { /* until the news are here */
    OK(gaspi_write(0, 0, last, 0, 8, 8, 0, GASPI_BLOCK));
    OK(gaspi_notify(0, last, 1, 1, 0, GASPI_BLOCK));
    gaspi_return_t rc = gaspi_wait(0, GASPI_BLOCK);
    if (rc != GASPI_SUCCESS) {
      IS(GASPI_ERROR, rc);
      failed = 1;
    }
    OK(gaspi_queue_size(0, &n));
    IS(0, n);
    usleep(1000);
  }
  OK(gaspi_state_vec_get(state));
  for (int r = 0; r < num; r++) IS(r == last ? GASPI_STATE_CORRUPT : GASPI_STATE_HEALTHY, state[r]);
  exchange();
  OK(gaspi_write(0, 0, last, 0, 8, 8, 1, GASPI_BLOCK));
  OK(gaspi_queue_size(1, &n));
  IS(1, n);
  RETURNS(GASPI_ERROR, gaspi_wait(1, GASPI_BLOCK));
  OK(gaspi_wait(1, GASPI_BLOCK));
  OK(gaspi_state_vec_get(state));
  for (int r = 0; r < num; r++) IS(r == last ? GASPI_STATE_CORRUPT : GASPI_STATE_HEALTHY, state[r]);
  exchange();
  IS(GASPI_ERROR, gaspigo_broadcast(team, last, state, 4, GASPIGO_UINT8, GASPI_BLOCK)); /* which only waits for it */
  OK(gaspi_state_vec_get(state));
  HOLDS(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK) == GASPI_ERROR);
  HOLDS(gaspi_proc_ping(last, 1000) != GASPI_SUCCESS);
  gaspi_group_t g;
  OK(gaspi_group_create(&g));
  for (gaspi_rank_t r = 0; r < last; r++) OK(gaspi_group_add(g, r));
  OK(gaspi_group_commit(g, GASPI_BLOCK));
  OK(gaspi_barrier(g, GASPI_BLOCK));
  OK(gaspi_proc_term(GASPI_BLOCK));
  return 0;
}
