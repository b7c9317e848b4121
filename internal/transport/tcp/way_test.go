package tcp

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

// A peer to which there is no way for a moment is no lost peer: the neighbours of a host
// that was just plugged in may still have noted that it does not answer.
func TestNoWayForAMoment(t *testing.T) {
	for _, why := range []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN} {
		t.Run(why.Error(), func(t *testing.T) {
			var lost losses
			var refuse atomic.Int32 // attempts that find no way; none while ranks begin to listen
			ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
				cfg.Silence, cfg.Lost = generous, lost.note
				cfg.within = func(do func() error) error {
					if refuse.Add(-1) >= 0 {
						return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", why)}
					}
					return do()
				}
			})
			refuse.Store(3)
			ok(t, linkTo(t, ranks[0], 1).Ping(within(t)))
			if left := refuse.Load(); left >= 0 || lost.count() != 0 {
				t.Errorf("%d attempts were to fail still; lost %v", left, lost.all)
			}
		})
	}
}

// One to which there is no way for as long as it may be silent is lost.
func TestNoWayAtAll(t *testing.T) {
	var lost losses
	var tries, shut atomic.Int32
	ranks := join(t, 2, func(_ base.Rank, cfg *Config) {
		cfg.Silence, cfg.Lost = 250*time.Millisecond, lost.note
		cfg.within = func(do func() error) error {
			if shut.Load() > 0 {
				tries.Add(1)
				return os.NewSyscallError("connect", syscall.EHOSTUNREACH)
			}
			return do()
		}
	})
	shut.Store(1)
	err := linkTo(t, ranks[0], 1).Ping(within(t))
	isGone(t, "ping", err, 1)
	if !strings.Contains(err.Error(), "no route to host") || tries.Load() < wayTries || lost.count() != 1 {
		t.Errorf("%v after %d attempts; lost %v", err, tries.Load(), lost.all)
	}
}

func TestNoWay(t *testing.T) {
	none := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{none, true},
		{errors.Join(none, fmt.Errorf("dial: %w", syscall.ENETUNREACH)), true},
		{errors.Join(none, syscall.ECONNREFUSED), false}, // it is there, and nobody listens
		{os.ErrDeadlineExceeded, false},
		{fmt.Errorf("%w: %w", errUnfinished, syscall.ECONNRESET), false},
	} {
		if got := noWay(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}
