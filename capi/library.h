/* Of the C files: the state of the library, checks of arguments, and aliases. */
#ifndef GGO_LIBRARY_H
#define GGO_LIBRARY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "bridge.h"

/* Makes gaspi_NAME a weak name of pgaspi_NAME, which stands in the same file. */
#define GGO_PRAGMA(text) _Pragma(#text)
#define WEAK(name) GGO_PRAGMA(weak gaspi_##name = pgaspi_##name)

enum { GGO_OUTSIDE, GGO_INSIDE, GGO_ENDED }; /* before gaspi_proc_init, after it, after gaspi_proc_term */

/* Entries of a queue. issued and settled only grow, but for entries that are given back. */
typedef struct {
  _Atomic int there;
  _Atomic uint64_t issued, settled;
  _Atomic uint64_t posted, waited; /* operations that Go was told, and those it has waited for */
  _Atomic int lost;                /* an operation was posted to a rank that is gone */
} __attribute__((aligned(64))) ggo_queue;

typedef struct {
  _Atomic int phase;
  ggo_place place;
  gaspi_config_t config;
  ggo_queue queues[GGO_QUEUES];
  ggo_mapping *_Atomic own[GGO_IDS]; /* segments of this rank, NULL where there is none */
  _Atomic uint64_t owned[GGO_IDS / 64]; /* a bit for each id that own has */
  _Atomic uint32_t segments;            /* how many */
  _Atomic uint32_t cursor[GGO_IDS];  /* where the next search for a notification begins */
  unsigned char *gone;               /* by rank: 1 if it is lost */
} ggo_library;

extern ggo_library ggo __attribute__((visibility("hidden")));

/* Before any call of Go: gives this thread a signal stack. */
void ggo_prepare_thread(void);
/* Variables of a thread are words at fixed places, which take no call to find: the runtime of Go has
 * such a word, too. */
#define GGO_THREAD_LOCAL __attribute__((visibility("hidden"), tls_model("initial-exec")))
extern __thread int ggo_thread_ready GGO_THREAD_LOCAL;
static inline void ggo_prepare(void) {
  if (__builtin_expect(!ggo_thread_ready, 0)) ggo_prepare_thread();
}
#define GO(call) (ggo_prepare(), (call))

/* Timeouts of Fortran have 32 bits: the upper half of GASPI_BLOCK is not to be relied on. */
static inline uint64_t ggo_ms(gaspi_timeout_t t) { return (uint32_t)t == UINT32_MAX ? UINT64_MAX : t; }

/* The result of a call that Go has ended with rc. One that gaspi_proc_term has ended stays blocked. */
gaspi_return_t ggo_result(int rc, gaspi_timeout_t t);

/* GASPI_TIMEOUT of a call with timeout t. */
gaspi_return_t ggo_not_yet(gaspi_timeout_t t);

static inline int ggo_inside(void) { return atomic_load_explicit(&ggo.phase, memory_order_acquire) == GGO_INSIDE; }

#define NEED_INIT() do { if (!ggo_inside()) return GASPI_ERR_NOINIT; } while (0)
#define NEED(p) do { if ((p) == NULL) return GASPI_ERR_NULLPTR; } while (0)
#define NEED_RANK(r) do { if ((int)(r) >= ggo.place.size) return GASPI_ERR_INV_RANK; } while (0)
#define NEED_QUEUE(q) do { if ((q) >= GGO_QUEUES || !atomic_load_explicit(&ggo.queues[q].there, memory_order_relaxed)) return GASPI_ERR_INV_QUEUE; } while (0)
#define GET(p, v) do { NEED_INIT(); NEED(p); *(p) = (v); return GASPI_SUCCESS; } while (0)

static inline void ggo_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

uint64_t ggo_nanoseconds(void);

/* Fetches the cache line of a word that is about to be written. */
static inline void ggo_fetch(const void *p) {
#if defined(__x86_64__)
  __asm__ __volatile__("prefetchw (%0)" : : "r"(p));
#else
  __builtin_prefetch(p, 1);
#endif
}

/* A clock that costs little, of unknown frequency: see statistics.c. */
static inline uint64_t ggo_clock(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return ggo_nanoseconds();
#endif
}

/* Segments of this rank and of others in this process's memory. */
void ggo_own_made(gaspi_segment_id_t id);
void ggo_own_deleted(gaspi_segment_id_t id);
static inline ggo_mapping *ggo_own(gaspi_segment_id_t id) { return atomic_load_explicit(&ggo.own[id], memory_order_acquire); }
int ggo_windows_open(int ranks);
ggo_mapping *ggo_window(gaspi_rank_t r, gaspi_segment_id_t id);

