//go:build capi && cgo && linux

/* Queues, notifications and passive messages. */
#include "library.h"
#include "_cgo_export.h"

/* Gives back the entries that were taken when issued was up_to. */
static void settle(ggo_queue *q, uint64_t up_to) {
  uint64_t settled = atomic_load(&q->settled);
  while (settled < up_to && !atomic_compare_exchange_weak(&q->settled, &settled, up_to)) {
  }
}

/* Waits for operations that Go was told. */
static int wait_for_go(ggo_queue *q, gaspi_queue_id_t queue, gaspi_timeout_t t) {
  uint64_t told = atomic_load(&q->posted);
  if (told == atomic_load(&q->waited)) {
    ggo_count_done(GGO_DONE_WAITS, 1);
    return GASPI_SUCCESS;
  }
  uint64_t start = ggo_clock();
  int rc = GO(ggo_wait(queue, ggo_ms(t)));
  ggo_spent(GGO_TIME_WAIT, start);
  if (rc != GASPI_TIMEOUT) atomic_store(&q->waited, told);
  return rc;
}

WEAK(wait)
gaspi_return_t pgaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t t) {
  NEED_INIT();
  NEED_QUEUE(queue);
  ggo_queue *q = &ggo.queues[queue];
  ggo_count(GGO_WAITS, 1);
  uint64_t issued = atomic_load(&q->issued);
  int rc = wait_for_go(q, queue, t);
  if (rc == GASPI_TIMEOUT || rc == GGO_CLOSED) return ggo_result(rc, t);
  settle(q, issued);
  if (atomic_load_explicit(&q->lost, memory_order_relaxed) && atomic_exchange(&q->lost, 0)) rc = GASPI_ERROR;
  return ggo_result(rc, t);
}

WEAK(queue_size)
gaspi_return_t pgaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t *n) {
  NEED_INIT();
  NEED_QUEUE(queue);
  NEED(n);
  uint64_t settled = atomic_load(&ggo.queues[queue].settled), issued = atomic_load(&ggo.queues[queue].issued);
  *n = issued > settled ? (gaspi_number_t)(issued - settled) : 0;
  return GASPI_SUCCESS;
}

WEAK(queue_num)
gaspi_return_t pgaspi_queue_num(gaspi_number_t *n) {
  NEED_INIT();
  NEED(n);
  *n = 0;
  for (int q = 0; q < GGO_QUEUES; q++) *n += (gaspi_number_t)ggo.queues[q].there;
  return GASPI_SUCCESS;
}

WEAK(queue_create)
gaspi_return_t pgaspi_queue_create(gaspi_queue_id_t *queue, gaspi_timeout_t t) {
  NEED_INIT();
  NEED(queue);
  int rc = GO(ggo_queue_create(queue));
  if (rc == GASPI_SUCCESS) {
    ggo_queue *q = &ggo.queues[*queue];
    settle(q, q->issued);
    q->waited = atomic_load(&q->posted);
    q->lost = 0;
    atomic_store(&q->there, 1);
  }
  return ggo_result(rc, t);
}

WEAK(queue_delete)
gaspi_return_t pgaspi_queue_delete(gaspi_queue_id_t queue) {
  NEED_INIT();
  NEED_QUEUE(queue);
  atomic_store(&ggo.queues[queue].there, 0);
  return ggo_result(GO(ggo_queue_delete(queue)), GASPI_TEST);
}

WEAK(queue_purge)
gaspi_return_t pgaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t t) {
  NEED_INIT();
  NEED_QUEUE(queue);
  ggo_queue *q = &ggo.queues[queue];
  uint64_t issued = atomic_load(&q->issued), told = atomic_load(&q->posted);
  int rc = GO(ggo_queue_purge(queue));
  settle(q, issued);
  atomic_store(&q->waited, told);
  atomic_store(&q->lost, 0);
  return ggo_result(rc, t);
}

/* Looks for a notification that is set, from one after the last that was found on. */
static int find(const ggo_mapping *m, gaspi_segment_id_t id, uint32_t first, uint32_t num, gaspi_notification_id_t *got) {
  if (num == 1) {
    if (!__atomic_load_n(&m->words[first], __ATOMIC_ACQUIRE)) return 0;
    *got = first;
    return 1;
  }
  uint32_t start = atomic_load_explicit(&ggo.cursor[id], memory_order_relaxed) - first;
  if (start >= num) start = 0;
  for (uint32_t i = 0; i < num; i++) {
    uint32_t at = start + i < num ? start + i : start + i - num;
    if (!__atomic_load_n(&m->words[first + at], __ATOMIC_ACQUIRE)) continue;
    atomic_store_explicit(&ggo.cursor[id], first + at + 1, memory_order_relaxed);
    *got = first + at;
    return 1;
  }
  return 0;
}

enum { FEW = 16 }; /* notifications that are looked for again and again before Go is called */

WEAK(notify_waitsome)
gaspi_return_t pgaspi_notify_waitsome(gaspi_segment_id_t id, gaspi_notification_id_t first, gaspi_number_t num,
                                      gaspi_notification_id_t *got, gaspi_timeout_t t) {
  NEED_INIT();
  const ggo_mapping *m = ggo_own(id);
  if (!m) return GASPI_ERR_INV_SEG;
  if (num == 0) return GASPI_SUCCESS;
  NEED(got);
  if (first >= m->count) return GASPI_ERR_INV_NOTIF_ID;
  if (num > m->count - first) return GASPI_ERR_INV_NUM;
  int looks = ggo_ms(t) && num <= FEW ? ggo.place.looks : 1;
  for (;;) {
    if (find(m, id, first, num, got)) return GASPI_SUCCESS;
    if (--looks <= 0) break;
    ggo_relax();
  }
  if (!ggo_ms(t) && !ggo.place.polls) return ggo_not_yet(t);
  uint64_t start = ggo_clock();
  int rc = GO(ggo_waitsome(id, first, num, got, ggo_ms(t)));
  ggo_spent(GGO_TIME_WAITSOME, start);
  return ggo_result(rc, t);
}

WEAK(notify_reset)
gaspi_return_t pgaspi_notify_reset(gaspi_segment_id_t id, gaspi_notification_id_t nid, gaspi_notification_t *old) {
  NEED_INIT();
  const ggo_mapping *m = ggo_own(id);
  if (!m) return GASPI_ERR_INV_SEG;
  if (nid >= m->count) return GASPI_ERR_INV_NOTIF_ID;
  gaspi_notification_t v = __atomic_load_n(&m->words[nid], __ATOMIC_ACQUIRE);
  if (v) v = __atomic_exchange_n(&m->words[nid], 0, __ATOMIC_ACQ_REL);
  if (old) *old = v;
  return GASPI_SUCCESS;
}

WEAK(passive_send)
gaspi_return_t pgaspi_passive_send(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t r, gaspi_size_t size, gaspi_timeout_t t) {
  NEED_INIT();
  NEED_RANK(r);
  if (size < 1 || size > ggo.config.passive_transfer_size_max) return GASPI_ERR_INV_COMMSIZE;
  return ggo_result(GO(ggo_passive_send(id, off, r, size, ggo_ms(t))), t);
}

WEAK(passive_receive)
gaspi_return_t pgaspi_passive_receive(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t *r, gaspi_size_t size, gaspi_timeout_t t) {
  NEED_INIT();
  NEED(r);
  if (size < 1) return GASPI_ERR_INV_COMMSIZE;
  return ggo_result(GO(ggo_passive_receive(id, off, r, size, ggo_ms(t))), t);
}
