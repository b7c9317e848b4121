//go:build linux && !portable

package socket

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is hot: a message costs one of these calls on either side.

// vectorMost is how many pieces of memory a Vector holds.
const vectorMost = 32

// rawMost is how many bytes a call may move without telling the Go scheduler. They
// take 0.1 ms, for which a collection of garbage may have to wait. Told of the call,
// the scheduler gives the processor to another thread after 20 us, and the caller
// has to get it back.
const rawMost = 1<<20 + 64<<10

// A Vector is memory that one call sends or receives into, piece after piece. It
// keeps the memory alive until Reset. It is not safe for concurrent use.
type Vector struct {
	head  unix.Msghdr
	iov   [vectorMost]unix.Iovec
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
	if v.n == vectorMost {
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
	const how = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	v.before()
	if v.n == 1 { // the system has less to look at
		return v.call(unix.SYS_SENDTO, fd, unsafe.Pointer(v.iov[0].Base), uintptr(v.bytes), how)
	}
	v.head.Iov = &v.iov[0]
	v.head.SetIovlen(v.n)
	return v.call(unix.SYS_SENDMSG, fd, unsafe.Pointer(&v.head), how, 0)
}

// Receive fills the vector with what has arrived, without blocking, and returns
// how much that was; 0 without an error is the end of the connection.
func (v *Vector) Receive(fd int) (n int, errno syscall.Errno) {
	if v.n == 1 {
		n, errno = v.call(unix.SYS_RECVFROM, fd, unsafe.Pointer(v.iov[0].Base), uintptr(v.bytes), unix.MSG_DONTWAIT)
	} else {
		v.head.Iov = &v.iov[0]
		v.head.SetIovlen(v.n)
		n, errno = v.call(unix.SYS_RECVMSG, fd, unsafe.Pointer(&v.head), unix.MSG_DONTWAIT, 0)
	}
	v.after(n)
	return n, errno
}

// call makes a system call that does not block. The kernel gets the address for
// the length of the call, and v, which is used afterwards, keeps alive what the
// address and those in v.iov lead to. v lies on the heap, which does not move.
func (v *Vector) call(number uintptr, fd int, at unsafe.Pointer, a, b uintptr) (int, syscall.Errno) {
	var n uintptr
	var errno syscall.Errno
	if v.bytes <= rawMost {
		n, _, errno = syscall.RawSyscall6(number, uintptr(fd), uintptr(at), a, b, 0, 0)
	} else {
		n, _, errno = syscall.Syscall6(number, uintptr(fd), uintptr(at), a, b, 0, 0)
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
