// Package control is the connection between two processes that control a job: messages
// both ways, signs of life, and an end that both notice.
//
// It knows neither ranks nor what a message means: a Protocol says how messages travel.
// Both sides have proven who they are before a Conn takes their connection. Package boot
// and the launcher make one for each rank and each agent. Nothing here is fast.
package control

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// outBuffer is how much of what is queued leaves at once, in bytes: a sealed record.
const outBuffer = 16 << 10

// A Conn sends and receives messages over a connection of any kind. One goroutine at a
// time receives; all other methods may be called from any goroutine. Sending never blocks:
// a goroutine of the Conn writes what is queued.
type Conn[M any] struct {
	conn     net.Conn
	protocol Protocol[M]
	in       *listener
	next     func() (M, error) // used by the goroutine that receives

	mu      sync.Mutex
	queue   net.Buffers     // guarded by mu
	late    func() []M      // guarded by mu: makes messages when the queue is written; nil for none
	lateAt  int             // guarded by mu: their place in the queue
	unsent  int             // guarded by mu: bytes in queue and in the write under way
	closing bool            // guarded by mu: nothing more will be queued
	err     error           // guarded by mu: why sending stopped
	holds   []func()        // guarded by mu: called before the queue is written
	marks   []chan struct{} // guarded by mu: closed when the queue has been written

	wake  chan struct{} // holds one token when what mu guards has changed
	sent  chan struct{} // closed when the goroutine that writes has ended
	beats sync.WaitGroup
}

// New returns a Conn over conn, which it takes.
func New[M any](conn net.Conn, p Protocol[M]) *Conn[M] {
	in := &listener{conn: conn}
	c := &Conn[M]{
		conn: conn, protocol: p, in: in, next: p.Decoder(in),
		wake: make(chan struct{}, 1), sent: make(chan struct{}),
	}
	go c.sendLoop()
	return c
}

// Send queues a message, or returns the error of the protocol. It borrows what Encode has
// returned until the message is written. When nothing is sent any more it does nothing:
// Err says why, and Receive fails.
func (c *Conn[M]) Send(m M) error { return c.send(m, nil) }

// SendAfter is Send of a message that is written when hold has returned. The goroutine
// that writes calls hold, so what is queued later waits too.
func (c *Conn[M]) SendAfter(hold func(), m M) error { return c.send(m, []func(){hold}) }

// SendLate is Send of messages that late makes when they are about to be written. A call before that is
// included in the one before, so that what a slow peer is to hear can be put together. The goroutine
// that writes calls late, which is the same in all calls.
func (c *Conn[M]) SendLate(late func() []M) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errLocked() != nil || c.late != nil {
		return
	}
	c.late, c.lateAt = late, len(c.queue)
	c.wakeLocked()
}

func (c *Conn[M]) send(m M, holds []func()) error {
	parts, err := c.protocol.Encode(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errLocked() != nil {
		return nil
	}
	c.unsent += size(parts)
	if limit := c.protocol.MaxUnsent; limit > 0 && c.unsent > limit {
		c.err = fmt.Errorf("the peer has left more than %d bytes unread", limit)
		c.conn.Close()
	} else {
		c.queue, c.holds = append(c.queue, parts...), append(c.holds, holds...)
	}
	c.wakeLocked()
	return nil
}

// Err returns why nothing is sent any more, or nil while messages are sent.
func (c *Conn[M]) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.errLocked()
}

func (c *Conn[M]) errLocked() error {
	if c.err == nil && c.closing {
		return net.ErrClosed
	}
	return c.err
}

// Written returns a channel that is closed when what is queued now has been handed to the
// system, or when nothing is sent any more.
func (c *Conn[M]) Written() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errLocked() != nil {
		return c.sent
	}
	done := make(chan struct{})
	c.marks = append(c.marks, done)
	c.wakeLocked()
	return done
}

func (c *Conn[M]) wakeLocked() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// sendLoop writes what is queued until the Conn is closed or the peer is gone.
func (c *Conn[M]) sendLoop() {
	defer close(c.sent)
	out := bufio.NewWriterSize(c.conn, outBuffer)
	for range c.wake {
		c.mu.Lock()
		batch, closing, holds, marks := c.queue, c.closing, c.holds, c.marks
		late, lateAt := c.late, c.lateAt
		c.queue, c.holds, c.marks, c.late = nil, nil, nil, nil
		c.mu.Unlock()
		for _, hold := range holds {
			hold()
		}
		n := size(batch) // which writing empties
		var err error
		if late != nil {
			var parts net.Buffers
			parts, err = c.encodeAll(late())
			batch = slices.Insert(batch, lateAt, parts...)
		}
		if err == nil {
			_, err = batch.WriteTo(out)
		}
		if err == nil {
			err = out.Flush()
		}
		c.mu.Lock()
		c.unsent -= n
		if c.err == nil {
			c.err = err
		}
		if c.err != nil {
			closing, marks = true, append(marks, c.marks...)
			c.queue, c.holds, c.marks, c.late = nil, nil, nil, nil
		}
		c.mu.Unlock()
		for _, done := range marks {
			close(done)
		}
		if closing {
			return
		}
	}
}

// encodeAll returns messages as they travel.
func (c *Conn[M]) encodeAll(messages []M) (all net.Buffers, err error) {
	for _, m := range messages {
		parts, err := c.protocol.Encode(m)
		if err != nil {
			return nil, err
		}
		all = append(all, parts...)
	}
	return all, nil
}

// size is the number of bytes of parts.
func size(parts net.Buffers) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}

// EndSending sends what is queued, for at most the protocol's Goodbye, and tells the peer
// that nothing more will come. It blocks until then. Calls after the first only wait.
func (c *Conn[M]) EndSending() {
	c.mu.Lock()
	if !c.closing {
		c.closing = true
		c.conn.SetWriteDeadline(time.Now().Add(c.protocol.Goodbye))
		c.wakeLocked()
	}
	c.mu.Unlock()
	<-c.sent
	c.beats.Wait()
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// Close does what EndSending does, and closes the connection.
func (c *Conn[M]) Close() {
	c.EndSending()
	c.conn.Close()
}

// CloseRead ends receiving once everything that has already arrived was read.
func (c *Conn[M]) CloseRead() {
	if half, ok := c.conn.(interface{ CloseRead() error }); ok {
		half.CloseRead()
		return
	}
	c.conn.Close()
}

// Break closes the connection at once, and receiving ends. Close is still to be called.
func (c *Conn[M]) Break() { c.conn.Close() }
