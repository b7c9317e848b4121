package control

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// A Heartbeat says how two sides show each other that they are there. A connection over a
// network can die without a word: a cable, a host, a process that was stopped.
type Heartbeat struct {
	Period time.Duration // between two signs of life that are sent; 0: none is
	Limit  time.Duration // silence after which Receive fails; 0: never
}

// Watch begins to send signs of life and to expect some. It is called once, not while the
// Conn is being closed, and by the goroutine that receives or before it begins. Silence
// counts while that goroutine waits in Receive.
func (c *Conn[M]) Watch(h Heartbeat) {
	c.in.limit.Store(int64(h.Limit))
	if h.Period > 0 {
		c.beats.Go(func() { c.beatLoop(h.Period) })
	}
}

// Pause says whether the peer may be silent from now on, because it is about to be stopped.
func (c *Conn[M]) Pause(on bool) { c.in.paused.Store(on) }

// beatLoop sends signs of life until nothing is sent any more.
func (c *Conn[M]) beatLoop(period time.Duration) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.Send(c.protocol.Beat)
		case <-c.sent:
			return
		}
	}
}

// turnsPerLimit is in how many turns a listener waits out a silence.
const turnsPerLimit = 8

// A listener reads from a connection, for no longer than the peer may be silent. Any byte
// is a sign of life, also in the middle of a long message. It waits in short turns: a
// process that was stopped for a while, as when the user has suspended the job, finds a
// long silence that is its own, and counts two turns.
type listener struct {
	conn   net.Conn
	limit  atomic.Int64 // nanoseconds, 0 for ever; Watch stores it, the receiver loads it
	paused atomic.Bool  // silence does not count; Pause stores it, the receiver loads it
}

func (l *listener) Read(b []byte) (int, error) {
	limit := time.Duration(l.limit.Load())
	if limit <= 0 {
		return l.conn.Read(b)
	}
	turn := max(limit/turnsPerLimit, time.Millisecond)
	for quiet := time.Duration(0); ; {
		begun := time.Now()
		l.conn.SetReadDeadline(begun.Add(turn))
		n, err := l.conn.Read(b)
		quiet += min(time.Since(begun), 2*turn)
		if l.paused.Load() {
			quiet = 0
		}
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || quiet >= limit {
			return n, err
		}
	}
}
