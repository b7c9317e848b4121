/* Configuration, limits, time, texts: before and after gaspi_proc_init. */
#include "check.h"

static void before(void) {
  gaspi_config_t c;
  gaspi_rank_t r;
  gaspi_number_t n;
  gaspi_size_t z;
  float v;
  RETURNS(GASPI_ERR_NULLPTR, gaspi_config_get(NULL));
  OK(gaspi_config_get(&c));
  IS(1, c.logger);
  IS(12121, c.sn_port);
  IS(0, c.net_info);
  IS(0, c.user_net);
  IS(1, c.sn_persistent);
  IS(30000, c.sn_timeout);
  IS(-1, c.dev_config.params.ib.netdev_id);
  IS(0, c.dev_config.params.ib.mtu);
  IS(1, c.dev_config.params.ib.port_check);
  IS(19000, c.dev_config.params.tcp.port);
  IS(1, c.dev_config.params.ofi.use_shm);
  IS(1, c.dev_config.params.ofi.progress_auto);
  IS(GASPI_ETHERNET, c.network);
  IS(1024, c.queue_size_max);
  IS(8, c.queue_num);
  IS(32, c.group_max);
  IS(255, c.segment_max);
  IS(1073741824, c.transfer_size_max);
  IS(65536, c.notification_num);
  IS(1024, c.passive_queue_size_max);
  IS(65535, c.passive_transfer_size_max);
  IS(2040, c.allreduce_buf_size);
  IS(255, c.allreduce_elem_max);
  IS(255, c.rw_list_elem_max);
  IS(GASPI_TOPOLOGY_STATIC, c.build_infrastructure);
  HOLDS(c.user_defined == NULL);
#define REFUSED(field, value) do { gaspi_config_t bad = c; bad.field = (value); RETURNS(GASPI_ERR_CONFIG, gaspi_config_set(bad)); } while (0)
  REFUSED(sn_port, 1023);
  REFUSED(sn_port, 65537);
  REFUSED(network, GASPI_GEMINI);
  REFUSED(queue_size_max, 0);
  REFUSED(queue_size_max, 4097);
  REFUSED(queue_num, 0);
  REFUSED(queue_num, 17);
  REFUSED(segment_max, 0);
  REFUSED(segment_max, 256);
  REFUSED(transfer_size_max, 1073741825);
  REFUSED(passive_transfer_size_max, 65536);
  REFUSED(rw_list_elem_max, 0);
  REFUSED(rw_list_elem_max, 256);
  REFUSED(dev_config.params.ib.mtu, 100);
  RETURNS(GASPI_ERR_NOINIT, gaspi_proc_rank(&r));
  RETURNS(GASPI_ERR_NOINIT, gaspi_proc_num(&r));
  RETURNS(GASPI_ERR_NOINIT, gaspi_proc_term(GASPI_BLOCK));
  RETURNS(GASPI_ERR_NOINIT, gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  RETURNS(GASPI_ERR_NOINIT, gaspi_segment_num(&n));
  RETURNS(GASPI_ERR_NOINIT, gaspi_queue_num(&n));
  RETURNS(GASPI_ERR_NOINIT, gaspi_transfer_size_max(&z));
  OK(gaspi_initialized(&n));
  IS(0, n);
  OK(gaspi_version(&v));
  HOLDS(v > 1.59f && v < 1.61f);
  gaspi_state_t state[1];
  HOLDS(gaspi_state_vec_get(state) != GASPI_SUCCESS);
  c.queue_size_max = 64;
  c.queue_num = 4;
  c.notification_num = 512;
  c.allreduce_elem_max = 100;
  c.passive_transfer_size_max = 4096;
  c.rw_list_elem_max = 17;
  c.transfer_size_max = 1 << 20;
  c.group_max = 5;
  c.segment_max = 6;
  OK(gaspi_config_set(c));
}

static void after(void) {
  gaspi_number_t n;
  gaspi_size_t z;
  gaspi_config_t c;
  gaspi_network_t net;
  gaspi_atomic_value_t most;
  OK(gaspi_config_get(&c));
  RETURNS(GASPI_ERR_INITED, gaspi_config_set(c));
  RETURNS(GASPI_ERR_INITED, gaspi_proc_init(GASPI_BLOCK));
#define GETS(type, want, name) do { type v; OK(gaspi_##name(&v)); IS(want, v); RETURNS(GASPI_ERR_NULLPTR, gaspi_##name(NULL)); } while (0)
  GETS(gaspi_number_t, 1, initialized);
  GETS(gaspi_number_t, 64, queue_size_max);
  GETS(gaspi_number_t, 4, queue_num);
  GETS(gaspi_number_t, 16, queue_max);
  GETS(gaspi_number_t, 512, notification_num);
  GETS(gaspi_number_t, 100, allreduce_elem_max);
  GETS(gaspi_size_t, 800, allreduce_buf_size);
  GETS(gaspi_size_t, 4096, passive_transfer_size_max);
  GETS(gaspi_size_t, 1, passive_transfer_size_min);
  GETS(gaspi_size_t, 0, transfer_size_min);
  GETS(gaspi_size_t, 1 << 20, transfer_size_max);
  GETS(gaspi_number_t, 17, rw_list_elem_max);
  GETS(gaspi_number_t, 5, group_max);
  GETS(gaspi_number_t, 6, segment_max);
  GETS(gaspi_number_t, GASPI_TOPOLOGY_STATIC, build_infrastructure);
  OK(gaspi_network_type(&net));
  IS(GASPI_ETHERNET, net);
  OK(gaspi_atomic_max(&most));
  IS(~0ul, most);
  gaspi_rank_t local, locals;
  OK(gaspi_proc_local_rank(&local));
  OK(gaspi_proc_local_num(&locals));
  HOLDS(local < locals && locals <= num);
  for (n = 0; n < 6; n++) OK(gaspi_segment_alloc((gaspi_segment_id_t)n, 8, GASPI_ALLOC_DEFAULT));
  RETURNS(GASPI_ERR_MANY_SEG, gaspi_segment_alloc(100, 8, GASPI_ALLOC_DEFAULT));
  gaspi_group_t g;
  for (n = 0; n < 4; n++) OK(gaspi_group_create(&g));
  RETURNS(GASPI_ERR_MANY_GRP, gaspi_group_create(&g));
  z = 0;
  (void)z;
}

static void texts(void) {
  gaspi_string_t s;
  OK(gaspi_print_error(GASPI_ERR_INV_SEG, &s));
  HOLDS(strcmp(s, gaspi_error_str(GASPI_ERR_INV_SEG)) == 0);
  free(s);
  RETURNS(GASPI_ERR_NULLPTR, gaspi_print_error(GASPI_ERROR, NULL));
  for (int c = -2; c < 31; c++) HOLDS(strlen(gaspi_error_str((gaspi_return_t)c)) > 0);
  gaspi_cycles_t a, b;
  gaspi_time_t t, u;
  gaspi_float mhz;
  OK(gaspi_time_ticks(&a));
  OK(gaspi_time_get(&t));
  usleep(20000);
  OK(gaspi_time_ticks(&b));
  OK(gaspi_time_get(&u));
  OK(gaspi_cpu_frequency(&mhz));
  HOLDS((double)(b - a) / mhz >= 19000);
  HOLDS(u >= t);
  gaspi_printf("hello %d\n", 5);
  gaspi_printf_to(0, "to %s\n", "rank 0");
  gaspi_print_affinity_mask();
  gaspi_delay();
  gaspi_uchar socket;
  RETURNS(GASPI_ERR_ENV, gaspi_numa_socket(&socket));
  HOLDS(gaspi_set_socket_affinity(200) != GASPI_SUCCESS);
}

int main(void) {
  before();
  start();
  after();
  texts();
  finish();
  gaspi_number_t n;
  OK(gaspi_initialized(&n));
  IS(0, n);
  RETURNS(GASPI_ERR_NOINIT, gaspi_proc_term(GASPI_BLOCK));
  return 0;
}
