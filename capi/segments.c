//go:build capi && cgo && linux

/* Segments and groups. */
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "_cgo_export.h"

static gaspi_number_t segments(void) { return atomic_load(&ggo.segments); }

/* Whether a segment may be made under an id. */
static gaspi_return_t free_id(gaspi_segment_id_t id, gaspi_size_t size) {
  NEED_INIT();
  if (size == 0) return GASPI_ERR_INV_SEGSIZE;
  if (ggo_own(id)) return GASPI_ERR_INV_SEG;
  return segments() >= ggo.config.segment_max ? GASPI_ERR_MANY_SEG : GASPI_SUCCESS;
}

static gaspi_return_t made(gaspi_segment_id_t id, int rc, gaspi_timeout_t t, int counter) {
  if (rc != GASPI_SUCCESS) return ggo_result(rc, t);
  ggo_count(counter, 1);
  ggo_own_made(id);
  return ggo_own(id) ? GASPI_SUCCESS : GASPI_ERR_MEMALLOC;
}

WEAK(segment_alloc)
gaspi_return_t pgaspi_segment_alloc(gaspi_segment_id_t id, gaspi_size_t size, gaspi_alloc_t how) {
  (void)how;
  gaspi_return_t rc = free_id(id, size);
  return rc ? rc : made(id, GO(ggo_segment_alloc(id, size, NULL)), GASPI_BLOCK, GGO_ALLOCS);
}

WEAK(segment_bind)
gaspi_return_t pgaspi_segment_bind(gaspi_segment_id_t id, gaspi_pointer_t p, gaspi_size_t size, gaspi_memory_description_t d) {
  (void)d;
  gaspi_return_t rc = free_id(id, size);
  if (rc) return rc;
  NEED(p);
  return made(id, GO(ggo_segment_alloc(id, size, (char *)p)), GASPI_BLOCK, GGO_BINDS);
}

WEAK(segment_create)
gaspi_return_t pgaspi_segment_create(gaspi_segment_id_t id, gaspi_size_t size, gaspi_group_t g, gaspi_timeout_t t, gaspi_alloc_t how) {
  (void)how;
  gaspi_return_t rc = free_id(id, size);
  return rc ? rc : made(id, GO(ggo_segment_create(id, size, g, ggo_ms(t), NULL)), t, GGO_CREATES);
}

WEAK(segment_use)
gaspi_return_t pgaspi_segment_use(gaspi_segment_id_t id, gaspi_pointer_t p, gaspi_size_t size, gaspi_group_t g, gaspi_timeout_t t, gaspi_memory_description_t d) {
  (void)d;
  gaspi_return_t rc = free_id(id, size);
  if (rc) return rc;
  NEED(p);
  return made(id, GO(ggo_segment_create(id, size, g, ggo_ms(t), (char *)p)), t, GGO_USES);
}

WEAK(segment_delete)
gaspi_return_t pgaspi_segment_delete(gaspi_segment_id_t id) {
  NEED_INIT();
  if (!ggo_own(id)) return GASPI_ERR_INV_SEG;
  ggo_own_deleted(id);
  ggo_count(GGO_DELETES, 1);
  return ggo_result(GO(ggo_segment_delete(id)), GASPI_BLOCK);
}

WEAK(segment_register)
gaspi_return_t pgaspi_segment_register(gaspi_segment_id_t id, gaspi_rank_t r, gaspi_timeout_t t) {
  NEED_INIT();
  NEED_RANK(r);
  if (!ggo_own(id)) return GASPI_ERR_INV_SEG;
  ggo_count(GGO_REGISTERS, 1);
  return ggo_result(GO(ggo_segment_register(id, r)), t);
}

WEAK(segment_num)
gaspi_return_t pgaspi_segment_num(gaspi_number_t *n) { GET(n, segments()); }

WEAK(segment_list)
gaspi_return_t pgaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t *ids) {
  NEED_INIT();
  NEED(ids);
  if (num != segments()) return GASPI_ERR_INV_NUM;
  for (int w = 0; w < GGO_IDS / 64; w++)
    for (uint64_t left = atomic_load(&ggo.owned[w]); left && num > 0; left &= left - 1, num--)
      *ids++ = (gaspi_segment_id_t)(64 * w + __builtin_ctzll(left));
  return GASPI_SUCCESS;
}

WEAK(segment_ptr)
gaspi_return_t pgaspi_segment_ptr(gaspi_segment_id_t id, gaspi_pointer_t *p) {
  NEED_INIT();
  NEED(p);
  ggo_mapping *m = ggo_own(id);
  if (!m) return GASPI_ERR_INV_SEG;
  *p = m->data;
  return GASPI_SUCCESS;
}

WEAK(segment_size)
gaspi_return_t pgaspi_segment_size(gaspi_segment_id_t id, gaspi_rank_t r, gaspi_size_t *size) {
  NEED_INIT();
  NEED_RANK(r);
  NEED(size);
  ggo_mapping *m = r == ggo.place.rank ? ggo_own(id) : NULL;
  if (m) {
    *size = m->size;
    return GASPI_SUCCESS;
  }
  if (r == ggo.place.rank) return GASPI_ERR_INV_SEG;
  return ggo_result(GO(ggo_segment_size(id, r, size)), GASPI_BLOCK);
}

