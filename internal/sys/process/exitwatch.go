//go:build linux && !portable

package process

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// An ExitWatch reports the ends of children of this process in the order in which they
// happened. A child is not reaped: its number, and that of its process group, stay taken
// until somebody waits for it.
//
// It is an epoll of descriptors of processes. The kernel keeps the ready descriptors of an
// epoll in the order in which they became ready, and makes that of a process ready under
// the lock that every end of a process takes. So a child that ends because it has learned of
// the end of another one comes after it, however late this process looks.
//
// A process gives up its files a moment before its end counts. A child that reads the end of
// a pipe from another one, and ends faster than the kernel finishes that one, can come first.
//
// Where the system refuses descriptors of processes (before Linux 5.4, and behind filters of
// system calls), a thread waits for each child, and children that end before both threads have
// run come in any order.
type ExitWatch struct {
	epoll  *os.File
	conn   syscall.RawConn // of epoll
	events []unix.EpollEvent

	mu       sync.Mutex
	children map[int]int // guarded by mu; the child behind a descriptor
	seen     []Ended     // guarded by mu; ends that threads have seen, not yet returned by Wait
	news     int         // guarded by mu; an eventfd in epoll that says so; -1 without threads and after Close
}

// eventsMost is how many ends one look at an epoll returns.
const eventsMost = 64

// WatchExits makes a watch without children. It takes one open file, and one for each child
// until its end is reported.
func WatchExits() (*ExitWatch, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that the poller of the Go runtime takes it
		unix.Close(fd)
		return nil, fmt.Errorf("watch of exits: %w", err)
	}
	w := &ExitWatch{
		epoll: os.NewFile(uintptr(fd), "exits"), events: make([]unix.EpollEvent, eventsMost), children: map[int]int{}, news: -1,
	}
	if w.conn, err = w.epoll.SyscallConn(); err != nil {
		w.epoll.Close()
		return nil, fmt.Errorf("watch of exits: %w", err)
	}
	return w, nil
}

// Add watches a child, which may have ended before. It may be called while another goroutine
// is in Wait.
func (w *ExitWatch) Add(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if sys.CallRefused(err) {
		return w.addThread(pid)
	}
	if err != nil {
		return fmt.Errorf("pidfd_open %d: %w", pid, err)
	}
	if _, _, err := peekExit(unix.P_PIDFD, fd, unix.WNOHANG); err != nil {
		unix.Close(fd)
		if err == unix.EINVAL {
			return w.addThread(pid)
		}
		return fmt.Errorf("wait for process %d: %w", pid, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.children[fd] = pid
	if err := w.await(fd); err != nil {
		delete(w.children, fd)
		unix.Close(fd)
		return fmt.Errorf("watch process %d: %w", pid, err)
	}
	return nil
}

// await puts fd into the epoll.
func (w *ExitWatch) await(fd int) (err error) {
	outer := w.conn.Control(func(epoll uintptr) {
		err = unix.EpollCtl(int(epoll), unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	})
	return cmp.Or(outer, err)
}

// addThread is Add without a descriptor of the process.
func (w *ExitWatch) addThread(pid int) error {
	if _, _, err := peekExit(unix.P_PID, pid, unix.WNOHANG); err != nil {
		return fmt.Errorf("wait for process %d: %w", pid, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news < 0 {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		if err != nil {
			return fmt.Errorf("eventfd: %w", err)
		}
		if err := w.await(fd); err != nil {
			unix.Close(fd)
			return fmt.Errorf("watch process %d: %w", pid, err)
		}
		w.news = fd
	}
	go w.waitOnThread(pid)
	return nil
}

// waitOnThread waits for the end of a child and hands it to Wait.
func (w *ExitWatch) waitOnThread(pid int) {
	exit, err := awaitExitOnThread(pid)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.news < 0 {
		return // nobody waits any more
	}
	w.seen = append(w.seen, Ended{PID: pid, Exit: exit, Err: err})
	_, _ = unix.Write(w.news, []byte{7: 1}) // adds to its count; it is far from full
}

// Wait blocks until a child has ended whose end was not returned before, and returns the ends
// of some such children, in order. It holds no thread meanwhile. One goroutine at a time
// calls it. After Close it returns an error.
func (w *ExitWatch) Wait() ([]Ended, error) {
	var ended []Ended
	var failed error
	err := w.conn.Read(func(epoll uintptr) bool {
		var n int
		n, failed = unix.EpollWait(int(epoll), w.events, 0)
		if failed == unix.EINTR {
			n, failed = 0, nil
		}
		ended = w.take(int(epoll), w.events[:max(n, 0)])
		return len(ended) > 0 || failed != nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("wait for the ends of processes: %w", err)
	}
	return ended, nil
}

// take takes the children behind events out of the watch.
func (w *ExitWatch) take(epoll int, events []unix.EpollEvent) (ended []Ended) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range events {
		fd := int(events[i].Fd)
		if fd == w.news {
			_, _ = unix.Read(fd, make([]byte, 8)) // it is not empty
			ended, w.seen = append(ended, w.seen...), nil
			continue
		}
		exit, over, err := peekExit(unix.P_PIDFD, fd, unix.WNOHANG)
		if !over && err == nil {
			continue
		}
		ended = append(ended, Ended{PID: w.children[fd], Exit: exit, Err: err})
		_ = unix.EpollCtl(epoll, unix.EPOLL_CTL_DEL, fd, nil) // it was added
		delete(w.children, fd)
		unix.Close(fd)
	}
	return ended
}

// Close ends the watch and a Wait that is under way.
func (w *ExitWatch) Close() {
	w.epoll.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for fd := range w.children {
		unix.Close(fd)
	}
	clear(w.children)
	if w.news >= 0 {
		unix.Close(w.news)
		w.news = -1
	}
}
