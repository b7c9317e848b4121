/* Calls beyond GASPI: collective operations of teams, objects with names, stale reductions.
 *
 * Functions return the codes of gaspi_return_t as int. gaspigo_error returns the text of the last error of the
 * calling thread, also where a function of this header returns a handle or an address. Timeouts are milliseconds,
 * GASPI_BLOCK or GASPI_TEST: after GASPI_TIMEOUT the same call goes on, unless it says otherwise.
 *
 * A handle is a number that is not 0. It keeps what it stands for, and the memory of it, until it is closed, freed
 * or released. gaspi_proc_term ends all of them. Counts are of elements; sizes are in bytes. Memory is memory of the
 * caller, which is valid until the call, or the request that it began, has ended. */
#ifndef GASPIGO_H
#define GASPIGO_H

#include "GASPI_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long gaspigo_handle_t;
typedef gaspigo_handle_t gaspigo_team_t;      /* ranks that act together */
typedef gaspigo_handle_t gaspigo_request_t;   /* an operation that was started */
typedef gaspigo_handle_t gaspigo_plan_t;      /* an operation that is run often */
typedef gaspigo_handle_t gaspigo_store_t;     /* objects with names */
typedef gaspigo_handle_t gaspigo_view_t;      /* an object that is read in place */
typedef gaspigo_handle_t gaspigo_reduction_t; /* a stale reduction */

typedef enum {
  GASPIGO_INT8 = 0,
  GASPIGO_INT16 = 1,
  GASPIGO_INT32 = 2,
  GASPIGO_INT64 = 3,
  GASPIGO_UINT8 = 4,
  GASPIGO_UINT16 = 5,
  GASPIGO_UINT32 = 6,
  GASPIGO_UINT64 = 7,
  GASPIGO_FLOAT16 = 8,
  GASPIGO_BFLOAT16 = 9,
  GASPIGO_FLOAT32 = 10,
  GASPIGO_FLOAT64 = 11,
  GASPIGO_COMPLEX64 = 12,
  GASPIGO_COMPLEX128 = 13
} gaspigo_type_t;

typedef enum {
  GASPIGO_SUM = 0,
  GASPIGO_PROD = 1,
  GASPIGO_MIN = 2,
  GASPIGO_MAX = 3,
  GASPIGO_AND = 4,
  GASPIGO_OR = 5,
  GASPIGO_XOR = 6
} gaspigo_op_t;

/* The collective operations. Of n members, with count elements: */
typedef enum {
  GASPIGO_BARRIER = 0,
  GASPIGO_ALLREDUCE = 1,        /* count at src, count at dst; in place if src is NULL */
  GASPIGO_REDUCE = 2,           /* likewise; the result is at the root */
  GASPIGO_BROADCAST = 3,        /* count at dst, from the root's */
  GASPIGO_ALLGATHER = 4,        /* count at src, n * count at dst */
  GASPIGO_GATHER = 5,           /* likewise; dst at the root alone */
  GASPIGO_SCATTER = 6,          /* n * count at src of the root, count at dst */
  GASPIGO_REDUCE_SCATTER = 7,   /* n * count at src, count at dst */
  GASPIGO_ALLTOALL = 8,         /* n * count at src, n * count at dst */
  GASPIGO_SCAN = 9,             /* count at dst, in place */
  GASPIGO_EXSCAN = 10,          /* count at dst, in place */
  GASPIGO_ALLGATHERV = 11,      /* receives[r] elements of member r, at dst; the own ones at src */
  GASPIGO_GATHERV = 12,         /* likewise; dst at the root alone */
  GASPIGO_SCATTERV = 13,        /* receives[r] elements for member r, at src of the root; the own ones at dst */
  GASPIGO_REDUCE_SCATTERV = 14, /* receives[r] elements for member r; the sum of all at src */
  GASPIGO_ALLTOALLV = 15        /* sends[r] elements to member r, at src; receives[r] from it, at dst */
} gaspigo_call_t;

