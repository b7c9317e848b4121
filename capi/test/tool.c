/* A function of the program takes the place of a weak one. */
#include "check.h"

static int calls;

gaspi_return_t gaspi_write(const gaspi_segment_id_t sl, const gaspi_offset_t ol, const gaspi_rank_t r, const gaspi_segment_id_t sr,
                           const gaspi_offset_t orr, const gaspi_size_t size, const gaspi_queue_id_t q, const gaspi_timeout_t t) {
  calls++;
  return pgaspi_write(sl, ol, r, sr, orr, size, q, t);
}

int main(void) {
  start();
  segment(0, 64);
  OK(gaspi_write(0, 0, 0, 0, 32, 8, 0, GASPI_BLOCK));
  OK(gaspi_wait(0, GASPI_BLOCK));
  IS(1, calls);
  finish();
  return 0;
}
