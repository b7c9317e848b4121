//go:build capi && cgo && linux

/* The process: configuration, start, end, who it is. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"
#include "_cgo_export.h"

ggo_library ggo = {
  .config = {
    .logger = 1, .sn_port = 12121, .net_info = 0, .user_net = 0, .sn_persistent = 1, .sn_timeout = 30000,
    .dev_config = { GASPI_ETHERNET, { { -1, 0, 1 }, { 19000 }, { 1, 0, 1 } } },
    .network = GASPI_ETHERNET, .queue_size_max = 1024, .queue_num = 8, .group_max = 32, .segment_max = 255,
    .transfer_size_max = 1073741824, .notification_num = 65536, .passive_queue_size_max = 1024,
    .passive_transfer_size_max = 65535, .allreduce_buf_size = 2040, .allreduce_elem_max = 255,
    .rw_list_elem_max = 255, .build_infrastructure = GASPI_TOPOLOGY_STATIC, .user_defined = NULL,
  },
};

static _Atomic int forked; /* this is a child of the process that loaded the library: it has no threads of Go */
static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;

/* A loop around GASPI_TEST keeps its core from the rank that it waits for, where they share it. */
gaspi_return_t ggo_not_yet(gaspi_timeout_t t) {
  if (ggo.place.shares && ggo_ms(t) == GASPI_TEST) sched_yield();
  return GASPI_TIMEOUT;
}

gaspi_return_t ggo_result(int rc, gaspi_timeout_t t) {
  if (rc == GASPI_TIMEOUT) return ggo_not_yet(t);
  if (rc == GGO_LOST) return GASPI_ERROR;
  if (rc != GGO_CLOSED) return (gaspi_return_t)rc;
  if (ggo_inside()) return GASPI_ERROR; /* the group, queue or segment was deleted */
  while (ggo_ms(t) == UINT64_MAX) pause();
  return GASPI_TIMEOUT;
}

WEAK(config_get)
gaspi_return_t pgaspi_config_get(gaspi_config_t *c) {
  NEED(c);
  *c = ggo.config;
  return GASPI_SUCCESS;
}

static int in(unsigned long v, unsigned long least, unsigned long most) { return v >= least && v <= most; }

WEAK(config_set)
gaspi_return_t pgaspi_config_set(const gaspi_config_t c) {
  if (ggo_inside()) return GASPI_ERR_INITED;
  unsigned mtu = c.dev_config.params.ib.mtu;
  if (!in(c.sn_port, 1024, 65536) || !in(c.queue_size_max, 1, 4096) || !in(c.queue_num, 1, GGO_QUEUES) ||
      !in(c.segment_max, 1, 255) || c.transfer_size_max > 1073741824 || c.passive_transfer_size_max > 65535 ||
      !in(c.rw_list_elem_max, 1, 255) || c.network != GASPI_ETHERNET ||
      (mtu != 0 && mtu != 1024 && mtu != 2048 && mtu != 4096))
    return GASPI_ERR_CONFIG;
  ggo.config = c;
  ggo.config.allreduce_buf_size = 8ul * c.allreduce_elem_max;
  return GASPI_SUCCESS;
}

WEAK(version)
gaspi_return_t pgaspi_version(float *v) {
  NEED(v);
  *v = 1.6f;
  return GASPI_SUCCESS;
}

static void in_child(void) {
  atomic_store(&forked, 1);
  atomic_store(&ggo.phase, GGO_OUTSIDE);
}

static int opened(void) {
  GO(ggo_get_place(&ggo.place));
  for (unsigned q = 0; q < GGO_QUEUES; q++) {
    memset((void *)&ggo.queues[q], 0, sizeof ggo.queues[q]);
    ggo.queues[q].there = q < ggo.config.queue_num;
  }
  return ggo_groups_open() && ggo_windows_open(ggo.place.size);
}

static uint32_t at_least(uint32_t v, uint32_t least) { return v < least ? least : v; }

