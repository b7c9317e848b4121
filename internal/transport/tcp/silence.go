package tcp

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// A peer's host that acknowledges nothing for Config.Silence, though it was sent
// something again and again, is cut off. The system has a limit of its own for that
// (TCP_USER_TIMEOUT), but that also ends connections whose peer is there and only
// reads too slowly: one of hundreds of ranks on a few cores, or a job that the user
// has suspended.

// lookEvery is how often silence is looked for; see transport.LossMost.
func lookEvery(silence time.Duration) time.Duration { return max(silence/4, 10*time.Millisecond) }

// watch ends connections whose peers are silent, until the transport closes.
func (t *Transport) watch() {
	look := time.NewTicker(lookEvery(t.cfg.Silence))
	defer look.Stop()
	for {
		select {
		case <-look.C:
			t.each(func(c *conn) { c.check(t.cfg.Silence) })
		case <-t.ctx.Done():
			return
		}
	}
}

// check ends the connection if the peer's host has acknowledged nothing for limit, though
// data was sent.
func (c *conn) check(limit time.Duration) {
	silent, err := c.silent(limit)
	if err == nil && silent {
		c.t.fail(c, errSilent{limit})
	}
}

// silent reports whether the peer's host is. If so, the connection will end by a reset: where
// only one way is cut, the peer gets answers, and learns of it by that alone.
func (c *conn) silent(limit time.Duration) (silent bool, err error) {
	if c.secure != nil {
		if silent, err = socket.ConnSilent(c.under, limit); silent {
			_ = c.under.SetLinger(0)
		}
		return silent, err
	}
	// The descriptor belongs to the connection until it has ended.
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.in.ended {
		return false, nil
	}
	if silent, err = socket.Silent(c.fd, limit); silent {
		socket.ResetOnClose(c.fd)
	}
	return silent, err
}

// whileHeard makes a handshake on nc, which takes as long as the peer's process needs, but
// ends when its host is silent for limit.
func whileHeard(nc *net.TCPConn, limit time.Duration, handshake func() error) error {
	socket.Set(nc, socket.Tuning{Silence: limit})
	done := make(chan struct{})
	var silent atomic.Bool
	var watch sync.WaitGroup
	watch.Go(func() {
		look := time.NewTicker(lookEvery(limit))
		defer look.Stop()
		for {
			select {
			case <-look.C:
				if now, err := socket.ConnSilent(nc, limit); err == nil && now {
					silent.Store(true)
					nc.SetDeadline(time.Unix(1, 0))
					return
				}
			case <-done:
				return
			}
		}
	})
	err := handshake()
	close(done)
	watch.Wait()
	if silent.Load() {
		return errSilent{limit}
	}
	return err
}

// errSilent says that a host was silent for so long.
type errSilent struct{ limit time.Duration }

// Error says so.
func (e errSilent) Error() string { return fmt.Sprintf("no answer from its host for %v", e.limit) }
