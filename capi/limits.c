//go:build capi && cgo && linux

/* Limits, kinds, time and texts. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "library.h"

WEAK(group_max)
gaspi_return_t pgaspi_group_max(gaspi_number_t *n) { GET(n, ggo.config.group_max); }

WEAK(segment_max)
gaspi_return_t pgaspi_segment_max(gaspi_number_t *n) { GET(n, ggo.config.segment_max); }

WEAK(queue_size_max)
gaspi_return_t pgaspi_queue_size_max(gaspi_number_t *n) { GET(n, ggo.config.queue_size_max); }

WEAK(queue_max)
gaspi_return_t pgaspi_queue_max(gaspi_number_t *n) { GET(n, GGO_QUEUES); }

WEAK(transfer_size_min)
gaspi_return_t pgaspi_transfer_size_min(gaspi_size_t *n) { GET(n, 0); }

WEAK(transfer_size_max)
gaspi_return_t pgaspi_transfer_size_max(gaspi_size_t *n) { GET(n, ggo.config.transfer_size_max); }

WEAK(notification_num)
gaspi_return_t pgaspi_notification_num(gaspi_number_t *n) { GET(n, ggo.config.notification_num); }

WEAK(passive_transfer_size_min)
gaspi_return_t pgaspi_passive_transfer_size_min(gaspi_size_t *n) { GET(n, 1); }

WEAK(passive_transfer_size_max)
gaspi_return_t pgaspi_passive_transfer_size_max(gaspi_size_t *n) { GET(n, ggo.config.passive_transfer_size_max); }

WEAK(atomic_max)
gaspi_return_t pgaspi_atomic_max(gaspi_atomic_value_t *v) { GET(v, UINT64_MAX); }

WEAK(allreduce_buf_size)
gaspi_return_t pgaspi_allreduce_buf_size(gaspi_size_t *n) { GET(n, 8ul * ggo.config.allreduce_elem_max); }

WEAK(allreduce_elem_max)
gaspi_return_t pgaspi_allreduce_elem_max(gaspi_number_t *n) { GET(n, ggo.config.allreduce_elem_max); }

WEAK(rw_list_elem_max)
gaspi_return_t pgaspi_rw_list_elem_max(gaspi_number_t *n) { GET(n, ggo.config.rw_list_elem_max); }

WEAK(network_type)
gaspi_return_t pgaspi_network_type(gaspi_network_t *n) { GET(n, ggo.config.network); }

WEAK(build_infrastructure)
gaspi_return_t pgaspi_build_infrastructure(gaspi_number_t *n) { GET(n, (gaspi_number_t)ggo.config.build_infrastructure); }

uint64_t ggo_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

WEAK(time_ticks)
gaspi_return_t pgaspi_time_ticks(gaspi_cycles_t *c) {
  NEED(c);
  *c = ggo_nanoseconds();
  return GASPI_SUCCESS;
}

WEAK(time_get)
gaspi_return_t pgaspi_time_get(gaspi_time_t *t) {
  NEED(t);
  *t = (gaspi_time_t)((double)ggo_nanoseconds() * 1e-6);
  return GASPI_SUCCESS;
}

WEAK(cpu_frequency)
gaspi_return_t pgaspi_cpu_frequency(gaspi_float *f) {
  NEED(f);
  *f = 1000.0f; /* ticks are nanoseconds */
  return GASPI_SUCCESS;
}

WEAK(numa_socket)
gaspi_return_t pgaspi_numa_socket(gaspi_uchar *s) {
  NEED(s);
  return GASPI_ERR_ENV; /* no starter binds ranks to sockets by GASPI_SET_NUMA_SOCKET */
}

/* Sets bits of cpus from a list such as "0-3,8-11". */
static void add_cores(cpu_set_t *cpus, const char *list) {
  while (*list >= '0' && *list <= '9') {
    char *end;
    long first = strtol(list, &end, 10), last = first;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    for (long c = first; c <= last && c < CPU_SETSIZE; c++) CPU_SET((size_t)c, cpus);
    list = *end == ',' ? end + 1 : end;
  }
}

WEAK(set_socket_affinity)
gaspi_return_t pgaspi_set_socket_affinity(const gaspi_uchar socket) {
  char path[64], list[4096];
  snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", (unsigned)socket);
  FILE *f = fopen(path, "r");
  if (!f) return GASPI_ERROR;
  char *got = fgets(list, sizeof list, f);
  fclose(f);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (got) add_cores(&cpus, list);
  return CPU_COUNT(&cpus) > 0 && sched_setaffinity(0, sizeof cpus, &cpus) == 0 ? GASPI_SUCCESS : GASPI_ERROR;
}

static const char *const texts[] = {
  "general error", "success", "time is over", "too many open files", "environment variables are missing or wrong",
  "port cannot be used", "configuration value is out of range", "gaspi_proc_init comes first", "the process is initialised",
  "null pointer", "segment size is 0 or too large", "no such segment, or its id is taken", "no such group", "no such rank, or not this one",
  "no such queue", "offset and size are outside of the local segment", "offset and size are outside of the remote segment",
  "size of a transfer is out of range", "notification value is 0", "no such notification", "number of elements is out of range",
  "size of elements is out of range", "too many segments", "too many groups", "queue is full: wait on it",
  "offset is no multiple of 8", "another collective operation of the group has not ended", "device error",
  "lost the launcher of the job", "out of memory",
};

WEAK(error_str)
gaspi_string_t pgaspi_error_str(gaspi_return_t code) {
  size_t i = (size_t)((int)code + 1);
  return (gaspi_string_t)(i < sizeof texts / sizeof *texts ? texts[i] : "no such return code");
}

WEAK(print_error)
gaspi_return_t pgaspi_print_error(gaspi_return_t code, gaspi_string_t *msg) {
  NEED(msg);
  *msg = strdup(pgaspi_error_str(code));
  return *msg ? GASPI_SUCCESS : GASPI_ERR_MEMALLOC;
}

WEAK(printf)
void pgaspi_printf(const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vprintf(fmt, args);
  va_end(args);
  fflush(stdout);
}

WEAK(printf_to)
void pgaspi_printf_to(gaspi_rank_t rank, const char *fmt, ...) {
  (void)rank; /* the launcher has the output of all ranks */
  va_list args;
  va_start(args, fmt);
  vprintf(fmt, args);
  va_end(args);
  fflush(stdout);
}

WEAK(print_affinity_mask)
void pgaspi_print_affinity_mask(void) {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus)) return;
  printf("cores:");
  for (size_t c = 0; c < CPU_SETSIZE; c++)
    if (CPU_ISSET(c, &cpus)) printf(" %zu", c);
  printf("\n");
  fflush(stdout);
}

WEAK(delay)
void pgaspi_delay(void) { ggo_relax(); }
