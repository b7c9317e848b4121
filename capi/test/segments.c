/* Segments of every kind, made, registered, deleted, and made again under the same id. */
#include "check.h"

static void send(gaspi_segment_id_t id, char *mem, gaspi_rank_t to, gaspi_rank_t from, int value) {
  mem[0] = (char)(value + rank);
  OK(gaspi_write_notify(id, 0, to, id, 8, 1, 0, 1, 0, GASPI_BLOCK));
  await(id, 0);
  IS((char)(value + from), mem[8]);
  OK(gaspi_wait(0, GASPI_BLOCK));
}

int main(void) {
  start();
  gaspi_rank_t to = (gaspi_rank_t)((rank + 1) % num), from = (gaspi_rank_t)((rank + num - 1) % num);
  static char own[1 << 16] __attribute__((aligned(4096)));
  gaspi_pointer_t p;
  gaspi_number_t n;
  gaspi_size_t z;
  gaspi_segment_id_t ids[8], free_id;
  OK(gaspi_segment_num(&n));
  IS(0, n);
  for (int round = 0; round < 40; round++) {
    OK(gaspi_segment_create(2, 64 + (gaspi_size_t)round * 100, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
    OK(gaspi_segment_ptr(2, &p));
    IS(0, (unsigned long)p % 4096);
    IS(0, ((char *)p)[20]);
    send(2, p, to, from, round);
    barrier();
    OK(gaspi_segment_delete(2));
  }
  /* alloc, registered with each rank; the own one may use it at once */
  OK(gaspi_segment_alloc(3, 4096, GASPI_ALLOC_DEFAULT));
  OK(gaspi_segment_ptr(3, &p));
  ((char *)p)[0] = 5;
  OK(gaspi_write(3, 0, rank, 3, 16, 1, 0, GASPI_BLOCK));
  OK(gaspi_wait(0, GASPI_BLOCK));
  IS(5, ((char *)p)[16]);
  for (gaspi_rank_t r = 0; r < num; r++) OK(gaspi_segment_register(3, r, GASPI_BLOCK));
  barrier();
  send(3, p, to, from, 7);
  OK(gaspi_segment_size(3, to, &z));
  IS(4096, z);
  OK(gaspi_segment_size(3, rank, &z));
  IS(4096, z);
  HOLDS(gaspi_segment_size(77, to, &z) != GASPI_SUCCESS);
  barrier();
  /* memory of the program */
  OK(gaspi_segment_use(4, own, sizeof own, GASPI_GROUP_ALL, GASPI_BLOCK, 0));
  OK(gaspi_segment_ptr(4, &p));
  HOLDS(p == (void *)own);
  send(4, own, to, from, 9);
  barrier();
  OK(gaspi_segment_delete(4));
  own[8] = 0;
  OK(gaspi_segment_bind(4, own, 4096, 0));
  for (gaspi_rank_t r = 0; r < num; r++) OK(gaspi_segment_register(4, r, GASPI_BLOCK));
  barrier();
  send(4, own, to, from, 11);
  barrier();
  OK(gaspi_segment_num(&n));
  IS(2, n);
  HOLDS(gaspi_segment_list(3, ids) != GASPI_SUCCESS);
  OK(gaspi_segment_list(2, ids));
  IS(7, ids[0] + ids[1]);
  OK(gaspi_segment_avail_local(&free_id));
  IS(0, free_id);
  OK(gaspi_segment_delete(3));
  OK(gaspi_segment_delete(4));
  RETURNS(GASPI_ERR_INV_SEG, gaspi_segment_ptr(4, &p));
  RETURNS(GASPI_ERR_INV_SEG, gaspi_segment_delete(4));
  /* as many as there are ids */
  for (int id = 0; id < 255; id++) OK(gaspi_segment_create((gaspi_segment_id_t)id, 8, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  RETURNS(GASPI_ERR_MANY_SEG, gaspi_segment_avail_local(&free_id));
  for (int id = 0; id < 255; id++) OK(gaspi_segment_delete((gaspi_segment_id_t)id));
  /* a creation of one kind after one of another, all under one id, written to by a rank that made nothing */
  for (int round = 0; round < 10; round++) {
    if (rank == 0) {
      OK(gaspi_segment_alloc(5, 64, GASPI_MEM_INITIALIZED));
      for (gaspi_rank_t r = 0; r < num; r++) OK(gaspi_segment_register(5, r, GASPI_BLOCK));
    } else if (round == 0) {
      OK(gaspi_segment_alloc(6, 64, GASPI_MEM_INITIALIZED));
    }
    barrier();
    if (rank == num - 1 && num > 1) {
      OK(gaspi_segment_ptr(6, &p));
      *(char *)p = (char)(round + 1);
      OK(gaspi_write_notify(6, 0, 0, 5, 3, 1, 9, 1, 0, GASPI_BLOCK));
      OK(gaspi_wait(0, GASPI_BLOCK));
    }
    if (rank == 0 && num > 1) {
      OK(gaspi_segment_ptr(5, &p));
      await(5, 9);
      IS(round + 1, ((char *)p)[3]);
    }
    barrier();
    if (rank == 0) OK(gaspi_segment_delete(5));
  }
  finish();
  return 0;
}
