package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is hot: a message costs one of these calls on either side.

// VectorMost is how many pieces of memory a Vector holds.
const VectorMost = 32

// rawMost is how many bytes a call may move without telling the Go scheduler. It
// saves 0.1 us; the processor that it keeps from the scheduler for longer than a
// few microseconds would be missed.
const rawMost = 32 << 10

// A Vector is memory that one call sends or receives into, piece after piece. It
// keeps the memory alive until Reset. It is not safe for concurrent use.
type Vector struct {
	head  unix.Msghdr
	iov   [VectorMost]unix.Iovec
	n     int
	bytes int
}

// Reset empties the vector.
func (v *Vector) Reset() {
	clear(v.iov[:v.n])
	v.n, v.bytes = 0, 0
}

// Add appends b, unless it is empty. It reports whether there was room.
func (v *Vector) Add(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if v.n == VectorMost {
		return false
	}
	v.iov[v.n].Base = unsafe.SliceData(b)
	v.iov[v.n].SetLen(len(b))
	v.n++
	v.bytes += len(b)
	return true
}

// Len is the number of bytes in the vector.
func (v *Vector) Len() int { return v.bytes }

// Send sends what the socket takes without blocking and returns how much that
// was. A peer that is gone is an error and no signal.
func (v *Vector) Send(fd int) (int, syscall.Errno) {
	v.before()
	v.head.Iov = &v.iov[0]
	v.head.SetIovlen(v.n)
	return v.call(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&v.head)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

// Receive fills the vector with what has arrived, without blocking, and returns
// how much that was; 0 without an error is the end of the connection.
func (v *Vector) Receive(fd int) (int, syscall.Errno) {
	n, errno := v.call(unix.SYS_READV, fd, uintptr(unsafe.Pointer(&v.iov[0])), uintptr(v.n))
	v.after(n)
	return n, errno
}

// call makes a system call with an address in v. The address is good because v is
// in use by the caller's caller afterwards, and heap memory does not move; v never
// lies on a stack, since its iov's addresses are kept in it.
//
//go:uintptrescapes
func (v *Vector) call(number uintptr, fd int, at, arg uintptr) (int, syscall.Errno) {
	var n uintptr
	var errno syscall.Errno
	if v.bytes <= rawMost {
		n, _, errno = syscall.RawSyscall(number, uintptr(fd), at, arg)
	} else {
		n, _, errno = syscall.Syscall(number, uintptr(fd), at, arg)
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
