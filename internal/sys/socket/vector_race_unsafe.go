//go:build linux && !portable && race

package socket

import (
	"errors"
	"reflect"
	"runtime"
	"unsafe"
)

// socketOrder stands for the order that sockets make: what was done before any
// Send comes before what is done after a later Receive. It is coarser than the
// truth, as that of package syscall is, and never wrong about correct programs. Its address is all that is used of it.
var socketOrder = errors.New("order of sends and receives")

func (v *Vector) before() {
	for i := range v.iov[:v.n] {
		runtime.RaceReadRange(unsafe.Pointer(v.iov[i].Base), int(v.iov[i].Len))
	}
	runtime.RaceReleaseMerge(reflect.ValueOf(socketOrder).UnsafePointer())
}

// after notes the order first: the bytes were written by whoever sent them.
func (v *Vector) after(n int) {
	if n <= 0 {
		return
	}
	runtime.RaceAcquire(reflect.ValueOf(socketOrder).UnsafePointer())
	for i := range v.iov[:v.n] {
		part := min(n, int(v.iov[i].Len))
		if part == 0 {
			return
		}
		runtime.RaceWriteRange(unsafe.Pointer(v.iov[i].Base), part)
		n -= part
	}
}