/* Makes all waiters of a notification array look again. */
void ggo_wake(uint32_t *wake);

/* Sets a notification: what was written before is seen by whoever sees it. The store and the look at
 * the wake word are sequentially consistent, as a waiter's are the other way round. */
static inline void ggo_set(uint32_t *word, uint32_t *wake, gaspi_notification_t v) {
  __atomic_store_n(word, v, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(wake, __ATOMIC_SEQ_CST) & 1) ggo_wake(wake);
}

/* Counters of gaspi_statistic_*, and behind them those that only ggo_counted reads. */
enum {
  GGO_BYTES_WRITTEN, GGO_BYTES_READ, GGO_BARRIERS, GGO_WAITS, GGO_WRITES, GGO_WRITE_NOTIFYS, GGO_READS, GGO_READ_NOTIFYS,
  GGO_CREATES, GGO_ALLOCS, GGO_REGISTERS, GGO_DELETES, GGO_BINDS, GGO_USES, GGO_TIME_BARRIER, GGO_TIME_WAIT,
  GGO_TIME_WAITSOME, GGO_TIME_WAITING, GGO_COUNTERS,
  GGO_DONE_WAITS = GGO_COUNTERS, GGO_DONE_BARRIERS, GGO_DONE_BARRIER_TIME, GGO_ALL_COUNTERS
};
/* What one thread has counted of one rank: a cache line. */
typedef struct {
  _Atomic uint64_t counts[GGO_PEER_COUNTS];
} __attribute__((aligned(64))) ggo_peer;
/* The counts of one thread. It alone writes to them, so that counting takes no locked instruction. */
typedef struct ggo_tally {
  _Atomic uint64_t counts[GGO_ALL_COUNTERS];
  ggo_peer *_Atomic peers; /* by rank; NULL before the first */
  struct ggo_tally *next; /* of all tallies */
  _Atomic int taken;      /* by a thread that has not ended */
} ggo_tally;
extern __thread ggo_tally *ggo_mine GGO_THREAD_LOCAL;
ggo_tally *ggo_take_tally(void);
ggo_peer *ggo_take_peers(ggo_tally *mine);
extern _Atomic int ggo_counting __attribute__((visibility("hidden")));
static inline ggo_tally *ggo_tally_here(void) { return __builtin_expect(ggo_mine != NULL, 1) ? ggo_mine : ggo_take_tally(); }
static inline int ggo_counts(void) { return atomic_load_explicit(&ggo_counting, memory_order_relaxed); }
static inline void ggo_add(_Atomic uint64_t *count, uint64_t n) {
  atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n, memory_order_relaxed);
}
/* Counts for ggo_counted, which gaspi_statistic_verbosity_level does not stop. */
static inline void ggo_count_done(int counter, uint64_t n) {
  ggo_tally *mine = ggo_tally_here();
  if (mine) ggo_add(&mine->counts[counter], n);
}
static inline void ggo_count(int counter, uint64_t n) {
  if (ggo_counts()) ggo_count_done(counter, n);
}
/* The counts of this thread by rank, NULL if there is no memory. */
static inline ggo_peer *ggo_peers_of(ggo_tally *mine) {
  ggo_peer *peers = atomic_load_explicit(&mine->peers, memory_order_relaxed);
  return __builtin_expect(peers != NULL, 1) ? peers : ggo_take_peers(mine);
}
static inline void ggo_count_peer(gaspi_rank_t r, int counter) {
  ggo_tally *mine = ggo_tally_here();
  ggo_peer *peers = mine ? ggo_peers_of(mine) : NULL;
  if (peers) ggo_add(&peers[r].counts[counter], 1);
}
void ggo_start_clock(void);
/* Adds the time since start, of ggo_clock, to a counter and to that of all waits, and returns it. */
uint64_t ggo_spent(int counter, uint64_t start);

int ggo_groups_open(void);
int ggo_group_there(gaspi_group_t g);
/* Forgets what is known of the collectives of a group whose number another one takes. */
void ggo_collectives_forget(gaspi_group_t g);

/* Teams, for getters: see places.c. ggo_team_known sets what is not NULL, and returns 0 if Go has to be asked. */
void ggo_team_made(gaspigo_team_t team);
void ggo_team_ended(gaspigo_team_t team);
void ggo_teams_ended(void);
int ggo_team_known(gaspigo_team_t team, int *rank, int *size, gaspi_rank_t *ranks);
void ggo_sweep_signals(void);
void ggo_join_mpi(void);

#endif
