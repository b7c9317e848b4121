/* Queues hold exactly their entries; they are created, purged and deleted. */
#include "check.h"

int main(void) {
  start();
  segment(0, 4096);
  gaspi_rank_t to = (gaspi_rank_t)((rank + 1) % num);
  gaspi_number_t most, n;
  OK(gaspi_queue_size_max(&most));
  for (gaspi_queue_id_t q = 0; q < 8; q += 7)
    for (int with_self = 0; with_self < 2; with_self++) {
      gaspi_rank_t r = with_self ? rank : to;
      for (gaspi_number_t i = 0; i < most; i++) OK(gaspi_write(0, 0, r, 0, 64, 8, q, GASPI_BLOCK));
      RETURNS(GASPI_QUEUE_FULL, gaspi_write(0, 0, r, 0, 64, 8, q, GASPI_BLOCK));
      RETURNS(GASPI_QUEUE_FULL, gaspi_read(0, 0, r, 0, 64, 8, q, GASPI_TEST));
      RETURNS(GASPI_QUEUE_FULL, gaspi_notify(0, r, 0, 1, q, GASPI_BLOCK));
      OK(gaspi_queue_size(q, &n));
      IS(most, n);
      OK(gaspi_wait(q, GASPI_BLOCK));
      OK(gaspi_queue_size(q, &n));
      IS(0, n);
    }
  /* refused posts take nothing */
  for (gaspi_number_t i = 0; i < 2 * most; i++) RETURNS(GASPI_ERR_INV_SEG, gaspi_write(9, 0, to, 0, 0, 8, 1, GASPI_BLOCK));
  OK(gaspi_queue_size(1, &n));
  IS(0, n);
  gaspi_queue_id_t q, made[16];
  int count = 0;
  OK(gaspi_queue_num(&n));
  IS(8, n);
  while (gaspi_queue_create(&q, GASPI_BLOCK) == GASPI_SUCCESS) made[count++] = q;
  IS(8, count);
  RETURNS(GASPI_ERR_INV_QUEUE, gaspi_queue_create(&q, GASPI_BLOCK));
  OK(gaspi_queue_num(&n));
  IS(16, n);
  for (int i = 0; i < count; i++) {
    OK(gaspi_write(0, 0, to, 0, 64, 8, made[i], GASPI_BLOCK));
    if (i % 2) OK(gaspi_wait(made[i], GASPI_BLOCK));
    OK(gaspi_queue_delete(made[i]));
    RETURNS(GASPI_ERR_INV_QUEUE, gaspi_wait(made[i], GASPI_BLOCK));
    RETURNS(GASPI_ERR_INV_QUEUE, gaspi_queue_delete(made[i]));
  }
  OK(gaspi_queue_create(&q, GASPI_TEST));
  OK(gaspi_queue_size(q, &n));
  IS(0, n);
  OK(gaspi_write(0, 0, to, 0, 64, 8, q, GASPI_BLOCK));
  OK(gaspi_queue_purge(q, GASPI_BLOCK));
  OK(gaspi_queue_size(q, &n));
  IS(0, n);
  OK(pgaspi_queue_purge(q, GASPI_BLOCK));
  /* lists */
  gaspi_segment_id_t s[255] = { 0 };
  gaspi_offset_t o[255] = { 0 };
  gaspi_size_t z[255];
  for (int i = 0; i < 255; i++) z[i] = 1;
  OK(gaspi_write_list(255, s, o, to, s, o, z, 0, GASPI_BLOCK));
  OK(gaspi_write_list_notify(255, s, o, to, s, o, z, 0, 1, 1, 0, GASPI_BLOCK));
  OK(gaspi_queue_size(0, &n));
  IS(511, n);
  RETURNS(GASPI_ERR_INV_NUM, gaspi_read_list(256, s, o, to, s, o, z, 0, GASPI_BLOCK));
  OK(gaspi_wait(0, GASPI_BLOCK));
  await(0, 1);
  finish();
  return 0;
}
