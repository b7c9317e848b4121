/* 16 threads on all calls that several may make at a time, and the helpers of GASPI_Threads.h. */
#include "check.h"
#include "GASPI_Threads.h"

enum { THREADS = 16, ROUNDS = 100 };

static _Atomic int finished;

static void *work(void *arg) {
  (void)arg;
  gaspi_int tid, me, total;
  OK(gaspi_threads_register(&tid));
  OK(gaspi_threads_get_tid(&me));
  IS(tid, me);
  OK(gaspi_threads_get_total(&total));
  IS(THREADS, total);
  const gaspi_queue_id_t q = (gaspi_queue_id_t)(tid % 8);
  const gaspi_rank_t to = (gaspi_rank_t)(num - 1 - rank); /* its partner has this one */
  const gaspi_notification_id_t mine = (gaspi_notification_id_t)tid;
  const gaspi_offset_t at = (gaspi_offset_t)tid * 64;
  gaspi_pointer_t p;
  OK(gaspi_segment_ptr(0, &p));
  for (int i = 1; i <= ROUNDS; i++) {
    gaspi_atomic_value_t old;
    gaspi_number_t n;
    gaspi_size_t z;
    *(int *)(void *)((char *)p + at) = i;
    gaspi_return_t rc;
    while ((rc = gaspi_write_notify(0, at, to, 0, 4096 + at, 4, mine, (gaspi_notification_t)i, q, GASPI_BLOCK)) == GASPI_QUEUE_FULL) OK(gaspi_wait(q, GASPI_BLOCK));
    OK(rc);
    IS(i, await(0, mine));
    IS(i, *(int *)(void *)((char *)p + 4096 + at));
    OK(gaspi_atomic_fetch_add(0, 8192, 0, 1, &old, GASPI_BLOCK));
    OK(gaspi_notify(0, to, 100 + mine, 1, q, GASPI_BLOCK));
    await(0, 100 + mine);
    OK(gaspi_read(0, at + 32, to, 0, at, 4, q, GASPI_BLOCK));
    OK(gaspi_wait(q, GASPI_BLOCK));
    OK(gaspi_queue_size(q, &n));
    OK(gaspi_segment_size(0, to, &z));
    OK(gaspi_group_size(GASPI_GROUP_ALL, &n));
    gaspi_segment_id_t own = (gaspi_segment_id_t)(10 + tid);
    OK(gaspi_segment_alloc(own, 128, GASPI_ALLOC_DEFAULT));
    OK(gaspi_write(own, 0, rank, own, 64, 8, q, GASPI_BLOCK));
    OK(gaspi_segment_delete(own));
    gaspi_state_t state[64];
    OK(gaspi_state_vec_get(state));
    if (i % 10 == 0) barrier(); /* of all threads at a time: they take turns */
    if (i % 20 == 0) OK(gaspi_threads_sync_all(GASPI_GROUP_ALL, GASPI_BLOCK));
    if (tid == 1) {
      gaspi_rank_t from;
      OK(gaspi_passive_receive(0, 12288, &from, 8, GASPI_BLOCK));
    }
    if (tid == 2) OK(gaspi_passive_send(0, at, to, 8, GASPI_BLOCK));
  }
  finished++;
  gaspi_threads_sync();
  return NULL;
}

int main(void) {
  start();
  segment(0, 16384);
  gaspi_int cores;
  OK(gaspi_threads_get_num_cores(&cores));
  HOLDS(cores > 0);
  HOLDS(gaspi_threads_term() != GASPI_SUCCESS);
  OK(gaspi_threads_init(&cores));
  HOLDS(gaspi_threads_init_user(3) != GASPI_SUCCESS);
  OK(gaspi_threads_term());
  OK(gaspi_threads_init_user(THREADS));
  for (int i = 1; i < THREADS; i++) OK(gaspi_threads_run(work, NULL));
  work(NULL);
  IS(THREADS, finished);
  gaspi_atomic_value_t old;
  barrier();
  OK(gaspi_atomic_fetch_add(0, 8192, 0, 0, &old, GASPI_BLOCK));
  IS(THREADS * ROUNDS * num, old);
  finish();
  return 0;
}
