package tcp

import (
	"syscall"
	"unsafe"
)

// rawMove is a read or a write without the Go scheduler, as bare as it gets.
func rawMove(number uintptr, fd int, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
