/* Signals to handlers that know nothing of alternate stacks, while calls block. The argument is the
 * number of signals for each call. The handlers use more stack than a function of Go has. */
#include "check.h"

#include <sys/mman.h>

static _Atomic long handled;
static _Atomic long elsewhere; /* handlers that ran on another stack than the alternate one */
static _Atomic int sending = 1;
static long wanted;

static void use_stack(int n) {
  volatile char mem[4096];
  mem[0] = mem[4095] = (char)n;
  if (n > 0) use_stack(n - 1);
}

static void plain(int s) {
  stack_t now;
  (void)s;
  if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_ONSTACK)) elsewhere++;
  use_stack(8);
  handled++;
}

static void informed(int s, siginfo_t *i, void *context) {
  (void)i, (void)context;
  plain(s);
}

static pthread_t first;

static void *sender(void *arg) {
  (void)arg;
  for (int i = 0; sending; i++) {
    pthread_kill(first, i % 3 == 0 ? SIGUSR1 : i % 3 == 1 ? SIGUSR2 : SIGALRM);
    struct timespec t = { 0, 20000 };
    nanosleep(&t, NULL);
  }
  return NULL;
}

/* A thread whose signal stack is too small for the handlers, as that of AddressSanitizer may be. */
static void *with_small_stack(void *arg) {
  enum { GUARD = 4096, SMALL = 8192 };
  (void)arg;
  char *mem = mmap(NULL, GUARD + SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mem == MAP_FAILED || mprotect(mem, GUARD, PROT_NONE)) FAIL("no memory");
  stack_t small;
  memset(&small, 0, sizeof small);
  small.ss_sp = mem + GUARD;
  small.ss_size = SMALL;
  if (sigaltstack(&small, NULL)) FAIL("sigaltstack");
  gaspi_notification_id_t got;
  RETURNS(GASPI_TIMEOUT, gaspi_notify_waitsome(0, 200, 1, &got, 5));
  raise(SIGUSR1);
  raise(SIGUSR2);
  return NULL;
}

/* Makes a call again until enough signals were handled during it. */
#define DURING(call) do { long until = handled + wanted; while (handled < until) { gaspi_return_t rc_ = (call); if (rc_ != GASPI_TIMEOUT && rc_ != GASPI_SUCCESS) FAIL("%s: %d", #call, rc_); } } while (0)

int main(int argc, char **argv) {
  wanted = argc > 1 ? atol(argv[1]) : 500;
  signal(SIGUSR2, plain); /* before gaspi_proc_init */
  gaspi_notification_id_t got;
  gaspi_rank_t from;
  gaspi_atomic_value_t old;
  start();
  segment(0, 4096);
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_sigaction = informed;
  a.sa_flags = SA_SIGINFO;
  if (sigaction(SIGUSR1, &a, NULL)) FAIL("sigaction");
  if (signal(SIGALRM, plain) == SIG_ERR) FAIL("signal");
  first = pthread_self();
  pthread_t t;
  if (pthread_create(&t, NULL, with_small_stack, NULL) || pthread_join(t, NULL)) FAIL("thread");
  barrier();
  if (rank == 0) {
    pthread_create(&t, NULL, sender, NULL);
    DURING(gaspi_notify_waitsome(0, 0, 1, &got, 5));
    DURING(gaspi_notify_waitsome(0, 0, 100, &got, GASPI_TEST));
    DURING(gaspi_barrier(GASPI_GROUP_ALL, 5)); /* of several ranks it does not end yet */
    sending = 0;
    pthread_join(t, NULL);
    for (gaspi_rank_t r = 1; r < num; r++) OK(gaspi_notify(0, r, 20, 1, 0, GASPI_BLOCK));
  } else {
    await(0, 20);
  }
  barrier();
  if (rank == 0) {
    sending = 1;
    pthread_create(&t, NULL, sender, NULL);
    DURING(gaspi_passive_receive(0, 0, &from, 8, 5));
    DURING(gaspi_passive_send(0, 0, num - 1, 8, 5));
    sending = 0;
    pthread_join(t, NULL);
    sending = 1;
    pthread_create(&t, NULL, sender, NULL);
    gaspi_rank_t to = num - 1;
    DURING((gaspi_write_notify(0, 0, to, 0, 8, 8, 5, 1, 0, GASPI_BLOCK), gaspi_wait(0, GASPI_BLOCK)));
    DURING(gaspi_atomic_fetch_add(0, 0, to, 1, &old, GASPI_BLOCK));
    gaspi_segment_id_t id = 9;
    DURING((gaspi_segment_alloc(id, 64, GASPI_ALLOC_DEFAULT), gaspi_segment_delete(id)));
    sending = 0;
    pthread_join(t, NULL);
    /* the rest of the messages of gaspi_passive_send */
    OK(gaspi_notify(0, to, 6, 1, 0, GASPI_BLOCK));
  }
  if (rank == num - 1)
    for (;;) {
      gaspi_return_t rc = gaspi_passive_receive(0, 1024, &from, 8, 1);
      if (rc != GASPI_SUCCESS && rc != GASPI_TIMEOUT) FAIL("passive_receive: %d", rc);
      if (rc == GASPI_TIMEOUT && gaspi_notify_waitsome(0, 6, 1, &got, GASPI_TEST) == GASPI_SUCCESS) break;
    }
  IS(0, elsewhere);
  finish();
  return 0;
}
