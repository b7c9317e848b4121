//go:build capi && cgo && linux

/* Places of this rank in teams, and the members of teams, which do not change while a team is there. Getters
 * look here, and ask Go where they find nothing: a newer team may have taken the place of an older one. */
#include <pthread.h>
#include <stdlib.h>

#include "library.h"
#include "_cgo_export.h"

enum { SLOTS = 256 };

/* What is known of one team. A reader takes what it has read if team is the same before and after: handles
 * are never used again. */
typedef struct {
  _Atomic uint64_t team;                  /* its handle, 0 for none */
  _Atomic uint64_t place;                 /* rank, then size */
  _Atomic(_Atomic gaspi_rank_t *) ranks;  /* never freed: somebody may read there */
  size_t room;                            /* entries of ranks; of the writer */
} slot;

static slot slots[SLOTS];
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static slot *slot_of(gaspigo_team_t team) { return &slots[team % SLOTS]; }

static void forget(slot *s) {
  atomic_store_explicit(&s->team, 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
}

/* Stores a team; returns 0 if there is no memory for it. */
static int store(slot *s, gaspigo_team_t team, int rank, int size, const gaspi_rank_t *ranks) {
  forget(s);
  _Atomic gaspi_rank_t *to = atomic_load_explicit(&s->ranks, memory_order_relaxed);
  if (s->room < (size_t)size) {
    if (!(to = calloc((size_t)size, sizeof *to))) return 0;
    s->room = (size_t)size;
    atomic_store_explicit(&s->ranks, to, memory_order_release);
  }
  for (int i = 0; i < size; i++) atomic_store_explicit(&to[i], ranks[i], memory_order_relaxed);
  atomic_store_explicit(&s->place, (uint64_t)rank << 32 | (uint32_t)size, memory_order_relaxed);
  atomic_store_explicit(&s->team, team, memory_order_release);
  return 1;
}

void ggo_team_made(gaspigo_team_t team) {
  int rank, size;
  if (!team || GO(ggo_team_place(team, &rank, &size))) return;
  gaspi_rank_t *ranks = malloc((size_t)size * sizeof *ranks);
  if (ranks && GO(ggo_team_ranks(team, (char *)ranks)) == GASPI_SUCCESS) {
    pthread_mutex_lock(&writing);
    if (ggo_inside()) store(slot_of(team), team, rank, size, ranks);
    pthread_mutex_unlock(&writing);
  }
  free(ranks);
}

void ggo_team_ended(gaspigo_team_t team) {
  pthread_mutex_lock(&writing);
  slot *s = slot_of(team);
  if (atomic_load_explicit(&s->team, memory_order_relaxed) == team) forget(s);
  pthread_mutex_unlock(&writing);
}

void ggo_teams_ended(void) {
  pthread_mutex_lock(&writing);
  for (int i = 0; i < SLOTS; i++) forget(&slots[i]);
  pthread_mutex_unlock(&writing);
}

static int is(slot *s, gaspigo_team_t team, memory_order order) {
  return team != 0 && atomic_load_explicit(&s->team, order) == team;
}

int ggo_team_known(gaspigo_team_t team, int *rank, int *size, gaspi_rank_t *ranks) {
  slot *s = slot_of(team);
  if (!is(s, team, memory_order_acquire)) return 0;
  uint64_t place = atomic_load_explicit(&s->place, memory_order_relaxed);
  _Atomic gaspi_rank_t *from = atomic_load_explicit(&s->ranks, memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
  if (!is(s, team, memory_order_relaxed)) return 0; /* before the list: place and ranks are of one team */
  if (ranks) {
    for (uint32_t i = 0; i < (uint32_t)place; i++) ranks[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (!is(s, team, memory_order_relaxed)) return 0;
  }
  if (rank) *rank = (int)(place >> 32);
  if (size) *size = (int)(uint32_t)place;
  return 1;
}