static gaspi_return_t join(gaspi_timeout_t t) {
  ggo_config c = {
    .queues = ggo.config.queue_num, .queue_depth = ggo.config.queue_size_max, .groups = at_least(ggo.config.group_max, 2),
    .notifications = at_least(ggo.config.notification_num, 1),
    .allreduce_elements = at_least(ggo.config.allreduce_elem_max, 1),
    .passive_bytes = at_least(ggo.config.passive_transfer_size_max, 1), .list_entries = ggo.config.rw_list_elem_max,
    .transfer_bytes = ggo.config.transfer_size_max,
  };
  ggo_start_clock();
  ggo_sweep_signals();
  ggo_join_mpi();
  int rc = GO(ggo_init(&c, ggo_ms(t)));
  if (rc != GASPI_SUCCESS) return (gaspi_return_t)rc;
  if (!opened() || !GO(ggo_watch((char *)ggo.gone))) return GASPI_ERR_MEMALLOC;
  atomic_store_explicit(&ggo.phase, GGO_INSIDE, memory_order_release);
  return GASPI_SUCCESS;
}

WEAK(proc_init)
gaspi_return_t pgaspi_proc_init(gaspi_timeout_t t) {
  static int watching;
  if (atomic_load(&forked)) return GASPI_ERR_NOINIT;
  pthread_mutex_lock(&joining);
  if (!watching && pthread_atfork(NULL, NULL, in_child) == 0) watching = 1;
  gaspi_return_t rc = ggo_inside() ? GASPI_ERR_INITED : join(t);
  pthread_mutex_unlock(&joining);
  return rc;
}

WEAK(proc_term)
gaspi_return_t pgaspi_proc_term(gaspi_timeout_t t) {
  (void)t;
  int inside = GGO_INSIDE;
  if (!atomic_compare_exchange_strong(&ggo.phase, &inside, GGO_ENDED)) return GASPI_ERR_NOINIT;
  fflush(stdout);
  for (int id = 0; id < GGO_IDS; id++) ggo_own_deleted((gaspi_segment_id_t)id);
  ggo_teams_ended();
  return (gaspi_return_t)GO(ggo_term());
}

WEAK(initialized)
gaspi_return_t pgaspi_initialized(gaspi_number_t *n) {
  NEED(n);
  *n = (gaspi_number_t)ggo_inside();
  return GASPI_SUCCESS;
}

WEAK(proc_rank)
gaspi_return_t pgaspi_proc_rank(gaspi_rank_t *r) { GET(r, (gaspi_rank_t)ggo.place.rank); }

WEAK(proc_num)
gaspi_return_t pgaspi_proc_num(gaspi_rank_t *n) { GET(n, (gaspi_rank_t)ggo.place.size); }

WEAK(proc_local_rank)
gaspi_return_t pgaspi_proc_local_rank(gaspi_rank_t *r) { GET(r, (gaspi_rank_t)ggo.place.local_rank); }

WEAK(proc_local_num)
gaspi_return_t pgaspi_proc_local_num(gaspi_rank_t *n) { GET(n, (gaspi_rank_t)ggo.place.local_size); }

WEAK(proc_kill)
gaspi_return_t pgaspi_proc_kill(gaspi_rank_t r, gaspi_timeout_t t) {
  NEED_INIT();
  NEED_RANK(r);
  if (r == ggo.place.rank) return GASPI_ERR_INV_RANK;
  return ggo_result(GO(ggo_kill(r, ggo_ms(t))), t);
}

WEAK(proc_ping)
gaspi_return_t pgaspi_proc_ping(gaspi_rank_t r, gaspi_timeout_t t) {
  NEED_INIT();
  NEED_RANK(r);
  return ggo_result(GO(ggo_ping(r, ggo_ms(t))), t);
}

/* Ranks are connected when they are first used. */
static gaspi_return_t is_rank(gaspi_rank_t r) {
  NEED_INIT();
  NEED_RANK(r);
  return GASPI_SUCCESS;
}

WEAK(connect)
gaspi_return_t pgaspi_connect(gaspi_rank_t r, gaspi_timeout_t t) { (void)t; return is_rank(r); }

WEAK(disconnect)
gaspi_return_t pgaspi_disconnect(gaspi_rank_t r, gaspi_timeout_t t) { (void)t; return is_rank(r); }

WEAK(state_vec_get)
gaspi_return_t pgaspi_state_vec_get(gaspi_state_vector_t v) {
  NEED_INIT();
  NEED(v);
  int lost = 0;
  for (int r = 0; r < ggo.place.size; r++) {
    int gone = __atomic_load_n(&ggo.gone[r], __ATOMIC_RELAXED);
    v[r] = gone ? GASPI_STATE_CORRUPT : GASPI_STATE_HEALTHY;
    lost |= gone;
  }
  if (lost) GO(ggo_acknowledge(v, (uint32_t)ggo.place.size));
  return GASPI_SUCCESS;
}
