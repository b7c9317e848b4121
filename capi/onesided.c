//go:build capi && cgo && linux

/* One-sided operations. Those with memory of this host are carried out here, all others by Go. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library.h"
#include "_cgo_export.h"

/* Takes n entries of a queue for a post to rank r, all or none. */
static int take(ggo_queue *q, gaspi_rank_t r, uint64_t n) {
  uint64_t depth = ggo.config.queue_size_max, issued = atomic_load_explicit(&q->issued, memory_order_relaxed);
  do {
    uint64_t settled = atomic_load_explicit(&q->settled, memory_order_relaxed);
    uint64_t used = issued > settled ? issued - settled : 0;
    if (used + n > depth) {
      ggo_count_peer(r, GGO_PEER_FULL);
      return 0;
    }
  } while (!atomic_compare_exchange_weak_explicit(&q->issued, &issued, issued + n, memory_order_relaxed, memory_order_relaxed));
  return 1;
}

/* The end of a post of n entries that Go has ended with rc. A refused one gives its entries back; one
 * to a rank that is gone counts as posted, and the next wait fails. */
static gaspi_return_t posted(ggo_queue *q, uint64_t n, int rc) {
  if (rc == GASPI_SUCCESS) return GASPI_SUCCESS;
  if (rc == GGO_LOST) {
    atomic_store(&q->lost, 1);
    return GASPI_SUCCESS;
  }
  atomic_fetch_sub_explicit(&q->issued, n, memory_order_relaxed);
  return ggo_result(rc, GASPI_TEST);
}

static int outside(const ggo_mapping *m, uint64_t offset, uint64_t size) { return offset > m->size || size > m->size - offset; }

