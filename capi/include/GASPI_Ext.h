/* Functions beyond the GASPI standard. */
#ifndef GASPI_EXT_H
#define GASPI_EXT_H

#include "GASPI.h"

#ifdef __cplusplus
extern "C" {
#endif

gaspi_return_t gaspi_initialized(gaspi_number_t *n);
gaspi_return_t gaspi_proc_local_rank(gaspi_rank_t *r);
gaspi_return_t gaspi_proc_local_num(gaspi_rank_t *n);
gaspi_return_t gaspi_cpu_frequency(gaspi_float *f);
gaspi_return_t gaspi_numa_socket(gaspi_uchar *s);
gaspi_return_t gaspi_set_socket_affinity(const gaspi_uchar s);
gaspi_return_t gaspi_proc_ping(gaspi_rank_t r, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_segment_avail_local(gaspi_segment_id_t *id);
gaspi_return_t gaspi_segment_size(gaspi_segment_id_t id, gaspi_rank_t r, gaspi_size_t *size);
gaspi_return_t gaspi_rw_list_elem_max(gaspi_number_t *n);

void gaspi_printf(const char *fmt, ...);
void gaspi_printf_to(gaspi_rank_t rank, const char *fmt, ...);
void gaspi_print_affinity_mask(void);
gaspi_string_t gaspi_error_str(gaspi_return_t code);
void gaspi_delay(void);

#ifdef __cplusplus
}
#endif

#endif
