! The functions of the GASPI standard: GASPI.h for Fortran.
module gaspi
  use, intrinsic :: iso_c_binding
  use gaspi_types
  implicit none

  interface
    function gaspi_config_get(c) result(rc) bind(c, name="gaspi_config_get")
      import
      type(gaspi_config_t), intent(out) :: c
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_config_set(c) result(rc) bind(c, name="gaspi_config_set")
      import
      type(gaspi_config_t), value :: c
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_version(v) result(rc) bind(c, name="gaspi_version")
      import
      real(c_float), intent(out) :: v
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_init(timeout_ms) result(rc) bind(c, name="gaspi_proc_init")
      import
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_term(timeout_ms) result(rc) bind(c, name="gaspi_proc_term")
      import
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_rank(r) result(rc) bind(c, name="gaspi_proc_rank")
      import
      integer(gaspi_rank_t), intent(out) :: r
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_num(n) result(rc) bind(c, name="gaspi_proc_num")
      import
      integer(gaspi_rank_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_kill(r, timeout_ms) result(rc) bind(c, name="gaspi_proc_kill")
      import
      integer(gaspi_rank_t), value :: r
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_connect(r, timeout_ms) result(rc) bind(c, name="gaspi_connect")
      import
      integer(gaspi_rank_t), value :: r
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_disconnect(r, timeout_ms) result(rc) bind(c, name="gaspi_disconnect")
      import
      integer(gaspi_rank_t), value :: r
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_create(g) result(rc) bind(c, name="gaspi_group_create")
      import
      integer(gaspi_group_t), intent(out) :: g
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_delete(g) result(rc) bind(c, name="gaspi_group_delete")
      import
      integer(gaspi_group_t), value :: g
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_add(g, r) result(rc) bind(c, name="gaspi_group_add")
      import
      integer(gaspi_group_t), value :: g
      integer(gaspi_rank_t), value :: r
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_commit(g, timeout_ms) result(rc) bind(c, name="gaspi_group_commit")
      import
      integer(gaspi_group_t), value :: g
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_num(n) result(rc) bind(c, name="gaspi_group_num")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_size(g, n) result(rc) bind(c, name="gaspi_group_size")
      import
      integer(gaspi_group_t), value :: g
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_ranks(g, ranks) result(rc) bind(c, name="gaspi_group_ranks")
      import
      integer(gaspi_group_t), value :: g
      integer(gaspi_rank_t), intent(out) :: ranks(*)
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_group_max(n) result(rc) bind(c, name="gaspi_group_max")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_alloc(id, size, alloc_policy) result(rc) bind(c, name="gaspi_segment_alloc")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_size_t), value :: size
      integer(gaspi_alloc_t), value :: alloc_policy
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_delete(id) result(rc) bind(c, name="gaspi_segment_delete")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_register(id, r, timeout_ms) result(rc) bind(c, name="gaspi_segment_register")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_rank_t), value :: r
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_create(id, size, g, timeout_ms, alloc_policy) &
        result(rc) bind(c, name="gaspi_segment_create")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_size_t), value :: size
      integer(gaspi_group_t), value :: g
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_alloc_t), value :: alloc_policy
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_bind(id, p, size, d) result(rc) bind(c, name="gaspi_segment_bind")
      import
      integer(gaspi_segment_id_t), value :: id
      type(c_ptr), value :: p
      integer(gaspi_size_t), value :: size
      integer(gaspi_memory_description_t), value :: d
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_use(id, p, size, g, timeout_ms, d) result(rc) bind(c, name="gaspi_segment_use")
      import
      integer(gaspi_segment_id_t), value :: id
      type(c_ptr), value :: p
      integer(gaspi_size_t), value :: size
      integer(gaspi_group_t), value :: g
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_memory_description_t), value :: d
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_num(n) result(rc) bind(c, name="gaspi_segment_num")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_list(num, ids) result(rc) bind(c, name="gaspi_segment_list")
      import
      integer(gaspi_number_t), value :: num
      integer(gaspi_segment_id_t), intent(out) :: ids(*)
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_ptr(id, p) result(rc) bind(c, name="gaspi_segment_ptr")
      import
      integer(gaspi_segment_id_t), value :: id
      type(c_ptr), intent(out) :: p
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_max(n) result(rc) bind(c, name="gaspi_segment_max")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_write(segment_id_local, offset_local, rank, segment_id_remote, offset_remote, size, &
        queue, timeout_ms) result(rc) bind(c, name="gaspi_write")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_read(segment_id_local, offset_local, rank, segment_id_remote, offset_remote, size, &
        queue, timeout_ms) result(rc) bind(c, name="gaspi_read")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_write_list(num, segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, queue, timeout_ms) result(rc) bind(c, name="gaspi_write_list")
      import
      integer(gaspi_number_t), value :: num
      integer(gaspi_segment_id_t), intent(in) :: segment_id_local(*)
      integer(gaspi_offset_t), intent(in) :: offset_local(*)
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), intent(in) :: segment_id_remote(*)
      integer(gaspi_offset_t), intent(in) :: offset_remote(*)
      integer(gaspi_size_t), intent(in) :: size(*)
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_read_list(num, segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, queue, timeout_ms) result(rc) bind(c, name="gaspi_read_list")
      import
      integer(gaspi_number_t), value :: num
      integer(gaspi_segment_id_t), intent(in) :: segment_id_local(*)
      integer(gaspi_offset_t), intent(in) :: offset_local(*)
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), intent(in) :: segment_id_remote(*)
      integer(gaspi_offset_t), intent(in) :: offset_remote(*)
      integer(gaspi_size_t), intent(in) :: size(*)
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_wait(queue, timeout_ms) result(rc) bind(c, name="gaspi_wait")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_barrier(g, timeout_ms) result(rc) bind(c, name="gaspi_barrier")
      import
      integer(gaspi_group_t), value :: g
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_allreduce(s, r, num, op, type, g, timeout_ms) result(rc) bind(c, name="gaspi_allreduce")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: r
      integer(gaspi_number_t), value :: num
      integer(gaspi_operation_t), value :: op
      integer(gaspi_datatype_t), value :: type
      integer(gaspi_group_t), value :: g
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_allreduce_user(s, r, num, element_size, reduce_operation, reduce_state, g, timeout_ms) &
        result(rc) bind(c, name="gaspi_allreduce_user")
      import
      type(c_ptr), value :: s
      type(c_ptr), value :: r
      integer(gaspi_number_t), value :: num
      integer(gaspi_size_t), value :: element_size
      type(c_funptr), value :: reduce_operation
      type(c_ptr), value :: reduce_state
      integer(gaspi_group_t), value :: g
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_atomic_fetch_add(id, off, r, v, value_old, timeout_ms) &
        result(rc) bind(c, name="gaspi_atomic_fetch_add")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_offset_t), value :: off
      integer(gaspi_rank_t), value :: r
      integer(gaspi_atomic_value_t), value :: v
      integer(gaspi_atomic_value_t), intent(out) :: value_old
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_atomic_compare_swap(id, off, r, comparator, v, value_old, timeout_ms) &
        result(rc) bind(c, name="gaspi_atomic_compare_swap")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_offset_t), value :: off
      integer(gaspi_rank_t), value :: r
      integer(gaspi_atomic_value_t), value :: comparator
      integer(gaspi_atomic_value_t), value :: v
      integer(gaspi_atomic_value_t), intent(out) :: value_old
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_passive_send(id, off, r, size, timeout_ms) result(rc) bind(c, name="gaspi_passive_send")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_offset_t), value :: off
      integer(gaspi_rank_t), value :: r
      integer(gaspi_size_t), value :: size
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_passive_receive(id, off, r, size, timeout_ms) result(rc) bind(c, name="gaspi_passive_receive")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_offset_t), value :: off
      integer(gaspi_rank_t), intent(out) :: r
      integer(gaspi_size_t), value :: size
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_notify(id, r, notification_id, v, queue, timeout_ms) result(rc) bind(c, name="gaspi_notify")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_rank_t), value :: r
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t), value :: v
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_notify_waitsome(id, first, num, got, timeout_ms) result(rc) bind(c, name="gaspi_notify_waitsome")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_notification_id_t), value :: first
      integer(gaspi_number_t), value :: num
      integer(gaspi_notification_id_t), intent(out) :: got
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_notify_reset(id, notification_id, value_old) result(rc) bind(c, name="gaspi_notify_reset")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t), intent(out) :: value_old
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_write_notify(segment_id_local, offset_local, rank, segment_id_remote, offset_remote, &
        size, notification_id, v, queue, timeout_ms) result(rc) bind(c, name="gaspi_write_notify")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t), value :: v
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_write_list_notify(num, segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, segment_id_notification, notification_id, v, queue, timeout_ms) &
        result(rc) bind(c, name="gaspi_write_list_notify")
      import
      integer(gaspi_number_t), value :: num
      integer(gaspi_segment_id_t), intent(in) :: segment_id_local(*)
      integer(gaspi_offset_t), intent(in) :: offset_local(*)
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), intent(in) :: segment_id_remote(*)
      integer(gaspi_offset_t), intent(in) :: offset_remote(*)
      integer(gaspi_size_t), intent(in) :: size(*)
      integer(gaspi_segment_id_t), value :: segment_id_notification
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_notification_t), value :: v
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_read_notify(segment_id_local, offset_local, rank, segment_id_remote, offset_remote, &
        size, notification_id, queue, timeout_ms) result(rc) bind(c, name="gaspi_read_notify")
      import
      integer(gaspi_segment_id_t), value :: segment_id_local
      integer(gaspi_offset_t), value :: offset_local
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), value :: segment_id_remote
      integer(gaspi_offset_t), value :: offset_remote
      integer(gaspi_size_t), value :: size
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_read_list_notify(num, segment_id_local, offset_local, rank, segment_id_remote, &
        offset_remote, size, segment_id_notification, notification_id, queue, timeout_ms) &
        result(rc) bind(c, name="gaspi_read_list_notify")
      import
      integer(gaspi_number_t), value :: num
      integer(gaspi_segment_id_t), intent(in) :: segment_id_local(*)
      integer(gaspi_offset_t), intent(in) :: offset_local(*)
      integer(gaspi_rank_t), value :: rank
      integer(gaspi_segment_id_t), intent(in) :: segment_id_remote(*)
      integer(gaspi_offset_t), intent(in) :: offset_remote(*)
      integer(gaspi_size_t), intent(in) :: size(*)
      integer(gaspi_segment_id_t), value :: segment_id_notification
      integer(gaspi_notification_id_t), value :: notification_id
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_queue_purge(queue, timeout_ms) result(rc) bind(c, name="gaspi_queue_purge")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_queue_size(queue, n) result(rc) bind(c, name="gaspi_queue_size")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_queue_num(n) result(rc) bind(c, name="gaspi_queue_num")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_queue_size_max(n) result(rc) bind(c, name="gaspi_queue_size_max")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_queue_create(queue, timeout_ms) result(rc) bind(c, name="gaspi_queue_create")
      import
      integer(gaspi_queue_id_t), intent(out) :: queue
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_queue_delete(queue) result(rc) bind(c, name="gaspi_queue_delete")
      import
      integer(gaspi_queue_id_t), value :: queue
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_transfer_size_min(n) result(rc) bind(c, name="gaspi_transfer_size_min")
      import
      integer(gaspi_size_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_transfer_size_max(n) result(rc) bind(c, name="gaspi_transfer_size_max")
      import
      integer(gaspi_size_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_notification_num(n) result(rc) bind(c, name="gaspi_notification_num")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_passive_transfer_size_min(n) result(rc) bind(c, name="gaspi_passive_transfer_size_min")
      import
      integer(gaspi_size_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_passive_transfer_size_max(n) result(rc) bind(c, name="gaspi_passive_transfer_size_max")
      import
      integer(gaspi_size_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_atomic_max(v) result(rc) bind(c, name="gaspi_atomic_max")
      import
      integer(gaspi_atomic_value_t), intent(out) :: v
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_allreduce_buf_size(n) result(rc) bind(c, name="gaspi_allreduce_buf_size")
      import
      integer(gaspi_size_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_allreduce_elem_max(n) result(rc) bind(c, name="gaspi_allreduce_elem_max")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_queue_max(n) result(rc) bind(c, name="gaspi_queue_max")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_network_type(n) result(rc) bind(c, name="gaspi_network_type")
      import
      integer(gaspi_network_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_build_infrastructure(n) result(rc) bind(c, name="gaspi_build_infrastructure")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_time_ticks(c) result(rc) bind(c, name="gaspi_time_ticks")
      import
      integer(gaspi_cycles_t), intent(out) :: c
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_time_get(timeout_ms) result(rc) bind(c, name="gaspi_time_get")
      import
      real(c_float), intent(out) :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_print_error(code, msg) result(rc) bind(c, name="gaspi_print_error")
      import
      integer(gaspi_return_t), value :: code
      type(c_ptr), intent(out) :: msg
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_state_vec_get(v) result(rc) bind(c, name="gaspi_state_vec_get")
      import
      type(c_ptr), value :: v
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_statistic_verbosity_level(l) result(rc) bind(c, name="gaspi_statistic_verbosity_level")
      import
      integer(gaspi_number_t), value :: l
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_statistic_counter_max(n) result(rc) bind(c, name="gaspi_statistic_counter_max")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_statistic_counter_info(c, a, name, desc, level) &
        result(rc) bind(c, name="gaspi_statistic_counter_info")
      import
      integer(gaspi_statistic_counter_t), value :: c
      integer(gaspi_statistic_argument_t), intent(out) :: a
      type(c_ptr), intent(out) :: name
      type(c_ptr), intent(out) :: desc
      integer(gaspi_number_t), intent(out) :: level
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_statistic_counter_get(c, arg, v) result(rc) bind(c, name="gaspi_statistic_counter_get")
      import
      integer(gaspi_statistic_counter_t), value :: c
      integer(gaspi_number_t), value :: arg
      integer(gaspi_ulong), intent(out) :: v
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_statistic_counter_reset(c) result(rc) bind(c, name="gaspi_statistic_counter_reset")
      import
      integer(gaspi_statistic_counter_t), value :: c
      integer(gaspi_return_t) :: rc
    end function
  end interface
end module
