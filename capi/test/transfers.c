/* Every one-sided operation, to the next rank and to the own one. */
#include "check.h"

enum { PART = 1024 };

static void fill(char *p, int seed) { for (int i = 0; i < PART; i++) p[i] = (char)(seed * 31 + i * 7); }

static void same(const char *p, int seed) { for (int i = 0; i < PART; i++) if (p[i] != (char)(seed * 31 + i * 7)) FAIL("byte %d is %d of seed %d", i, p[i], seed); }

/* Segment 0: parts 0 to 3 are of this rank, 4 to 7 are written by the rank before. Segment 1 has notifications. */
static void with(char *mem, gaspi_rank_t to, gaspi_rank_t from, int round) {
  const gaspi_queue_id_t q = (gaspi_queue_id_t)(round % 3);
  gaspi_notification_id_t got;
  gaspi_number_t n;
  for (int i = 0; i < 4; i++) fill(mem + i * PART, rank + i + round);
  memset(mem + 4 * PART, 0, 4 * PART);
  barrier();
  OK(gaspi_write(0, 0, to, 0, 4 * PART, PART, q, GASPI_BLOCK));
  OK(gaspi_notify(0, to, 1, 11, q, GASPI_BLOCK));
  IS(11, await(0, 1));
  same(mem + 4 * PART, from + round);
  OK(gaspi_write_notify(0, PART, to, 0, 5 * PART, PART, 2, 22, q, GASPI_BLOCK));
  IS(22, await(0, 2));
  same(mem + 5 * PART, from + 1 + round);
  gaspi_segment_id_t sl[2] = { 0, 0 }, sr[2] = { 0, 0 };
  gaspi_offset_t ol[2] = { 2 * PART, 3 * PART }, orr[2] = { 6 * PART, 7 * PART };
  gaspi_size_t z[2] = { PART, PART };
  OK(gaspi_write_list_notify(2, sl, ol, to, sr, orr, z, 1, 3, 33, q, GASPI_BLOCK));
  IS(33, await(1, 3));
  same(mem + 6 * PART, from + 2 + round);
  same(mem + 7 * PART, from + 3 + round);
  OK(gaspi_queue_size(q, &n));
  IS(6, n); /* write, notify, write_notify, two writes and a notification */
  OK(gaspi_wait(q, GASPI_BLOCK));
  OK(gaspi_queue_size(q, &n));
  IS(0, n);
  barrier();
  memset(mem + 4 * PART, 0, 4 * PART);
  barrier();
  OK(gaspi_write_list(2, sl, ol, to, sr, orr, z, q, GASPI_BLOCK));
  OK(gaspi_write_notify(0, 0, to, 0, 0, 0, 5, 55, q, GASPI_BLOCK)); /* of no bytes */
  OK(gaspi_notify(0, to, 4, 44, q, GASPI_BLOCK));
  IS(44, await(0, 4));
  IS(55, await(0, 5));
  same(mem + 6 * PART, from + 2 + round);
  OK(gaspi_wait(q, GASPI_BLOCK));
  barrier();
  OK(gaspi_read(0, 4 * PART, to, 0, 0, PART, q, GASPI_BLOCK));
  OK(gaspi_wait(q, GASPI_BLOCK));
  same(mem + 4 * PART, to + round);
  OK(gaspi_read_notify(0, 5 * PART, to, 0, PART, PART, 6, q, GASPI_BLOCK));
  IS(1, await(0, 6));
  same(mem + 5 * PART, to + 1 + round);
  gaspi_offset_t into[2] = { 6 * PART, 7 * PART }, of[2] = { 2 * PART, 3 * PART };
  OK(gaspi_read_list_notify(2, sl, into, to, sr, of, z, 1, 7, q, GASPI_BLOCK));
  IS(1, await(1, 7));
  same(mem + 6 * PART, to + 2 + round);
  same(mem + 7 * PART, to + 3 + round);
  memset(mem + 6 * PART, 0, 2 * PART);
  OK(gaspi_read_list(2, sl, into, to, sr, of, z, q, GASPI_BLOCK));
  OK(gaspi_wait(q, GASPI_BLOCK));
  same(mem + 7 * PART, to + 3 + round);
  OK(gaspi_write(0, 0, to, 0, 8 * PART, 0, q, GASPI_BLOCK)); /* of no bytes, at the end */
  OK(gaspi_write_list(0, sl, ol, to, sr, orr, z, q, GASPI_BLOCK));
  OK(gaspi_read_list(0, sl, ol, to, sr, orr, z, q, GASPI_TEST));
  OK(gaspi_wait(q, GASPI_TEST));
  RETURNS(GASPI_TIMEOUT, gaspi_notify_waitsome(0, 0, 65536, &got, GASPI_TEST));
}

int main(void) {
  start();
  char *mem = segment(0, 8 * PART);
  segment(1, 8);
  for (int round = 0; round < 6; round++) {
    with(mem, (gaspi_rank_t)((rank + 1) % num), (gaspi_rank_t)((rank + num - 1) % num), round);
    with(mem, rank, rank, round);
  }
  finish();
  return 0;
}
