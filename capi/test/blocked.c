/* No procedure blocks for ever because of a rank that is gone. The last rank stops, a thread of every
 * other one is in each procedure with GASPI_BLOCK, and rank 0 kills the one that stopped; then each
 * procedure is called once more. Started with a launcher that goes on. */
#include "check.h"
#include "gaspigo.h"

#include <sched.h>
#include <stdatomic.h>

enum { MESSAGE = 8, PIDS = 1024, UNUSED = 5 };

/* A group for each collective procedure. */
enum { BARRIER, ALLREDUCE, USER, CREATE, USE, TEAM, GROUPS };
static gaspi_group_t groups[GROUPS], uncommitted;
static gaspigo_team_t team;
static gaspi_rank_t last;
static char used[4096] __attribute__((aligned(4096)));

static gaspi_return_t keep(gaspi_pointer_t a, gaspi_pointer_t b, gaspi_pointer_t result, gaspi_reduce_state_t state,
                           gaspi_number_t n, gaspi_size_t size, gaspi_timeout_t t) {
  (void)b, (void)state, (void)t;
  memcpy(result, a, n * size);
  return GASPI_SUCCESS;
}

static gaspi_return_t waits(void) {
  OK(gaspi_read(0, 0, last, 0, 64, MESSAGE, 1, GASPI_BLOCK));
  return gaspi_wait(1, GASPI_BLOCK);
}

static gaspi_return_t waitsome(void) {
  gaspi_notification_id_t got;
  return gaspi_notify_waitsome(0, UNUSED, 1, &got, GASPI_BLOCK);
}

static gaspi_return_t waitsome_of_many(void) {
  gaspi_notification_id_t got;
  return gaspi_notify_waitsome(0, UNUSED, 100, &got, GASPI_BLOCK);
}

static gaspi_return_t barriers(void) { return gaspi_barrier(groups[BARRIER], GASPI_BLOCK); }

static gaspi_return_t allreduces(void) {
  double in = 1, out;
  return gaspi_allreduce(&in, &out, 1, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, groups[ALLREDUCE], GASPI_BLOCK);
}

static gaspi_return_t user_allreduces(void) {
  double in = 1, out;
  return gaspi_allreduce_user(&in, &out, 1, sizeof in, keep, NULL, groups[USER], GASPI_BLOCK);
}

static gaspi_return_t creates(void) { return gaspi_segment_create(1, 64, groups[CREATE], GASPI_BLOCK, GASPI_MEM_INITIALIZED); }

static gaspi_return_t uses(void) { return gaspi_segment_use(2, used, sizeof used, groups[USE], GASPI_BLOCK, 0); }

static gaspi_return_t commits(void) { return gaspi_group_commit(uncommitted, GASPI_BLOCK); }

static gaspi_return_t adds(void) {
  gaspi_atomic_value_t old;
  return gaspi_atomic_fetch_add(0, 128, last, 1, &old, GASPI_BLOCK);
}

static gaspi_return_t swaps(void) {
  gaspi_atomic_value_t old;
  return gaspi_atomic_compare_swap(0, 128, last, 0, 1, &old, GASPI_BLOCK);
}

static gaspi_return_t sends(void) { return gaspi_passive_send(0, 0, last, MESSAGE, GASPI_BLOCK); }

static gaspi_return_t receives(void) {
  gaspi_rank_t from;
  return gaspi_passive_receive(0, 256, &from, MESSAGE, GASPI_BLOCK);
}

static gaspi_return_t pings(void) { return gaspi_proc_ping(last, GASPI_BLOCK); }
static gaspi_return_t kills(void) { return gaspi_proc_kill(last, GASPI_BLOCK); }
static gaspi_return_t registers(void) { return gaspi_segment_register(0, last, GASPI_BLOCK); }
static gaspi_return_t connects(void) { return gaspi_connect(last, GASPI_BLOCK); }
static gaspi_return_t disconnects(void) { return gaspi_disconnect(last, GASPI_BLOCK); }
static gaspi_return_t team_barriers(void) { return (gaspi_return_t)gaspigo_barrier(team, GASPI_BLOCK); }

static gaspi_return_t team_allreduces(void) {
  double in = 1, out;
  return (gaspi_return_t)gaspigo_allreduce(team, &out, &in, 1, GASPIGO_FLOAT64, GASPIGO_SUM, GASPI_BLOCK);
}

/* Whether a call has to fail: NEVER says only that it ends, and AFTERWARDS that it may end well before the
 * rank is gone, such as a transfer with the memory of a rank that has stopped. */
