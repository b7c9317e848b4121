! A ring in Fortran: every rank sends a number to the next one, and all add theirs up.
program ring
  use, intrinsic :: iso_c_binding
  use gaspi_types
  use gaspi
  use gaspi_ext
  implicit none

  integer(gaspi_rank_t) :: rank, num, next
  integer(gaspi_segment_id_t), parameter :: seg = 0
  integer(gaspi_queue_id_t), parameter :: queue = 0
  integer(gaspi_notification_id_t) :: got
  integer(gaspi_notification_t) :: old
  integer(gaspi_return_t) :: rc
  integer(gaspi_number_t) :: entries
  integer(gaspi_segment_id_t) :: sl(2), sr(2)
  integer(gaspi_offset_t) :: ol(2), orr(2)
  integer(gaspi_size_t) :: sizes(2), bytes
  integer(c_long), target :: mine(3), all(3)
  type(gaspi_config_t) :: config
  type(c_ptr) :: mem
  integer(c_int), pointer :: cell(:)
  real(gaspi_float) :: version

  call check(gaspi_config_get(config), "config_get")
  if (config%queue_num /= 8 .or. config%allreduce_elem_max /= 255 .or. config%segment_max /= 255) error stop "configuration"
  config%queue_num = 3
  call check(gaspi_config_set(config), "config_set")
  call check(gaspi_version(version), "version")
  call check(gaspi_proc_init(GASPI_BLOCK), "proc_init")
  call check(gaspi_proc_rank(rank), "proc_rank")
  call check(gaspi_proc_num(num), "proc_num")
  call check(gaspi_queue_num(entries), "queue_num")
  if (entries /= 3) error stop "queues"
  call check(gaspi_segment_create(seg, 4096_gaspi_size_t, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED), "segment_create")
  call check(gaspi_segment_ptr(seg, mem), "segment_ptr")
  call c_f_pointer(mem, cell, [1024])
  call check(gaspi_segment_size(seg, rank, bytes), "segment_size")
  if (bytes /= 4096) error stop "size"

  next = int(mod(int(rank) + 1, int(num)), gaspi_rank_t)
  cell(1) = 100 + rank
  call check(gaspi_write_notify(seg, 0_gaspi_offset_t, next, seg, 4_gaspi_offset_t, 4_gaspi_size_t, 7, 3, queue, &
    GASPI_BLOCK), "write")
  call check(gaspi_notify_waitsome(seg, 7, 1, got, GASPI_BLOCK), "waitsome")
  call check(gaspi_notify_reset(seg, got, old), "reset")
  if (got /= 7 .or. old /= 3) error stop "notification"
  if (cell(2) /= 100 + mod(int(rank) + int(num) - 1, int(num))) error stop "value"
  call check(gaspi_wait(queue, GASPI_BLOCK), "wait")
  rc = gaspi_notify_waitsome(seg, 7, 1, got, GASPI_TEST)
  if (rc /= GASPI_TIMEOUT) error stop "timeout"
  rc = gaspi_notify_waitsome(seg, 7, 1, got, 20)
  if (rc /= GASPI_TIMEOUT) error stop "timeout of 20 ms"

  sl = seg
  sr = seg
  ol = [0, 0]
  orr = [16, 20]
  sizes = [4, 4]
  call check(gaspi_write_list_notify(2, sl, ol, next, sr, orr, sizes, seg, 9, 1, queue, GASPI_BLOCK), "write_list_notify")
  call check(gaspi_notify_waitsome(seg, 9, 1, got, GASPI_BLOCK), "waitsome")
  if (cell(5) /= cell(2) .or. cell(6) /= cell(2)) error stop "list"
  call check(gaspi_wait(queue, GASPI_BLOCK), "wait")

  mine = [1_c_long, int(rank, c_long), -1_c_long]
  call check(gaspi_allreduce(c_loc(mine), c_loc(all), 3, GASPI_OP_SUM, GASPI_TYPE_LONG, GASPI_GROUP_ALL, GASPI_BLOCK), "allreduce")
  if (all(1) /= num .or. all(2) /= int(num) * (int(num) - 1) / 2 .or. all(3) /= -num) error stop "sums"
  call gaspi_printf("done" // c_new_line // c_null_char)
  call gaspi_printf_to(0_gaspi_rank_t, "told" // c_new_line // c_null_char)
  call gaspi_delay()
  call check(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK), "barrier")
  call check(gaspi_proc_term(GASPI_BLOCK), "proc_term")

contains

  subroutine check(code, name)
    integer(gaspi_return_t), intent(in) :: code
    character(*), intent(in) :: name
    if (code /= GASPI_SUCCESS) then
      print *, name, code
      error stop "a call has failed"
    end if
  end subroutine
end program