/* Makes all waiters of a notification array look again. */
void ggo_wake(uint32_t *word) {
  uint32_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (old & 1)
    if (__atomic_compare_exchange_n(word, &old, (old & ~1u) + 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
      return;
    }
}

/* What one transfer needs: checked, with entries of its queue still to be taken. */
typedef struct {
  int read;
  gaspi_segment_id_t local, remote;
  gaspi_offset_t from, to; /* in the local and in the remote segment */
  gaspi_rank_t rank;
  gaspi_size_t size;
  gaspi_notification_id_t id;
  gaspi_notification_t value; /* 0 without notification */
  gaspi_queue_id_t queue;
} transfer;

/* Counts a transfer for gaspi_statistic_*, and, if it took entries and was carried out here, by rank: Go counts others so. */
static void moved(const transfer *x, uint64_t here) {
  ggo_tally *mine = ggo_tally_here();
  if (!mine) return;
  if (ggo_counts()) {
    ggo_add(&mine->counts[x->read ? GGO_BYTES_READ : GGO_BYTES_WRITTEN], x->size);
    ggo_add(&mine->counts[x->read ? (x->value ? GGO_READ_NOTIFYS : GGO_READS) : (x->value ? GGO_WRITE_NOTIFYS : GGO_WRITES)], 1);
  }
  ggo_peer *peers = here ? ggo_peers_of(mine) : NULL;
  if (!peers) return;
  _Atomic uint64_t *counts = peers[x->rank].counts;
  ggo_add(&counts[x->read ? GGO_PEER_READS : GGO_PEER_WRITES], 1);
  ggo_add(&counts[x->read ? GGO_PEER_BYTES_READ : GGO_PEER_BYTES_WRITTEN], x->size);
}

static gaspi_return_t check(const transfer *x) {
  NEED_INIT();
  NEED_RANK(x->rank);
  NEED_QUEUE(x->queue);
  const ggo_mapping *own = ggo_own(x->local);
  if (!own) return GASPI_ERR_INV_SEG;
  if (outside(own, x->from, x->size)) return GASPI_ERR_INV_LOC_OFF;
  if (x->size > ggo.config.transfer_size_max) return GASPI_ERR_INV_COMMSIZE;
  return GASPI_SUCCESS;
}

static gaspi_return_t check_notification(gaspi_notification_id_t id, gaspi_notification_t v) {
  if (v == 0) return GASPI_ERR_INV_NOTIF_VAL;
  return id >= ggo.config.notification_num ? GASPI_ERR_INV_NOTIF_ID : GASPI_SUCCESS;
}

static void set(const ggo_mapping *m, gaspi_notification_id_t id, gaspi_notification_t v) { ggo_set(&m->words[id], m->wake, v); }

/* A transfer with memory that this process can address. */
static void move(const transfer *x, const ggo_mapping *own, const ggo_mapping *there) {
  if (x->read) {
    memmove(own->data + x->from, there->data + x->to, x->size);
    if (x->value) set(own, x->id, x->value);
    return;
  }
  memmove(there->data + x->to, own->data + x->from, x->size);
  if (x->value) set(there, x->id, x->value);
}

static gaspi_return_t post(const transfer *x) {
  gaspi_return_t rc = check(x);
  if (rc) return rc;
  ggo_queue *q = &ggo.queues[x->queue];
  const ggo_mapping *own = ggo_own(x->local), *there = ggo_window(x->rank, x->remote);
  uint64_t entries = x->size > 0 || x->value != 0;
  if (there && own) {
    if (x->value && !x->read && x->id < there->count) ggo_fetch(&there->words[x->id]);
    if (outside(there, x->to, x->size)) return GASPI_ERR_INV_REM_OFF;
    if (x->value && x->id >= (x->read ? own : there)->count) return GASPI_ERR_INV_NOTIF_ID;
    if (entries && !take(q, x->rank, entries)) return GASPI_QUEUE_FULL;
    move(x, own, there);
    moved(x, entries);
    return GASPI_SUCCESS;
  }
  if (entries && !take(q, x->rank, entries)) return GASPI_QUEUE_FULL;
  atomic_fetch_add(&q->posted, 1);
  rc = posted(q, entries, GO(ggo_transfer((GoUint8)x->read, x->local, x->from, x->rank, x->remote, x->to, x->size, x->id, x->value, x->queue)));
  if (rc == GASPI_SUCCESS) moved(x, 0);
  return rc;
}

WEAK(write)
gaspi_return_t pgaspi_write(gaspi_segment_id_t sl, gaspi_offset_t ol, gaspi_rank_t rank, gaspi_segment_id_t sr,
                            gaspi_offset_t orr, gaspi_size_t size, gaspi_queue_id_t q, gaspi_timeout_t t) {
  (void)t;
  transfer x = { 0, sl, sr, ol, orr, rank, size, 0, 0, q };
  return post(&x);
}

WEAK(read)
gaspi_return_t pgaspi_read(gaspi_segment_id_t sl, gaspi_offset_t ol, gaspi_rank_t rank, gaspi_segment_id_t sr,
                           gaspi_offset_t orr, gaspi_size_t size, gaspi_queue_id_t q, gaspi_timeout_t t) {
  (void)t;
  transfer x = { 1, sl, sr, ol, orr, rank, size, 0, 0, q };
  return post(&x);
}

WEAK(write_notify)
gaspi_return_t pgaspi_write_notify(gaspi_segment_id_t sl, gaspi_offset_t ol, gaspi_rank_t rank, gaspi_segment_id_t sr,
                                   gaspi_offset_t orr, gaspi_size_t size, gaspi_notification_id_t nid,
                                   gaspi_notification_t v, gaspi_queue_id_t q, gaspi_timeout_t t) {
  (void)t;
  NEED_INIT();
  gaspi_return_t rc = check_notification(nid, v);
  if (rc) return rc;
  transfer x = { 0, sl, sr, ol, orr, rank, size, nid, v, q };
  return post(&x);
}

WEAK(read_notify)
gaspi_return_t pgaspi_read_notify(gaspi_segment_id_t sl, gaspi_offset_t ol, gaspi_rank_t rank, gaspi_segment_id_t sr,
                                  gaspi_offset_t orr, gaspi_size_t size, gaspi_notification_id_t nid, gaspi_queue_id_t q,
                                  gaspi_timeout_t t) {
  (void)t;
  NEED_INIT();
  gaspi_return_t rc = check_notification(nid, 1);
  if (rc) return rc;
  transfer x = { 1, sl, sr, ol, orr, rank, size, nid, 1, q };
  return post(&x);
}

WEAK(notify)
gaspi_return_t pgaspi_notify(gaspi_segment_id_t id, gaspi_rank_t r, gaspi_notification_id_t nid, gaspi_notification_t v,
                             gaspi_queue_id_t queue, gaspi_timeout_t t) {
  (void)t;
  NEED_INIT();
  NEED_RANK(r);
  NEED_QUEUE(queue);
  gaspi_return_t rc = check_notification(nid, v);
  if (rc) return rc;
  ggo_queue *q = &ggo.queues[queue];
  const ggo_mapping *there = ggo_window(r, id);
  if (there && nid >= there->count) return GASPI_ERR_INV_NOTIF_ID;
  if (!take(q, r, 1)) return GASPI_QUEUE_FULL;
  if (there) {
    set(there, nid, v);
    ggo_count_peer(r, GGO_PEER_NOTIFIES);
    return GASPI_SUCCESS;
  }
  atomic_fetch_add(&q->posted, 1);
  return posted(q, 1, GO(ggo_notify(id, r, nid, v, queue)));
}

/* A list of transfers, and a notification in segment sn if value is not 0. */
static gaspi_return_t post_list(int read, gaspi_number_t num, gaspi_segment_id_t *sl, gaspi_offset_t *ol, gaspi_rank_t r,
                                gaspi_segment_id_t *sr, gaspi_offset_t *orr, gaspi_size_t *size, gaspi_segment_id_t sn,
                                gaspi_notification_id_t nid, gaspi_notification_t value, gaspi_queue_id_t queue) {
  NEED_INIT();
  NEED_RANK(r);
  NEED_QUEUE(queue);
  if (num > ggo.config.rw_list_elem_max) return GASPI_ERR_INV_NUM;
  if (num > 0) {
    NEED(sl);
    NEED(ol);
    NEED(sr);
    NEED(orr);
    NEED(size);
  }
  uint64_t bytes = 0;
  for (gaspi_number_t i = 0; i < num; i++) {
    transfer x = { read, sl[i], sr[i], ol[i], orr[i], r, size[i], 0, 0, queue };
    gaspi_return_t rc = check(&x);
    if (rc) return rc;
    bytes += size[i];
  }
  ggo_queue *q = &ggo.queues[queue];
  uint64_t entries = (uint64_t)num + (value != 0);
  if (entries == 0) return GASPI_SUCCESS;
  if (!take(q, r, entries)) return GASPI_QUEUE_FULL;
  atomic_fetch_add(&q->posted, 1);
  gaspi_return_t rc = posted(q, entries, GO(ggo_list((GoUint8)read, num, (char *)sl, (char *)ol, r, (char *)sr, (char *)orr, (char *)size, sn, nid, value, queue)));
  if (rc == GASPI_SUCCESS) {
    transfer all = { read, 0, 0, 0, 0, r, bytes, nid, value, queue };
    moved(&all, 0);
  }
  return rc;
}

#define LIST gaspi_number_t num, gaspi_segment_id_t *const sl, gaspi_offset_t *const ol, gaspi_rank_t rank, gaspi_segment_id_t *const sr, gaspi_offset_t *const orr, gaspi_size_t *const size

WEAK(write_list)
gaspi_return_t pgaspi_write_list(LIST, gaspi_queue_id_t q, gaspi_timeout_t t) {
  (void)t;
  return post_list(0, num, sl, ol, rank, sr, orr, size, 0, 0, 0, q);
}

WEAK(read_list)
gaspi_return_t pgaspi_read_list(LIST, gaspi_queue_id_t q, gaspi_timeout_t t) {
  (void)t;
  return post_list(1, num, sl, ol, rank, sr, orr, size, 0, 0, 0, q);
}

WEAK(write_list_notify)
gaspi_return_t pgaspi_write_list_notify(LIST, gaspi_segment_id_t sn, gaspi_notification_id_t nid, gaspi_notification_t v, gaspi_queue_id_t q, gaspi_timeout_t t) {
  (void)t;
  NEED_INIT();
  gaspi_return_t rc = check_notification(nid, v);
  return rc ? rc : post_list(0, num, sl, ol, rank, sr, orr, size, sn, nid, v, q);
}

WEAK(read_list_notify)
gaspi_return_t pgaspi_read_list_notify(LIST, gaspi_segment_id_t sn, gaspi_notification_id_t nid, gaspi_queue_id_t q, gaspi_timeout_t t) {
  (void)t;
  NEED_INIT();
  gaspi_return_t rc = check_notification(nid, 1);
  return rc ? rc : post_list(1, num, sl, ol, rank, sr, orr, size, sn, nid, 1, q);
}

static gaspi_return_t atomic(int swap, gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t r, gaspi_atomic_value_t cmp,
                             gaspi_atomic_value_t v, gaspi_atomic_value_t *old, gaspi_timeout_t t) {
  NEED_INIT();
  NEED_RANK(r);
  NEED(old);
  if (off % 8) return GASPI_ERR_UNALIGN_OFF;
  const ggo_mapping *there = ggo_window(r, id);
  if (!there) return ggo_result(GO(ggo_atomic((GoUint8)swap, id, off, r, cmp, v, old, ggo_ms(t))), t);
  if (outside(there, off, 8)) return GASPI_ERR_INV_REM_OFF;
  gaspi_atomic_value_t *word = (gaspi_atomic_value_t *)(void *)(there->data + off);
  ggo_count_peer(r, GGO_PEER_ATOMICS);
  if (!swap) {
    *old = __atomic_fetch_add(word, v, __ATOMIC_SEQ_CST);
    return GASPI_SUCCESS;
  }
  *old = cmp;
  __atomic_compare_exchange_n(word, old, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return GASPI_SUCCESS;
}

WEAK(atomic_fetch_add)
gaspi_return_t pgaspi_atomic_fetch_add(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t r, gaspi_atomic_value_t v, gaspi_atomic_value_t *old, gaspi_timeout_t t) {
  return atomic(0, id, off, r, 0, v, old, t);
}

WEAK(atomic_compare_swap)
gaspi_return_t pgaspi_atomic_compare_swap(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t r, gaspi_atomic_value_t cmp, gaspi_atomic_value_t v, gaspi_atomic_value_t *old, gaspi_timeout_t t) {
  return atomic(1, id, off, r, cmp, v, old, t);
}
