//go:build capi && cgo && linux

/* Signals. A function of Go runs on a small stack of its own in the thread that called it. A handler
 * that runs on the stack it finds would write beyond the end of that one, so every handler of the
 * program runs on the alternate signal stack: sigaction, signal and their kin are wrapped, and those that
 * were installed before are found at gaspi_proc_init. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "library.h"

__thread int ggo_thread_ready GGO_THREAD_LOCAL;

enum { STACK = 256 * 1024 }; /* bytes, for handlers of programs, which may print */

/* A signal stack from here, with what the thread had before behind it. */
typedef struct {
  char mem[STACK];
  stack_t before;
} signal_stack;

static pthread_key_t stacks; /* of threads that have a signal stack from here */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void release_stack(void *arg) {
  signal_stack *own = arg;
  stack_t now;
  if (sigaltstack(NULL, &now) == 0 && now.ss_sp == own->mem) sigaltstack(&own->before, NULL);
  munmap(own, sizeof *own);
}

static void make_key(void) { pthread_key_create(&stacks, release_stack); }

/* A smaller signal stack that the thread has, such as that of AddressSanitizer, was made for fewer
 * handlers than run on it now. The thread gets it back at its end. */
void ggo_prepare_thread(void) {
  ggo_thread_ready = 1;
  stack_t before;
  if (sigaltstack(NULL, &before) || (!(before.ss_flags & SS_DISABLE) && before.ss_size >= STACK)) return;
  signal_stack *own = mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (own == MAP_FAILED) return;
  own->before = before;
  stack_t new = { .ss_sp = own->mem, .ss_size = STACK };
  if (sigaltstack(&new, NULL)) {
    munmap(own, sizeof *own);
    return;
  }
  pthread_once(&once, make_key);
  pthread_setspecific(stacks, own);
}

typedef int real_sigaction(int, const struct sigaction *, struct sigaction *);

/* The function that the wrapper stands before. */
static real_sigaction *real(void) {
  static real_sigaction *_Atomic found;
  real_sigaction *f = atomic_load(&found);
  if (!f) {
    f = (real_sigaction *)dlsym(RTLD_NEXT, "sigaction");
    atomic_store(&found, f);
  }
  return f;
}

static int is_handler(const struct sigaction *a) {
  return a->sa_flags & SA_SIGINFO ? a->sa_sigaction != NULL : a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

int sigaction(int sig, const struct sigaction *action, struct sigaction *old) {
  real_sigaction *next = real();
  if (!next) {
    errno = ENOSYS;
    return -1;
  }
  if (!action || !is_handler(action)) return next(sig, action, old);
  struct sigaction a = *action;
  a.sa_flags |= SA_ONSTACK;
  return next(sig, &a, old);
}

static __sighandler_t install(int sig, __sighandler_t handler, int flags) {
  struct sigaction a, old;
  memset(&a, 0, sizeof a);
  a.sa_handler = handler;
  a.sa_flags = flags;
  sigemptyset(&a.sa_mask);
  if (!(flags & SA_NODEFER)) sigaddset(&a.sa_mask, sig);
  return sigaction(sig, &a, &old) ? SIG_ERR : old.sa_handler;
}

/* Handlers of BSD stay and calls go on; those of System V, which a strict C mode asks for, are for once. */
__sighandler_t signal(int sig, __sighandler_t handler) { return install(sig, handler, SA_RESTART); }
__sighandler_t bsd_signal(int sig, __sighandler_t handler) { return install(sig, handler, SA_RESTART); }
__sighandler_t ssignal(int sig, __sighandler_t handler) { return install(sig, handler, SA_RESTART); }
__sighandler_t __sysv_signal(int sig, __sighandler_t handler) { return install(sig, handler, (int)(SA_RESETHAND | SA_NODEFER)); }
__sighandler_t sysv_signal(int sig, __sighandler_t handler) { return __sysv_signal(sig, handler); }

void ggo_sweep_signals(void) {
  for (int sig = 1; sig < NSIG; sig++) {
    struct sigaction a;
    if (sigaction(sig, NULL, &a) == 0 && is_handler(&a) && !(a.sa_flags & SA_ONSTACK)) sigaction(sig, &a, NULL);
  }
}