/* A task is one member's part in an operation. Fields that a call does not need are 0. The struct and its arrays of
 * counts are copied. */
typedef struct {
  int call; /* gaspigo_call_t */
  int type; /* gaspigo_type_t */
  int op;   /* gaspigo_op_t */
  int root; /* number in the team */
  void *dst;
  const void *src;
  gaspi_size_t count;
  const gaspi_size_t *receives; /* an entry per member, of the calls with V */
  const gaspi_size_t *sends;
  const char *algorithm; /* NULL or "" leaves the choice to the library */
} gaspigo_task_t;

/* The text of the last error in this thread, empty if there was none. It is valid until the thread's next call. */
const char *gaspigo_error(void);

/* Says that the next call of this thread with a timeout goes on where others left off that have waited for so many
 * milliseconds: what gaspi-run says of waits that last has them too. A program calls it whose calls have short timeouts
 * because it looks at something else in between. */
int gaspigo_waited(gaspi_timeout_t ms);

/* Teams. A new team of a group of GASPI is made by all of its members, with equal tags; split makes one for each
 * color, in the order of key, and *team is 0 for a member with a color below 0. */
int gaspigo_team_new(gaspi_group_t group, unsigned int tag, gaspi_timeout_t timeout_ms, gaspigo_team_t *team);
int gaspigo_team_split(gaspigo_team_t team, int color, int key, gaspi_timeout_t timeout_ms, gaspigo_team_t *split);
int gaspigo_team_close(gaspigo_team_t team);
int gaspigo_team_rank(gaspigo_team_t team, int *rank);
int gaspigo_team_size(gaspigo_team_t team, int *size);
int gaspigo_team_ranks(gaspigo_team_t team, gaspi_rank_t *ranks); /* an entry per member */

/* After a failure: revoke ends the calls of all members, agree combines flags of those that are left by AND, and
 * shrink makes a team of these. */
int gaspigo_team_revoke(gaspigo_team_t team, const char *cause);
int gaspigo_team_agree(gaspigo_team_t team, unsigned int flags, gaspi_timeout_t timeout_ms, unsigned int *agreed);
int gaspigo_team_shrink(gaspigo_team_t team, gaspi_timeout_t timeout_ms, gaspigo_team_t *shrunk);

/* Memory that members reach directly, so that operations in it spare copies. All members call both, in one order. */
int gaspigo_alloc(gaspigo_team_t team, gaspi_size_t bytes, gaspi_timeout_t timeout_ms, void **mem);
int gaspigo_release(gaspigo_team_t team, void *mem, gaspi_timeout_t timeout_ms);

/* Operations. One call of a team is made at a time, in one order on all members. A request makes progress in a thread
 * of its own and during calls of its team. gaspigo_join waits for it as gaspigo_wait does, but is no call of the team:
 * any thread may join a request while another calls the team. A request is freed by gaspigo_request_free alone, after it
 * has ended. */
int gaspigo_do(gaspigo_team_t team, const gaspigo_task_t *task, gaspi_timeout_t timeout_ms);
int gaspigo_start(gaspigo_team_t team, const gaspigo_task_t *task, gaspi_timeout_t timeout_ms, gaspigo_request_t *request);
int gaspigo_test(gaspigo_request_t request, int *done);
int gaspigo_wait(gaspigo_request_t request, gaspi_timeout_t timeout_ms);
int gaspigo_join(gaspigo_request_t request, gaspi_timeout_t timeout_ms);
int gaspigo_request_free(gaspigo_request_t request);

/* Plans: made by all members, then run by all any number of times, with the memory of the task. */
int gaspigo_plan_new(gaspigo_team_t team, const gaspigo_task_t *task, gaspi_timeout_t timeout_ms, gaspigo_plan_t *plan);
int gaspigo_plan_run(gaspigo_plan_t plan, gaspi_timeout_t timeout_ms);
int gaspigo_plan_start(gaspigo_plan_t plan, gaspigo_request_t *request);
int gaspigo_plan_close(gaspigo_plan_t plan);