WEAK(segment_avail_local)
gaspi_return_t pgaspi_segment_avail_local(gaspi_segment_id_t *id) {
  NEED_INIT();
  NEED(id);
  if (segments() >= ggo.config.segment_max) return GASPI_ERR_MANY_SEG;
  for (int w = 0; w < GGO_IDS / 64; w++) {
    uint64_t left = ~atomic_load(&ggo.owned[w]);
    if (!left) continue;
    *id = (gaspi_segment_id_t)(64 * w + __builtin_ctzll(left));
    return GASPI_SUCCESS;
  }
  return GASPI_ERR_MANY_SEG;
}

/* Sizes of groups, each one more than its ranks; 0 where there is no group. Getters look here. */
static _Atomic uint32_t sizes[GGO_IDS];
static _Atomic uint32_t groups;

/* A bit for each rank of each group, in words of 64 ranks. */
static _Atomic uint64_t *members;
static size_t words; /* of a group */

static _Atomic uint64_t *members_of(gaspi_group_t g) { return &members[(size_t)g * words]; }

static void join_members(gaspi_group_t g, gaspi_rank_t r) {
  atomic_fetch_or(&members_of(g)[r / 64], (uint64_t)1 << (r % 64));
}

int ggo_groups_open(void) {
  words = ((size_t)ggo.place.size + 63) / 64;
  members = calloc((size_t)GGO_IDS * words, sizeof *members); /* those of a job before stay: a thread may look there */
  if (!members) return 0;
  for (int g = 0; g < GGO_IDS; g++) {
    atomic_store(&sizes[g], 0);
    ggo_collectives_forget((gaspi_group_t)g);
  }
  for (int r = 0; r < ggo.place.size; r++) join_members(GASPI_GROUP_ALL, (gaspi_rank_t)r);
  atomic_store(&sizes[GASPI_GROUP_ALL], (uint32_t)ggo.place.size + 1);
  atomic_store(&groups, 1);
  return 1;
}

int ggo_group_there(gaspi_group_t g) { return atomic_load_explicit(&sizes[g], memory_order_acquire) != 0; }

WEAK(group_create)
gaspi_return_t pgaspi_group_create(gaspi_group_t *g) {
  NEED_INIT();
  NEED(g);
  int rc = GO(ggo_group_create(ggo.config.group_max, g));
  if (rc == GASPI_SUCCESS) {
    /* The number may have been that of an earlier group. */
    for (size_t w = 0; w < words; w++) atomic_store(&members_of(*g)[w], 0);
    ggo_collectives_forget(*g);
    atomic_store(&sizes[*g], 1);
    atomic_fetch_add(&groups, 1);
  }
  return ggo_result(rc, GASPI_BLOCK);
}

WEAK(group_delete)
gaspi_return_t pgaspi_group_delete(gaspi_group_t g) {
  NEED_INIT();
  if (g == GASPI_GROUP_ALL) return GASPI_ERR_INV_GROUP;
  uint32_t size = atomic_exchange(&sizes[g], 0); /* before another thread may take the number */
  if (!size) return GASPI_ERR_INV_GROUP;
  int rc = GO(ggo_group_delete(g));
  if (rc == GASPI_SUCCESS) atomic_fetch_sub(&groups, 1);
  else atomic_store(&sizes[g], size);
  return ggo_result(rc, GASPI_BLOCK);
}

WEAK(group_add)
gaspi_return_t pgaspi_group_add(gaspi_group_t g, gaspi_rank_t r) {
  NEED_INIT();
  NEED_RANK(r);
  int rc = GO(ggo_group_add(g, r));
  if (rc == GASPI_SUCCESS) {
    join_members(g, r);
    atomic_fetch_add(&sizes[g], 1);
  }
  return ggo_result(rc, GASPI_BLOCK);
}

WEAK(group_commit)
gaspi_return_t pgaspi_group_commit(gaspi_group_t g, gaspi_timeout_t t) {
  NEED_INIT();
  return ggo_result(GO(ggo_group_commit(g, ggo_ms(t))), t);
}

WEAK(group_num)
gaspi_return_t pgaspi_group_num(gaspi_number_t *n) { GET(n, atomic_load(&groups)); }

WEAK(group_size)
gaspi_return_t pgaspi_group_size(gaspi_group_t g, gaspi_number_t *n) {
  NEED_INIT();
  NEED(n);
  uint32_t size = atomic_load(&sizes[g]);
  if (!size) return GASPI_ERR_INV_GROUP;
  *n = size - 1;
  return GASPI_SUCCESS;
}

WEAK(group_ranks)
gaspi_return_t pgaspi_group_ranks(gaspi_group_t g, gaspi_rank_t *ranks) {
  NEED_INIT();
  NEED(ranks);
  if (!atomic_load(&sizes[g])) return GASPI_ERR_INV_GROUP;
  _Atomic uint64_t *of = members_of(g);
  for (size_t w = 0; w < words; w++)
    for (uint64_t left = atomic_load_explicit(&of[w], memory_order_relaxed); left; left &= left - 1)
      *ranks++ = (gaspi_rank_t)(64 * w + (size_t)__builtin_ctzll(left));
  return GASPI_SUCCESS;
}
