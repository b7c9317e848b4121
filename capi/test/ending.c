/* gaspi_proc_term leaves calls of other threads blocked; a forked child is no rank; the environment
 * counts as C has it. */
#include "check.h"

static _Atomic int returned;

/* A call that waits for others has returned: it fails in a rank that has not left when another one has. */
static void *ended(int call, gaspi_return_t rc) {
  if (rank == num - 1 || rc != GASPI_ERROR) returned = call;
  return NULL;
}

static void *receives(void *arg) {
  (void)arg;
  gaspi_rank_t from;
  return ended(1, gaspi_passive_receive(0, 0, &from, 8, GASPI_BLOCK));
}

static void *waits(void *arg) {
  (void)arg;
  gaspi_notification_id_t got;
  return ended(2, gaspi_notify_waitsome(0, 5, 1, &got, GASPI_BLOCK));
}

static void child(void) {
  gaspi_rank_t r;
  gaspi_number_t n;
  RETURNS(GASPI_ERR_NOINIT, gaspi_proc_rank(&r));
  RETURNS(GASPI_ERR_NOINIT, gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  RETURNS(GASPI_ERR_NOINIT, gaspi_write(0, 0, 0, 0, 8, 8, 0, GASPI_BLOCK));
  RETURNS(GASPI_ERR_NOINIT, gaspi_proc_term(GASPI_BLOCK));
  RETURNS(GASPI_ERR_NOINIT, gaspi_proc_init(GASPI_BLOCK));
  OK(gaspi_initialized(&n));
  IS(0, n);
  _exit(7);
}

int main(int argc, char **argv) {
  if (argc > 1) { /* variables that were not there when the library was loaded */
    setenv("GASPI_RANK", argv[1], 1);
    setenv("GASPI_SIZE", "2", 1);
    setenv("GASPI_RENDEZVOUS", argv[2], 1);
    setenv("GASPI_KEY", argv[3], 1);
  }
  gaspi_return_t rc;
  while ((rc = gaspi_proc_init(GASPI_TEST)) == GASPI_TIMEOUT) usleep(1000);
  OK(rc);
  OK(gaspi_proc_rank(&rank));
  OK(gaspi_proc_num(&num));
  HOLDS(getenv("GASPI_BOOT_FD") == NULL);
  segment(0, 4096);
  pid_t pid = fork();
  if (pid == 0) child();
  int status;
  waitpid(pid, &status, 0);
  IS(7, WEXITSTATUS(status));
  IS(0, WEXITSTATUS(system("exit 0")));
  pthread_t t;
  pthread_create(&t, NULL, receives, NULL);
  pthread_create(&t, NULL, waits, NULL);
  usleep(50000);
  barrier();
  if (rank < num - 1) /* the last rank leaves first, so that nobody ends its calls */
    while (gaspi_proc_ping((gaspi_rank_t)(num - 1), GASPI_BLOCK) == GASPI_SUCCESS) usleep(1000);
  OK(gaspi_proc_term(GASPI_BLOCK));
  usleep(100000);
  IS(0, returned);
  if (!getenv("GASPI_RANK")) { /* a process that nobody started as a rank may begin again */
    start();
    segment(0, 64);
    finish();
  } else {
    HOLDS(gaspi_proc_init(GASPI_BLOCK) != GASPI_SUCCESS);
  }
  return 0;
}
