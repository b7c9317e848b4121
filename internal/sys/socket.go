//go:build linux && !portable

package sys

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SocketOptions say how a connection behaves. Zero fields leave the system's
// default.
type SocketOptions struct {
	// Congestion is the name of the congestion control.
	Congestion string
	// Silence is how long the host at the other end may be silent. An idle connection is
	// probed, so that SocketSilent can tell: see there.
	Silence time.Duration
}

// probesMost is how many probes of an idle connection stay unanswered in a row
// before the system takes it for broken: it is the last to notice. With 2, and 256 busy
// processes on two cores, whose systems answer late, connections broke whose peers were there.
const probesMost = 6

// LeastSilence is the shortest silence of an idle connection that is noticed in time: the
// system probes in whole seconds.
const LeastSilence = probedLeast * time.Second

// TakeSocket makes a descriptor of c's connection that is the caller's, not
// blocking, without delay for small packets and with those options, and closes c.
// Options that the system refuses stay at its default; an error means that the
// descriptor could not be had, and then c is closed too.
func TakeSocket(c *net.TCPConn, opt SocketOptions) (fd int, err error) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, fmt.Errorf("descriptor of a connection: %w", err)
	}
	fd = -1
	var dupErr error
	if err := raw.Control(func(was uintptr) { fd, dupErr = unix.FcntlInt(was, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return -1, fmt.Errorf("descriptor of a connection: %w", err)
	}
	if dupErr != nil {
		return -1, fmt.Errorf("descriptor of a connection: %w", dupErr)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("descriptor of a connection: %w", err)
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	opt.apply(fd)
	return fd, nil
}

// SetSocket applies options to a connection that stays in Go's hands.
func SetSocket(c *net.TCPConn, opt SocketOptions) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { opt.apply(int(fd)) })
	}
}

func (opt SocketOptions) apply(fd int) {
	if opt.Congestion != "" {
		_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, opt.Congestion)
	}
	if opt.Silence > 0 {
		seconds := int(opt.Silence / time.Second) // the third probe goes out within max(Silence, LeastSilence)
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, max(1, seconds/2))
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(1, seconds/4))
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, probesMost)
	}
}

// Congestion is the name of the congestion control that a connection uses, empty
// if the system does not say.
func Congestion(fd int) string {
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		return ""
	}
	return name
}

// CheckCongestion returns why connections of this process cannot use the congestion control of
// that name, or nil if they can.
func CheckCongestion(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	switch err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); err {
	case nil:
		return nil
	case unix.ENOENT:
		return errors.New("there is no such congestion control in this system")
	default:
		return fmt.Errorf("the system refuses this congestion control (%w)", err)
	}
}

// Unsent is how many bytes the peer's system has not acknowledged yet.
func Unsent(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.TIOCOUTQ) }

// UnsentOf is Unsent for a connection that stays in Go's hands.
func UnsentOf(c *net.TCPConn) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if failed := raw.Control(func(fd uintptr) { n, err = Unsent(int(fd)) }); failed != nil {
		return 0, failed
	}
	return n, err
}

// EndSending tells the peer that nothing more comes.
func EndSending(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) }

// ResetOnClose makes the close of a connection tell the peer that it broke, at once and
// instead of all that was sent and has not arrived.
func ResetOnClose(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// Again reports whether a system call that did not block found nothing to do.
func Again(errno syscall.Errno) bool { return errno == syscall.EAGAIN || errno == syscall.EINTR }
