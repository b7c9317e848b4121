//go:build capi && cgo && linux

/* Memory of segments that this process can address. Go keeps it mapped: see mappings.go. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "_cgo_export.h"

/* A place of the table of windows: NULL before the first look, nowhere where there is no such memory. */
static ggo_mapping nowhere;
static ggo_mapping *_Atomic *windows; /* index is rank * GGO_IDS + segment */
static _Atomic unsigned *skipped;     /* by place: operations since the last look that found nowhere */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* Entries that are used no more are given back when as many others have come after them: a thread may
 * still look at one. */
enum { RETIRED = 256 };
static ggo_mapping *retired[RETIRED];
static unsigned next_retired;

static void retire(ggo_mapping *m) {
  if (!m || m == &nowhere) return;
  free(retired[next_retired]);
  retired[next_retired] = m;
  next_retired = (next_retired + 1) % RETIRED;
}

int ggo_windows_open(int ranks) {
  size_t n = (size_t)ranks * GGO_IDS;
  windows = calloc(n, sizeof *windows);
  skipped = calloc(n, sizeof *skipped);
  ggo.gone = calloc((size_t)ranks, 1);
  return windows && skipped && ggo.gone;
}

static ggo_mapping *look(gaspi_rank_t r, gaspi_segment_id_t id) {
  ggo_mapping *m = malloc(sizeof *m);
  if (m && GO(ggo_map(r, id, m))) return m;
  free(m);
  return NULL;
}

void ggo_own_made(gaspi_segment_id_t id) {
  ggo_mapping *m = look((gaspi_rank_t)ggo.place.rank, id);
  atomic_store_explicit(&ggo.own[id], m, memory_order_release);
  if (!m) return;
  atomic_fetch_or(&ggo.owned[id / 64], 1ull << id % 64);
  atomic_fetch_add(&ggo.segments, 1);
}

void ggo_own_deleted(gaspi_segment_id_t id) {
  pthread_mutex_lock(&opening);
  uint64_t bit = 1ull << id % 64;
  if (atomic_fetch_and(&ggo.owned[id / 64], ~bit) & bit) atomic_fetch_sub(&ggo.segments, 1);
  retire(atomic_exchange(&ggo.own[id], NULL));
  pthread_mutex_unlock(&opening);
}

static int usable(ggo_mapping *m) { return __atomic_load_n(m->live, __ATOMIC_SEQ_CST) == m->generation; }

enum { LOOK_AGAIN = 1024 }; /* operations after which a segment that was nowhere is looked for again */

static ggo_mapping *open_window(gaspi_rank_t r, gaspi_segment_id_t id) {
  size_t at = (size_t)r * GGO_IDS + id;
  pthread_mutex_lock(&opening);
  ggo_mapping *before = windows[at], *m = before;
  if (!before || before == &nowhere || !usable(before)) {
    m = look(r, id);
    atomic_store_explicit(&windows[at], m ? m : &nowhere, memory_order_release);
    skipped[at] = 0;
    retire(before);
  }
  pthread_mutex_unlock(&opening);
  return m == &nowhere ? NULL : m;
}

/* The segment of a rank of this host, or NULL if Go has to reach it. */
ggo_mapping *ggo_window(gaspi_rank_t r, gaspi_segment_id_t id) {
  if (r == ggo.place.rank) return ggo.place.polls ? NULL : ggo_own(id);
  if (__atomic_load_n(&ggo.gone[r], __ATOMIC_RELAXED)) return NULL;
  size_t at = (size_t)r * GGO_IDS + id;
  ggo_mapping *m = atomic_load_explicit(&windows[at], memory_order_acquire);
  if (m == &nowhere && atomic_fetch_add_explicit(&skipped[at], 1, memory_order_relaxed) < LOOK_AGAIN) return NULL;
  if (m && m != &nowhere && usable(m)) return m;
  return open_window(r, id);
}
