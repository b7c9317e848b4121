//go:build linux && !portable

package socket

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// eventsMost is how many events one look returns.
const eventsMost = 64

// Events is what a Poller has seen.
type Events struct {
	raw [eventsMost]unix.EpollEvent
	n   int
}

// Len is the number of events.
func (e *Events) Len() int { return e.n }

// At is event i: the key of a descriptor, and whether it can be read and written
// without blocking. A broken connection is both.
func (e *Events) At(i int) (key int, in, out bool) {
	const in_ = unix.EPOLLIN | unix.EPOLLHUP | unix.EPOLLERR | unix.EPOLLRDHUP
	const out_ = unix.EPOLLOUT | unix.EPOLLHUP | unix.EPOLLERR
	return int(e.raw[i].Fd), e.raw[i].Events&in_ != 0, e.raw[i].Events&out_ != 0
}

// A Poller says which of many descriptors can be read or written. All methods are
// safe for concurrent use, but Close.
type Poller struct {
	fd   int
	wake int
}

// NewPoller makes a poller without descriptors.
func NewPoller() (*Poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	p := &Poller{fd: fd, wake: wake}
	if err := p.control(unix.EPOLL_CTL_ADD, wake, wakeKey, false); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// wakeKey is the key of the poller's own descriptor.
const wakeKey = -1

// Add watches a socket for reading, and for writing if out is set. key is what
// events of it carry, from 0.
func (p *Poller) Add(fd, key int, out bool) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, key, out)
}

// Watch changes whether a socket is watched for writing.
func (p *Poller) Watch(fd, key int, out bool) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, key, out)
}

// Remove forgets a socket.
func (p *Poller) Remove(fd int) { _ = unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, fd, nil) }

func (p *Poller) control(op, fd, key int, out bool) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(key)}
	if out {
		e.Events |= unix.EPOLLOUT
	}
	if err := unix.EpollCtl(p.fd, op, fd, &e); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// Look fills e with what can be done now, without blocking. e must not lie on a
// stack.
func (p *Poller) Look(e *Events) int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&e.raw[0])), eventsMost, 0, 0, 0)
	return p.found(e, int(n), errno, false)
}

// Await is Look that blocks until there is something, or Wake was called.
func (p *Poller) Await(e *Events) int {
	n, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), uintptr(unsafe.Pointer(&e.raw[0])), eventsMost, ^uintptr(0), 0, 0)
	return p.found(e, int(n), errno, true)
}

// found takes the poller's own descriptor out of the events. A Look leaves it for
// the Await that it is meant for.
func (p *Poller) found(e *Events, n int, errno syscall.Errno, awaited bool) int {
	if errno != 0 {
		n = 0
	}
	e.n = n
	for i := range n {
		if e.raw[i].Fd == wakeKey {
			if awaited {
				var count [8]byte
				_, _ = unix.Read(p.wake, count[:])
			}
			e.n--
			e.raw[i] = e.raw[e.n]
			break
		}
	}
	return e.n
}

// Wake makes an Await return, the one under way or the next.
func (p *Poller) Wake() {
	one := [8]byte{1}
	_, _ = unix.Write(p.wake, one[:])
}

// Close gives the descriptors back. Nobody may be in a call.
func (p *Poller) Close() {
	unix.Close(p.wake)
	unix.Close(p.fd)
}
