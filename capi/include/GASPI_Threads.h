/* Helpers for programs of several threads. */
#ifndef GASPI_THREADS_H
#define GASPI_THREADS_H

#include "GASPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of this thread, from gaspi_threads_register; of all threads; of cores that this process may use. */
gaspi_return_t gaspi_threads_get_tid(gaspi_int *tid);
gaspi_return_t gaspi_threads_get_total(gaspi_int *num);
gaspi_return_t gaspi_threads_get_num_cores(gaspi_int *cores);

/* Sets the number of threads to that of the cores, and returns it; or to a number of the program's. */
gaspi_return_t gaspi_threads_init(gaspi_int *num);
gaspi_return_t gaspi_threads_init_user(unsigned int num);
gaspi_return_t gaspi_threads_term(void);

/* Starts a thread. Each thread registers once, the first one included. */
gaspi_return_t gaspi_threads_run(void *(*function)(void *), void *arg);
gaspi_return_t gaspi_threads_register(gaspi_int *tid);

/* Barrier of all registered threads; the same with a barrier of the group by one of them in between. */
void gaspi_threads_sync(void);
gaspi_return_t gaspi_threads_sync_all(gaspi_group_t group, gaspi_timeout_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
