//go:build linux && !portable

package sys

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// How often the system must have asked a silent peer before its silence counts:
// what was sent has been sent again, or a peer that had no room was asked for some.
const (
	resentLeast = 2
	probedLeast = 3
)

// SocketSilent reports whether the host at the other end of a TCP connection has
// been asked several times, by what was sent to it, and has not said anything for
// limit. One that answers but has no room is not silent.
func SocketSilent(fd int, limit time.Duration) (bool, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return false, err
	}
	asked := info.Unacked > 0 && info.Retransmits >= resentLeast || info.Probes >= probedLeast
	return asked && time.Duration(info.Last_ack_recv)*time.Millisecond > limit, nil
}

// ConnSilent is SocketSilent for a connection in Go's hands.
func ConnSilent(c *net.TCPConn, limit time.Duration) (silent bool, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false, err
	}
	if cerr := raw.Control(func(fd uintptr) { silent, err = SocketSilent(int(fd), limit) }); cerr != nil {
		return false, cerr
	}
	return silent, err
}
