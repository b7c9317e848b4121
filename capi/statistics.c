//go:build capi && cgo && linux

/* Counters of gaspi_statistic_*, and of what C does without Go. Times are counted in ticks of ggo_clock. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

__thread ggo_tally *ggo_mine GGO_THREAD_LOCAL;
_Atomic int ggo_counting = 1;

static ggo_tally *_Atomic tallies;             /* of all threads that have counted */
static _Atomic uint64_t resets[GGO_COUNTERS]; /* what they came to when a counter was reset */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The counts of a thread that ends stay; another thread may add to them. A destructor of the program
 * that runs later and counts takes a tally again. */
static void give_back(void *tally) {
  ggo_mine = NULL;
  atomic_store(&((ggo_tally *)tally)->taken, 0);
}

static void make_key(void) { pthread_key_create(&key, give_back); }

/* Gives this thread a tally: that of one that has ended, or a new one. NULL if there is no memory. */
ggo_tally *ggo_take_tally(void) {
  pthread_once(&once, make_key);
  ggo_tally *t = atomic_load(&tallies);
  for (int no = 0; t && !atomic_compare_exchange_strong(&t->taken, &no, 1); no = 0) t = t->next;
  if (!t) {
    t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->taken = 1;
    t->next = atomic_load(&tallies);
    while (!atomic_compare_exchange_weak(&tallies, &t->next, t)) {
    }
  }
  pthread_setspecific(key, t);
  return ggo_mine = t;
}

/* Makes the counts of this thread by rank, a cache line each. NULL if there is no memory. */
ggo_peer *ggo_take_peers(ggo_tally *mine) {
  size_t size = (size_t)ggo.place.size * sizeof(ggo_peer);
  ggo_peer *peers = aligned_alloc(sizeof *peers, size);
  if (!peers) return NULL;
  memset(peers, 0, size);
  atomic_store_explicit(&mine->peers, peers, memory_order_release);
  return peers;
}

static uint64_t total(int c) {
  uint64_t sum = 0;
  for (ggo_tally *t = atomic_load(&tallies); t; t = t->next) sum += atomic_load_explicit(&t->counts[c], memory_order_relaxed);
  return sum;
}

static uint64_t first_tick, first_nanosecond;

void ggo_start_clock(void) {
  if (first_tick) return;
  first_nanosecond = ggo_nanoseconds();
  first_tick = ggo_clock();
}

/* Ticks as nanoseconds, by what has passed of both since the process began to join. */
static double nanoseconds(uint64_t ticks) {
  uint64_t t = ggo_clock() - first_tick, ns = ggo_nanoseconds() - first_nanosecond;
  return t ? (double)ticks * (double)ns / (double)t : 0;
}

void ggo_counted(ggo_done *done, uint64_t *peers, uint32_t ranks) {
  done->waits = total(GGO_DONE_WAITS);
  done->barriers = total(GGO_DONE_BARRIERS);
  done->barrier_nanoseconds = (uint64_t)nanoseconds(total(GGO_DONE_BARRIER_TIME));
  memset(peers, 0, (size_t)ranks * GGO_PEER_COUNTS * sizeof *peers);
  for (ggo_tally *t = atomic_load(&tallies); t; t = t->next) {
    ggo_peer *counted = atomic_load_explicit(&t->peers, memory_order_acquire);
    for (uint32_t i = 0; counted && i < ranks * GGO_PEER_COUNTS; i++)
      peers[i] += atomic_load_explicit(&counted[i / GGO_PEER_COUNTS].counts[i % GGO_PEER_COUNTS], memory_order_relaxed);
  }
}

uint64_t ggo_spent(int counter, uint64_t start) {
  uint64_t t = ggo_clock() - start;
  ggo_count(counter, t);
  ggo_count(GGO_TIME_WAITING, t);
  return t;
}

static const char *const names[GGO_COUNTERS][2] = {
  { "BytesWritten", "bytes written to ranks" },
  { "BytesRead", "bytes read from ranks" },
  { "NumberOfBarriers", "calls of gaspi_barrier" },
  { "NumberOfWaits", "calls of gaspi_wait" },
  { "NumberOfWrites", "calls of gaspi_write and gaspi_write_list" },
  { "NumberOfWriteNotifys", "writes with a notification" },
  { "NumberOfReads", "calls of gaspi_read and gaspi_read_list" },
  { "NumberOfReadNotifys", "reads with a notification" },
  { "NumberOfSegmentCreate", "calls of gaspi_segment_create" },
  { "NumberOfSegmentAlloc", "calls of gaspi_segment_alloc" },
  { "NumberOfSegmentRegister", "calls of gaspi_segment_register" },
  { "NumberOfSegmentDelete", "calls of gaspi_segment_delete" },
  { "NumberOfSegmentBind", "calls of gaspi_segment_bind" },
  { "NumberOfSegmentUse", "calls of gaspi_segment_use" },
  { "TimeInBarrier", "milliseconds in gaspi_barrier" },
  { "TimeInWait", "milliseconds in gaspi_wait" },
  { "TimeInWaitSome", "milliseconds in gaspi_notify_waitsome" },
  { "TimeWaitingInGaspi", "milliseconds in all of these" },
};

WEAK(statistic_verbosity_level)
gaspi_return_t pgaspi_statistic_verbosity_level(gaspi_number_t level) {
  atomic_store(&ggo_counting, level > 0);
  return GASPI_SUCCESS;
}

WEAK(statistic_counter_max)
gaspi_return_t pgaspi_statistic_counter_max(gaspi_number_t *n) {
  NEED(n);
  *n = GGO_COUNTERS;
  return GASPI_SUCCESS;
}

WEAK(statistic_counter_info)
gaspi_return_t pgaspi_statistic_counter_info(gaspi_statistic_counter_t c, gaspi_statistic_argument_t *argument,
                                             gaspi_string_t *name, gaspi_string_t *description, gaspi_number_t *level) {
  if (c >= GGO_COUNTERS) return GASPI_ERROR;
  if (argument) *argument = GASPI_STATISTIC_ARGUMENT_NONE;
  if (name) *name = (gaspi_string_t)names[c][0];
  if (description) *description = (gaspi_string_t)names[c][1];
  if (level) *level = 1;
  return GASPI_SUCCESS;
}

WEAK(statistic_counter_get)
gaspi_return_t pgaspi_statistic_counter_get(gaspi_statistic_counter_t c, gaspi_number_t argument, unsigned long *v) {
  (void)argument;
  NEED(v);
  if (c >= GGO_COUNTERS) return GASPI_ERROR;
  uint64_t counted = total(c) - atomic_load(&resets[c]);
  *v = c >= GGO_TIME_BARRIER ? (unsigned long)(nanoseconds(counted) * 1e-6) : counted;
  return GASPI_SUCCESS;
}

WEAK(statistic_counter_reset)
gaspi_return_t pgaspi_statistic_counter_reset(gaspi_statistic_counter_t c) {
  if (c >= GGO_COUNTERS) return GASPI_ERROR;
  atomic_store(&resets[c], total(c));
  return GASPI_SUCCESS;
}
