/* The functions of the GASPI standard. */
#ifndef GASPI_H
#define GASPI_H

#include "GASPI_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Configuration of the process, before or after gaspi_proc_init. */
gaspi_return_t gaspi_config_get(gaspi_config_t *c);
gaspi_return_t gaspi_config_set(const gaspi_config_t c);
gaspi_return_t gaspi_version(float *v);

/* Processes. A timeout is in milliseconds, GASPI_BLOCK or GASPI_TEST, in every call that has one. */
gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_proc_term(gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_proc_rank(gaspi_rank_t *r);
gaspi_return_t gaspi_proc_num(gaspi_rank_t *n);
gaspi_return_t gaspi_proc_kill(gaspi_rank_t r, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_connect(gaspi_rank_t r, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_disconnect(gaspi_rank_t r, gaspi_timeout_t timeout_ms);

/* Groups. */
gaspi_return_t gaspi_group_create(gaspi_group_t *g);
gaspi_return_t gaspi_group_delete(gaspi_group_t g);
gaspi_return_t gaspi_group_add(gaspi_group_t g, gaspi_rank_t r);
gaspi_return_t gaspi_group_commit(gaspi_group_t g, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_group_num(gaspi_number_t *n);
gaspi_return_t gaspi_group_size(gaspi_group_t g, gaspi_number_t *n);
gaspi_return_t gaspi_group_ranks(gaspi_group_t g, gaspi_rank_t *ranks);
gaspi_return_t gaspi_group_max(gaspi_number_t *n);

/* Segments: memory that other ranks write and read. */
gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t id, gaspi_size_t size, gaspi_alloc_t alloc_policy);
gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t id);
gaspi_return_t gaspi_segment_register(gaspi_segment_id_t id, gaspi_rank_t r, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_segment_create(gaspi_segment_id_t id, gaspi_size_t size, gaspi_group_t g,
                                    gaspi_timeout_t timeout_ms, gaspi_alloc_t alloc_policy);
gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t id, gaspi_pointer_t p, gaspi_size_t size,
                                  gaspi_memory_description_t d);
gaspi_return_t gaspi_segment_use(gaspi_segment_id_t id, gaspi_pointer_t p, gaspi_size_t size,
                                 gaspi_group_t g, gaspi_timeout_t timeout_ms, gaspi_memory_description_t d);
gaspi_return_t gaspi_segment_num(gaspi_number_t *n);
gaspi_return_t gaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t *ids);
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t id, gaspi_pointer_t *p);
gaspi_return_t gaspi_segment_max(gaspi_number_t *n);

