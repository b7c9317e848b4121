//go:build linux && !portable

package socket

import (
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// probesMost is how many probes of an idle connection stay unanswered in a row
// before the system takes it for broken: it is the last to notice. With 2, and 256 busy
// processes on two cores, whose systems answer late, connections broke whose peers were there.
const probesMost = 6

// Take makes a descriptor of c's connection that is the caller's, not
// blocking, without delay for small packets and with those options, and closes c.
// Options that the system refuses stay at its default; an error means that the
// descriptor could not be had, and then c is not closed.
func Take(c *net.TCPConn, opt Tuning) (fd int, err error) {
	fd, err = ofConn(c, func(was int) (int, error) { return unix.FcntlInt(uintptr(was), unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil {
		return -1, fmt.Errorf("descriptor of a connection: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("descriptor of a connection: %w", err)
	}
	c.Close()
	Delay(fd, false)
	opt.apply(fd)
	return fd, nil
}

// Delay sets whether the system delays a short packet while the peer has not acknowledged all others.
// An end of that sends what was delayed.
func Delay(fd int, on bool) {
	without := 1
	if on {
		without = 0
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, without)
}

// AcknowledgeNow sends the acknowledgement of what was read, if it is due.
func AcknowledgeNow(fd int) { _ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) }

// Set applies options to a connection that stays in Go's hands.
func Set(c *net.TCPConn, opt Tuning) {
	_, _ = ofConn(c, func(fd int) (struct{}, error) {
		opt.apply(fd)
		return struct{}{}, nil
	})
}

func (opt Tuning) apply(fd int) {
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

// ResetOnClose makes the close of a connection tell the peer that it broke, at once and
// instead of all that was sent and has not arrived.
func ResetOnClose(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// resentLeast is how often the system must have sent something again to a silent peer before
// its silence counts.
const resentLeast = 2

// Silent reports whether the host at the other end of a TCP connection has
// been asked several times, by what was sent to it, and has not said anything for
// limit. One that answers but has no room is not silent.
func Silent(fd int, limit time.Duration) (bool, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return false, err
	}
	asked := info.Unacked > 0 && info.Retransmits >= resentLeast || info.Probes >= probedLeast
	return asked && time.Duration(info.Last_ack_recv)*time.Millisecond > limit, nil
}

// ConnSilent is Silent for a connection in Go's hands.
func ConnSilent(c *net.TCPConn, limit time.Duration) (bool, error) {
	return ofConn(c, func(fd int) (bool, error) { return Silent(fd, limit) })
}

// UnsentOf is Unsent for a connection that stays in Go's hands.
func UnsentOf(c *net.TCPConn) (int, error) { return ofConn(c, Unsent) }

// ofConn returns what ask says of the descriptor of a connection in Go's hands.
func ofConn[T any](c *net.TCPConn, ask func(fd int) (T, error)) (answer T, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return answer, err
	}
	if failed := raw.Control(func(fd uintptr) { answer, err = ask(int(fd)) }); failed != nil {
		err = failed
	}
	return answer, err
}

// Measure returns what the system has measured of a TCP connection. It is one system call.
func Measure(fd int) (Metrics, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return Metrics{}, err
	}
	m := Metrics{
		RTT: time.Duration(info.Rtt) * time.Microsecond, MinRTT: time.Duration(info.Min_rtt) * time.Microsecond,
		Acked: info.Bytes_acked, Received: info.Bytes_received, Segments: uint64(info.Segs_out), Arrived: uint64(info.Segs_in),
		Resent: uint64(info.Total_retrans), Rate: info.Delivery_rate, Busy: time.Duration(info.Busy_time) * time.Microsecond,
	}
	if info.Min_rtt == math.MaxUint32 { // nothing was measured
		m.MinRTT = 0
	}
	return m, nil
}

// MeasureConn is Measure for a connection in Go's hands.
func MeasureConn(c *net.TCPConn) (Metrics, error) { return ofConn(c, Measure) }
