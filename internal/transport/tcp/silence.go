package tcp

import (
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// A peer's host that acknowledges nothing for Config.Silence, though it was sent
// something again and again, is cut off. The system has a limit of its own for that
// (TCP_USER_TIMEOUT), but that also ends connections whose peer is there and only
// reads too slowly: one of hundreds of ranks on a few cores, or a job that the user
// has suspended.

// watch ends connections whose peers are silent, until the transport closes.
func (t *Transport) watch() {
	look := time.NewTicker(max(t.cfg.Silence/4, 10*time.Millisecond))
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

// check ends the connection if nothing has been heard from the peer's host for
// limit in spite of questions.
func (c *conn) check(limit time.Duration) {
	silent, err := c.silent(limit)
	if err == nil && silent {
		c.t.broken(c, fmt.Errorf("no answer from its host for %v", limit))
	}
}

func (c *conn) silent(limit time.Duration) (bool, error) {
	if c.secure != nil {
		return sys.ConnSilent(c.under, limit)
	}
	// The descriptor belongs to the connection until it has ended.
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.in.ended {
		return false, nil
	}
	return sys.SocketSilent(c.fd, limit)
}