/* One-sided operations. Each takes an entry of its queue, which gaspi_wait gives back. */
gaspi_return_t gaspi_write(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                           gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                           gaspi_offset_t offset_remote, gaspi_size_t size, gaspi_queue_id_t queue,
                           gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                          gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                          gaspi_offset_t offset_remote, gaspi_size_t size, gaspi_queue_id_t queue,
                          gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_write_list(gaspi_number_t num, gaspi_segment_id_t * const segment_id_local,
                                gaspi_offset_t * const offset_local, gaspi_rank_t rank,
                                gaspi_segment_id_t * const segment_id_remote,
                                gaspi_offset_t * const offset_remote, gaspi_size_t * const size,
                                gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read_list(gaspi_number_t num, gaspi_segment_id_t * const segment_id_local,
                               gaspi_offset_t * const offset_local, gaspi_rank_t rank,
                               gaspi_segment_id_t * const segment_id_remote,
                               gaspi_offset_t * const offset_remote, gaspi_size_t * const size,
                               gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);

/* Collective operations of a group. After GASPI_TIMEOUT the same call goes on. */
gaspi_return_t gaspi_barrier(gaspi_group_t g, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_allreduce(const gaspi_pointer_t s, gaspi_pointer_t r, gaspi_number_t num,
                               gaspi_operation_t op, gaspi_datatype_t type, gaspi_group_t g,
                               gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_allreduce_user(const gaspi_pointer_t s, gaspi_pointer_t r, gaspi_number_t num,
                                    gaspi_size_t element_size, gaspi_reduce_operation_t reduce_operation,
                                    gaspi_reduce_state_t reduce_state, gaspi_group_t g,
                                    gaspi_timeout_t timeout_ms);

/* Atomic operations on 64-bit words. */
gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t r,
                                      gaspi_atomic_value_t v, gaspi_atomic_value_t *value_old,
                                      gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t r,
                                         gaspi_atomic_value_t comparator, gaspi_atomic_value_t v,
                                         gaspi_atomic_value_t *value_old, gaspi_timeout_t timeout_ms);

/* Passive messages. */
gaspi_return_t gaspi_passive_send(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t r,
                                  gaspi_size_t size, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t id, gaspi_offset_t off, gaspi_rank_t *r,
                                     gaspi_size_t size, gaspi_timeout_t timeout_ms);

/* Notifications, and operations that end with one. */
gaspi_return_t gaspi_notify(gaspi_segment_id_t id, gaspi_rank_t r, gaspi_notification_id_t notification_id,
                            gaspi_notification_t v, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t id, gaspi_notification_id_t first,
                                     gaspi_number_t num, gaspi_notification_id_t *got,
                                     gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t id, gaspi_notification_id_t notification_id,
                                  gaspi_notification_t *value_old);
gaspi_return_t gaspi_write_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                  gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                                  gaspi_offset_t offset_remote, gaspi_size_t size,
                                  gaspi_notification_id_t notification_id, gaspi_notification_t v,
                                  gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_write_list_notify(gaspi_number_t num, gaspi_segment_id_t * const segment_id_local,
                                       gaspi_offset_t * const offset_local, gaspi_rank_t rank,
                                       gaspi_segment_id_t * const segment_id_remote,
                                       gaspi_offset_t * const offset_remote, gaspi_size_t * const size,
                                       gaspi_segment_id_t segment_id_notification,
                                       gaspi_notification_id_t notification_id, gaspi_notification_t v,
                                       gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read_notify(gaspi_segment_id_t segment_id_local, gaspi_offset_t offset_local,
                                 gaspi_rank_t rank, gaspi_segment_id_t segment_id_remote,
                                 gaspi_offset_t offset_remote, gaspi_size_t size,
                                 gaspi_notification_id_t notification_id, gaspi_queue_id_t queue,
                                 gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_read_list_notify(gaspi_number_t num, gaspi_segment_id_t * const segment_id_local,
                                      gaspi_offset_t * const offset_local, gaspi_rank_t rank,
                                      gaspi_segment_id_t * const segment_id_remote,
                                      gaspi_offset_t * const offset_remote, gaspi_size_t * const size,
                                      gaspi_segment_id_t segment_id_notification,
                                      gaspi_notification_id_t notification_id, gaspi_queue_id_t queue,
                                      gaspi_timeout_t timeout_ms);

/* Queues. */
gaspi_return_t gaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms);
gaspi_return_t pgaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms); /* for old programs */
gaspi_return_t gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t *n);
gaspi_return_t gaspi_queue_num(gaspi_number_t *n);
gaspi_return_t gaspi_queue_size_max(gaspi_number_t *n);
gaspi_return_t gaspi_queue_create(gaspi_queue_id_t *queue, gaspi_timeout_t timeout_ms);
gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t queue);

/* Limits and kinds. */
gaspi_return_t gaspi_transfer_size_min(gaspi_size_t *n);
gaspi_return_t gaspi_transfer_size_max(gaspi_size_t *n);
gaspi_return_t gaspi_notification_num(gaspi_number_t *n);
gaspi_return_t gaspi_passive_transfer_size_min(gaspi_size_t *n);
gaspi_return_t gaspi_passive_transfer_size_max(gaspi_size_t *n);
gaspi_return_t gaspi_atomic_max(gaspi_atomic_value_t *v);
gaspi_return_t gaspi_allreduce_buf_size(gaspi_size_t *n);
gaspi_return_t gaspi_allreduce_elem_max(gaspi_number_t *n);
gaspi_return_t gaspi_queue_max(gaspi_number_t *n);
gaspi_return_t gaspi_network_type(gaspi_network_t *n);
gaspi_return_t gaspi_build_infrastructure(gaspi_number_t *n);

/* Time, errors and the state vector: one entry per rank, in memory of the caller. */
gaspi_return_t gaspi_time_ticks(gaspi_cycles_t *c);
gaspi_return_t gaspi_time_get(gaspi_time_t *timeout_ms);
gaspi_return_t gaspi_print_error(gaspi_return_t code, gaspi_string_t *msg);
/* Once it has said which ranks are lost, waits for notifications fail because of these no more. */
gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t v);

/* Statistics: counters by number. */
gaspi_return_t gaspi_statistic_verbosity_level(gaspi_number_t l);
gaspi_return_t gaspi_statistic_counter_max(gaspi_number_t *n);
gaspi_return_t gaspi_statistic_counter_info(gaspi_statistic_counter_t c, gaspi_statistic_argument_t *a,
                                            gaspi_string_t *name, gaspi_string_t *desc,
                                            gaspi_number_t *level);
gaspi_return_t gaspi_statistic_counter_get(gaspi_statistic_counter_t c, gaspi_number_t arg, unsigned long *v);
gaspi_return_t gaspi_statistic_counter_reset(gaspi_statistic_counter_t c);

#ifdef __cplusplus
}
#endif

#endif