enum { NEVER, AFTERWARDS, ALWAYS };

static const struct {
  const char *name;
  gaspi_return_t (*call)(void);
  int fails;
  int alone; /* it takes its turn with another one: only after the loss */
} procedures[] = {
  { "gaspi_wait", waits, AFTERWARDS, 0 },
  { "gaspi_notify_waitsome", waitsome, ALWAYS, 0 },
  { "gaspi_notify_waitsome of many", waitsome_of_many, ALWAYS, 0 },
  { "gaspi_barrier", barriers, ALWAYS, 0 },
  { "gaspi_allreduce", allreduces, ALWAYS, 0 },
  { "gaspi_allreduce_user", user_allreduces, ALWAYS, 0 },
  { "gaspi_segment_create", creates, ALWAYS, 0 },
  { "gaspi_segment_use", uses, ALWAYS, 0 },
  { "gaspi_group_commit", commits, ALWAYS, 0 },
  { "gaspi_atomic_fetch_add", adds, AFTERWARDS, 0 },
  { "gaspi_atomic_compare_swap", swaps, AFTERWARDS, 0 },
  { "gaspi_passive_send", sends, ALWAYS, 0 },
  { "gaspi_passive_receive", receives, ALWAYS, 0 },
  { "gaspi_proc_ping", pings, AFTERWARDS, 0 },
  { "gaspi_proc_kill", kills, NEVER, 1 },
  { "gaspi_segment_register", registers, NEVER, 0 },
  { "gaspi_connect", connects, NEVER, 0 },
  { "gaspi_disconnect", disconnects, NEVER, 0 },
  { "gaspigo_barrier", team_barriers, ALWAYS, 0 },
  { "gaspigo_allreduce", team_allreduces, ALWAYS, 1 },
};

enum { PROCEDURES = sizeof procedures / sizeof *procedures };

static _Atomic int begun;

/* Calls procedure i, and fails unless it ends as it has to. */
static void call(int i, int gone) {
  printf("rank %d is in %s\n", rank, procedures[i].name);
  fflush(stdout);
  gaspi_return_t rc = procedures[i].call();
  printf("rank %d: %s returned %d\n", rank, procedures[i].name, (int)rc);
  fflush(stdout);
  HOLDS(rc != GASPI_TIMEOUT);
  if (procedures[i].fails == ALWAYS || (gone && procedures[i].fails == AFTERWARDS)) IS(GASPI_ERROR, rc);
}

static void *call_once(void *which) {
  atomic_fetch_add(&begun, 1);
  call((int)(long)which, 0);
  return NULL;
}

static void make_groups(void) {
  for (int i = 0; i <= GROUPS; i++) {
    gaspi_group_t g;
    OK(gaspi_group_create(&g));
    for (gaspi_rank_t r = 0; r < num; r++) OK(gaspi_group_add(g, r));
    if (i < GROUPS) OK(gaspi_group_commit(g, GASPI_BLOCK));
    *(i < GROUPS ? &groups[i] : &uncommitted) = g;
  }
  IS(0, gaspigo_team_new(groups[TEAM], 0, GASPI_BLOCK, &team));
}

int main(void) {
  start();
  volatile long *pid = (volatile long *)(void *)(segment(0, 4096) + PIDS);
  last = (gaspi_rank_t)(num - 1);
  make_groups();
  OK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == last) {
    *pid = getpid();
    OK(gaspi_write_notify(0, PIDS, 0, 0, PIDS, sizeof *pid, 1, 1, 0, GASPI_BLOCK));
    OK(gaspi_wait(0, GASPI_BLOCK));
    for (;;) raise(SIGSTOP);
  }
  if (rank == 0) await(0, 1);
  pthread_t threads[PROCEDURES];
  int started = 0;
  for (int i = 0; i < PROCEDURES; i++)
    if (!procedures[i].alone) HOLDS(!pthread_create(&threads[started++], NULL, call_once, (void *)(long)i));
  while (atomic_load(&begun) < started) sched_yield();
  usleep(50000); /* they are in their calls, or soon */
  if (rank == 0) HOLDS(!kill((pid_t)*pid, SIGKILL));
  for (int i = 0; i < started; i++) HOLDS(!pthread_join(threads[i], NULL));
  for (int i = 0; i < PROCEDURES; i++) call(i, 1);
  OK(gaspi_proc_term(GASPI_BLOCK));
  return 0;
}