/* gaspigo_do by name. */
int gaspigo_barrier(gaspigo_team_t team, gaspi_timeout_t timeout_ms);
int gaspigo_allreduce(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, int op, gaspi_timeout_t timeout_ms);
int gaspigo_reduce(gaspigo_team_t team, int root, void *dst, const void *src, gaspi_size_t count, int type, int op, gaspi_timeout_t timeout_ms);
int gaspigo_broadcast(gaspigo_team_t team, int root, void *mem, gaspi_size_t count, int type, gaspi_timeout_t timeout_ms);
int gaspigo_allgather(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, gaspi_timeout_t timeout_ms);
int gaspigo_reduce_scatter(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, int op, gaspi_timeout_t timeout_ms);
int gaspigo_alltoall(gaspigo_team_t team, void *dst, const void *src, gaspi_size_t count, int type, gaspi_timeout_t timeout_ms);

/* Stores of objects, opened by all ranks of a group with equal capacities: bytes of objects at each rank. An object
 * is put once and read anywhere; a get waits for its put. */
int gaspigo_store_open(gaspi_group_t group, gaspi_size_t capacity, unsigned int tag, gaspi_timeout_t timeout_ms, gaspigo_store_t *store);
int gaspigo_store_close(gaspigo_store_t store, gaspi_timeout_t timeout_ms);
int gaspigo_put(gaspigo_store_t store, const char *id, const void *data, gaspi_size_t bytes, gaspi_timeout_t timeout_ms);
/* Copies an object of at most capacity bytes and sets *bytes to its size. */
int gaspigo_get(gaspigo_store_t store, const char *id, void *data, gaspi_size_t capacity, gaspi_size_t *bytes, gaspi_timeout_t timeout_ms);
/* Reads an object in place until the view is released. */
int gaspigo_view(gaspigo_store_t store, const char *id, gaspi_timeout_t timeout_ms, gaspigo_view_t *view, const void **data, gaspi_size_t *bytes);
int gaspigo_view_release(gaspigo_view_t view);
int gaspigo_delete(gaspigo_store_t store, const char *id, gaspi_timeout_t timeout_ms);
/* Makes object target of the first k of num objects that are there; k 0 is all. Sets used[i] to 1 for those, if used
 * is not NULL. */
int gaspigo_store_reduce(gaspigo_store_t store, const char *target, const char *const *ids, gaspi_size_t num, gaspi_size_t k, int type, int op,
                         gaspi_timeout_t timeout_ms, unsigned char *used);
/* Waits until one of num objects is complete at some rank, and sets *which to its place in ids. */
int gaspigo_store_wait(gaspigo_store_t store, const char *const *ids, gaspi_size_t num, gaspi_timeout_t timeout_ms, gaspi_size_t *which);

/* Stale reductions: an allreduce whose result has contributions that are at most slack rounds old. type is a 32-bit or
 * 64-bit integer or float, op any that it has: GASPIGO_AND, GASPIGO_OR and GASPIGO_XOR are of integers. mine and out have the
 * count of the reduction. *oldest and *newest, if not NULL, are the rounds of the contributions in out. */
int gaspigo_reduction_new(gaspi_group_t group, gaspi_size_t count, int type, int op, int slack, unsigned int tag, gaspi_timeout_t timeout_ms,
                          gaspigo_reduction_t *reduction);
int gaspigo_reduction_run(gaspigo_reduction_t reduction, const void *mine, void *out, gaspi_timeout_t timeout_ms, long *oldest, long *newest);
int gaspigo_reduction_clock(gaspigo_reduction_t reduction, long *clock);
int gaspigo_reduction_close(gaspigo_reduction_t reduction, gaspi_timeout_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
