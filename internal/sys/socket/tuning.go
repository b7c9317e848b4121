package socket

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Tuning says how a connection behaves. Zero fields leave the system's
// default.
type Tuning struct {
	// Congestion is the name of the congestion control.
	Congestion string
	// Silence is how long the host at the other end may be silent. An idle connection is
	// probed, so that Silent can tell: see there.
	Silence time.Duration
}

// LeastSilence is the shortest silence of an idle connection that is noticed in time: the
// system probes in whole seconds.
const LeastSilence = probedLeast * time.Second

// probedLeast is how often the system must have probed a silent peer, whose connection is idle
// or which had no room, before its silence counts.
const probedLeast = 3

// EndSending tells the peer that nothing more comes.
func EndSending(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) }

// Again reports whether a system call that did not block found nothing to do.
func Again(errno syscall.Errno) bool { return errno == syscall.EAGAIN || errno == syscall.EINTR }
