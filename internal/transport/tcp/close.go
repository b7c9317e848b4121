package tcp

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// partingMost bounds how long Close waits for peers to take the data that was issued: a
// peer that is stopped never would.
const partingMost = 2 * time.Second

// Close implements transport.Transport. It sends all data that was issued, unless a peer
// does not take it in time, and then kindBye to all peers. It ends every operation and
// every wait under way with base.ErrClosed, and is idempotent.
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
	t.each(func(c *conn) { c.sendControl(&frame{kind: kindBye}) })
	t.until(until, func(c *conn) bool { return c.out.idle() })
	t.each(func(c *conn) { c.endSending() })
	t.until(until, func(c *conn) bool { return c.delivered() })

	t.progress.Stop(t.poller.Wake)
	t.links.Each((*link).close)
	t.work.Wait()
	t.progress.polling.Lock()
	defer t.progress.polling.Unlock()
	t.poller.Close()
	return nil
}

// close ends all connections of a link and all waits. No new ones are made: a goroutine
// that is about to make one holds l.mu, or sees that the transport is closed.
func (l *link) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.channels {
		if c := l.channels[i].conn.Load(); c != nil {
			c.end(base.ErrClosed)
		}
	}
	l.array.Close()
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

// endSending shuts down the sending direction. The other stays open: if data that
// arrives were not read, the system would discard data that the peer has not read yet.
func (c *conn) endSending() {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.ended == nil && c.secure == nil {
		socket.EndSending(c.fd)
	}
}

// delivered reports whether the peer's host has acknowledged all data.
func (c *conn) delivered() bool {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.ended != nil {
		return true
	}
	var n int
	var err error
	if c.secure != nil {
		n, err = socket.UnsentOf(c.under)
	} else {
		n, err = socket.Unsent(c.fd)
	}
	return n == 0 || err != nil
}
