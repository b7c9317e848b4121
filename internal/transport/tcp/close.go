package tcp

import (
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// partingMost bounds how long Close waits for peers to take what was issued: one
// that is stopped would never.
const partingMost = 2 * time.Second

// Close implements transport.Transport. What was issued goes out before, unless
// a peer does not take it in time; then peers are told that this rank leaves. It
// ends every operation and every wait under way with base.ErrClosed, and is
// idempotent.
func (t *Transport) Close() error {
	if !t.closed.CompareAndSwap(false, true) {
		return nil
	}
	t.cancel()
	for _, l := range t.listeners {
		l.Close()
	}
	until := time.Now().Add(t.parting)
	t.until(until, func(c *conn) bool { return c.out.idle() })
	t.each(func(c *conn) { c.tell(&frame{kind: kindBye}) })
	t.until(until, func(c *conn) bool { return c.out.idle() })
	t.each(func(c *conn) { c.endSending() })
	t.until(until, func(c *conn) bool { return c.delivered() })

	t.drained.Store(true)
	t.poller.Wake()
	t.rouse()
	<-t.stopped
	for i := range t.links {
		if l := t.links[i].Load(); l != nil {
			l.close()
		}
	}
	t.work.Wait()
	t.turn.Lock()
	defer t.turn.Unlock()
	t.poller.Close()
	return nil
}

// close ends all connections of a link and all waits. Nobody makes new ones:
// whoever is about to has l.mu and is waited for, or sees that it is too late.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.lanes {
		if c := l.lanes[i].conn.Load(); c != nil {
			c.end(base.ErrClosed)
		}
	}
	l.board.Close()
}

func (t *Transport) each(do func(c *conn)) {
	for i := range t.conns {
		if c := t.conns[i].Load(); c != nil {
			do(c)
		}
	}
}

// until makes progress until all connections satisfy done, or the time is over.
func (t *Transport) until(limit time.Time, done func(c *conn) bool) {
	for {
		all := true
		t.each(func(c *conn) { all = all && done(c) })
		if all || time.Now().After(limit) {
			return
		}
		if !t.Poll() {
			time.Sleep(napLeast) // sleep: acknowledgements come without an event
		}
	}
}

// endSending says that nothing more comes. What comes from the peer is still
// received, lest the system takes back what it has not read yet.
func (c *conn) endSending() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.ended == nil && c.secure == nil {
		sys.EndSending(c.fd)
	}
}

// delivered reports whether the peer's host has all that was sent.
func (c *conn) delivered() bool {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.ended != nil {
		return true
	}
	var n int
	var err error
	if c.secure != nil {
		n, err = sys.UnsentOf(c.under)
	} else {
		n, err = sys.Unsent(c.fd)
	}
	return n == 0 || err != nil
}
