/* getters measures what a call of each getter takes: "make -C capi bench" runs it. It prints the least
 * and the median of the blocks of each, in nanoseconds per call. The row "nothing" is the loop alone, and
 * clock_gettime is what the two functions about time cannot be faster than. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "GASPI.h"
#include "GASPI_Ext.h"
#include "gaspigo.h"

enum { BLOCKS = 101, CALLS = 2000 };

static gaspi_rank_t rank;
static gaspi_number_t number;
static gaspi_size_t size;
static gaspi_pointer_t pointer;
static gaspi_time_t milliseconds;
static gaspi_cycles_t ticks;
static gaspi_atomic_value_t word;
static gaspi_network_t network;
static gaspi_config_t config;
static float version;
static gaspi_segment_id_t segments[1];
static gaspi_rank_t *members;
static gaspi_state_t *states;
static unsigned long counter;
static gaspigo_team_t team;
static int place;
static struct timespec moment;

#define GETTERS(of) \
  of(nothing, GASPI_SUCCESS) \
  of(gaspi_proc_rank, gaspi_proc_rank(&rank)) \
  of(gaspi_proc_num, gaspi_proc_num(&rank)) \
  of(gaspi_proc_local_rank, gaspi_proc_local_rank(&rank)) \
  of(gaspi_proc_local_num, gaspi_proc_local_num(&rank)) \
  of(gaspi_initialized, gaspi_initialized(&number)) \
  of(gaspi_version, gaspi_version(&version)) \
  of(gaspi_config_get, gaspi_config_get(&config)) \
  of(gaspi_group_num, gaspi_group_num(&number)) \
  of(gaspi_group_max, gaspi_group_max(&number)) \
  of(gaspi_group_size, gaspi_group_size(GASPI_GROUP_ALL, &number)) \
  of(gaspi_group_ranks, gaspi_group_ranks(GASPI_GROUP_ALL, members)) \
  of(gaspi_segment_num, gaspi_segment_num(&number)) \
  of(gaspi_segment_max, gaspi_segment_max(&number)) \
  of(gaspi_segment_list, gaspi_segment_list(1, segments)) \
  of(gaspi_segment_ptr, gaspi_segment_ptr(0, &pointer)) \
  of(gaspi_segment_size, gaspi_segment_size(0, 0, &size)) \
  of(gaspi_segment_avail_local, gaspi_segment_avail_local(segments)) \
  of(gaspi_queue_num, gaspi_queue_num(&number)) \
  of(gaspi_queue_size, gaspi_queue_size(0, &number)) \
  of(gaspi_queue_size_max, gaspi_queue_size_max(&number)) \
  of(gaspi_queue_max, gaspi_queue_max(&number)) \
  of(gaspi_transfer_size_min, gaspi_transfer_size_min(&size)) \
  of(gaspi_transfer_size_max, gaspi_transfer_size_max(&size)) \
  of(gaspi_notification_num, gaspi_notification_num(&number)) \
  of(gaspi_passive_transfer_size_min, gaspi_passive_transfer_size_min(&size)) \
  of(gaspi_passive_transfer_size_max, gaspi_passive_transfer_size_max(&size)) \
  of(gaspi_atomic_max, gaspi_atomic_max(&word)) \
  of(gaspi_allreduce_buf_size, gaspi_allreduce_buf_size(&size)) \
  of(gaspi_allreduce_elem_max, gaspi_allreduce_elem_max(&number)) \
  of(gaspi_rw_list_elem_max, gaspi_rw_list_elem_max(&number)) \
  of(gaspi_network_type, gaspi_network_type(&network)) \
  of(gaspi_build_infrastructure, gaspi_build_infrastructure(&number)) \
  of(clock_gettime, clock_gettime(CLOCK_MONOTONIC, &moment)) \
  of(gaspi_time_get, gaspi_time_get(&milliseconds)) \
  of(gaspi_time_ticks, gaspi_time_ticks(&ticks)) \
  of(gaspi_state_vec_get, gaspi_state_vec_get(states)) \
  of(gaspi_statistic_counter_max, gaspi_statistic_counter_max(&number)) \
  of(gaspi_statistic_counter_get, gaspi_statistic_counter_get(0, 0, &counter)) \
  of(gaspigo_team_rank, gaspigo_team_rank(team, &place)) \
  of(gaspigo_team_size, gaspigo_team_size(team, &place))

static void fail(const char *call, int code) {
  fprintf(stderr, "getters: %s: return code %d\n", call, code);
  exit(1);
}

#define BATCH(name, call) \
  static void batch_##name(void) { \
    for (int i = 0; i < CALLS; i++) { \
      int code = (int)(call); \
      if (code != GASPI_SUCCESS) fail(#name, code); \
      __asm__ __volatile__("" : : : "memory"); \
    } \
  }
GETTERS(BATCH)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int order(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *name, void (*batch)(void)) {
  double took[BLOCKS];
  batch();
  for (int b = 0; b < BLOCKS; b++) {
    double start = now();
    batch();
    took[b] = (now() - start) / CALLS;
  }
  qsort(took, BLOCKS, sizeof *took, order);
  printf("%-32s %8.1f %8.1f\n", name, took[0], took[BLOCKS / 2]);
}

#define MUST(call) do { int code_ = (int)(call); if (code_ != GASPI_SUCCESS) fail(#call, code_); } while (0)

int main(void) {
  MUST(gaspi_proc_init(GASPI_BLOCK));
  gaspi_rank_t me, ranks;
  MUST(gaspi_proc_rank(&me));
  MUST(gaspi_proc_num(&ranks));
  MUST(gaspi_segment_create(0, 4096, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  MUST(gaspigo_team_new(GASPI_GROUP_ALL, 0, GASPI_BLOCK, &team));
  members = malloc(ranks * sizeof *members);
  states = malloc(ranks * sizeof *states);
  if (!members || !states) fail("malloc", GASPI_ERR_MEMALLOC);
  if (me == 0) {
    printf("%-32s %8s %8s\n", "ns per call", "least", "median");
#define ROW(name, call) measure(#name, batch_##name);
    GETTERS(ROW)
    fflush(stdout);
  }
  MUST(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  return gaspi_proc_term(GASPI_BLOCK) == GASPI_SUCCESS ? 0 : 1;
}
