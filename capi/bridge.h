/* Between the C and the Go files of the library. */
#ifndef GGO_BRIDGE_H
#define GGO_BRIDGE_H

#include <stdint.h>

#include "include/GASPI_Ext.h"
#include "include/gaspigo.h"
#include "include/PGASPI.h"

/* Results of Go functions beside gaspi_return_t. */
enum {
  GGO_LOST = -2,  /* the rank is gone: an operation counts as posted, and the next wait fails */
  GGO_CLOSED = -3 /* the process, a segment or a queue was closed under the call */
};

enum { GGO_QUEUES = 16, GGO_IDS = 256 };

typedef struct {
  uint32_t queues, queue_depth, groups, notifications, allreduce_elements, passive_bytes, list_entries;
  uint64_t transfer_bytes;
} ggo_config;

typedef struct {
  int32_t rank, size, local_rank, local_size;
  int32_t looks;  /* how often a wait looks before it calls Go */
  int32_t polls;  /* whether somebody has to poll, so that notifications arrive */
  int32_t shares; /* whether ranks of this host share cores */
} ggo_place;

/* A segment in the memory of this process. live is NULL for one of this rank. */
typedef struct {
  char *data;
  uint64_t size;
  uint32_t *wake;
  uint32_t *words;
  uint32_t count;
  uint64_t *live;
  uint64_t generation;
} ggo_mapping;

/* A signal of a barrier: a word of another rank, and what goes with it. */
typedef struct {
  gaspi_rank_t rank;
  uint32_t *word, *wake;
  uint64_t *live;
  uint64_t generation;
} ggo_signal;

enum { GGO_AT_ONCE = 15 }; /* members that one signals in one round of a barrier, at most */

/* Where the signals of a group's barrier lie: a gaspi.BarrierMapping. */
typedef struct {
  uint32_t number; /* of the last one that has ended */
  uint32_t count;  /* of to, and words from from on */
  const uint32_t *from;
  ggo_signal to[GGO_AT_ONCE];
} ggo_barrier_words;

/* What is counted of each rank: what C carried out, and posts for which a queue had no room. */
enum {
  GGO_PEER_WRITES, GGO_PEER_BYTES_WRITTEN, GGO_PEER_READS, GGO_PEER_BYTES_READ, GGO_PEER_NOTIFIES, GGO_PEER_FULL,
  GGO_PEER_ATOMICS, GGO_PEER_COUNTS
};

/* What C did without Go, beside transfers. */
typedef struct {
  uint64_t waits;    /* calls of gaspi_wait */
  uint64_t barriers, barrier_nanoseconds;
} ggo_done;

/* Sets done, and peers, which has GGO_PEER_COUNTS entries for each of all ranks of the job, to what all threads have
 * counted. */
void ggo_counted(ggo_done *done, uint64_t *peers, uint32_t ranks);

/* What gaspigo_waited has said in this thread, in milliseconds, once; else 0. */
uint64_t ggo_take_waited(void);

/* Sets the text of gaspigo_error of this thread. */
void ggo_set_error(const char *text);

gaspi_return_t ggo_call_reduce(gaspi_reduce_operation_t fn, char *a, char *b, char *result, char *state,
                               uint32_t num, uint64_t element_size, uint64_t timeout_ms);

#endif
