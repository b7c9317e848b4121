! Functions beyond the GASPI standard: GASPI_Ext.h for Fortran.
module gaspi_ext
  use, intrinsic :: iso_c_binding
  use gaspi_types
  implicit none

  interface
    function gaspi_initialized(n) result(rc) bind(c, name="gaspi_initialized")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_local_rank(r) result(rc) bind(c, name="gaspi_proc_local_rank")
      import
      integer(gaspi_rank_t), intent(out) :: r
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_local_num(n) result(rc) bind(c, name="gaspi_proc_local_num")
      import
      integer(gaspi_rank_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_cpu_frequency(f) result(rc) bind(c, name="gaspi_cpu_frequency")
      import
      real(c_float), intent(out) :: f
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_numa_socket(s) result(rc) bind(c, name="gaspi_numa_socket")
      import
      integer(gaspi_uchar), intent(out) :: s
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_set_socket_affinity(s) result(rc) bind(c, name="gaspi_set_socket_affinity")
      import
      integer(gaspi_uchar), value :: s
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_proc_ping(r, timeout_ms) result(rc) bind(c, name="gaspi_proc_ping")
      import
      integer(gaspi_rank_t), value :: r
      integer(gaspi_timeout_t), value :: timeout_ms
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_avail_local(id) result(rc) bind(c, name="gaspi_segment_avail_local")
      import
      integer(gaspi_segment_id_t), intent(out) :: id
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_segment_size(id, r, size) result(rc) bind(c, name="gaspi_segment_size")
      import
      integer(gaspi_segment_id_t), value :: id
      integer(gaspi_rank_t), value :: r
      integer(gaspi_size_t), intent(out) :: size
      integer(gaspi_return_t) :: rc
    end function

    function gaspi_rw_list_elem_max(n) result(rc) bind(c, name="gaspi_rw_list_elem_max")
      import
      integer(gaspi_number_t), intent(out) :: n
      integer(gaspi_return_t) :: rc
    end function

    subroutine gaspi_printf(text) bind(c, name="gaspi_printf")
      import
      character(kind=c_char), intent(in) :: text(*) ! a format of C, ended by c_null_char
    end subroutine

    subroutine gaspi_printf_to(rank, text) bind(c, name="gaspi_printf_to")
      import
      integer(gaspi_rank_t), value :: rank
      character(kind=c_char), intent(in) :: text(*) ! as for gaspi_printf
    end subroutine

    subroutine gaspi_delay() bind(c, name="gaspi_delay")
    end subroutine

    subroutine gaspi_print_affinity_mask() bind(c, name="gaspi_print_affinity_mask")
    end subroutine

    function gaspi_error_str(code) result(text) bind(c, name="gaspi_error_str")
      import
      integer(gaspi_return_t), value :: code
      type(c_ptr) :: text
    end function
  end interface
end module
