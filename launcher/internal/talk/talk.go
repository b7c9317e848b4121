// Package talk is the line between the launcher and the agent of a host: frames
// both ways over one connection, signs of life, and an end that both notice.
//
// It knows neither ranks nor processes; what frames mean is package launcher's
// business. The connection is sealed, and both ends have proven who they are, before a
// Conn is made of it.
package talk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// goodbye is how long Close lets what is queued leave.
const goodbye = 2 * time.Second

// outBuffer is how many bytes of what is queued leave at once: a sealed record.
const outBuffer = 16 << 10

// ErrSilent is wrapped by the error of Receive when the other side has given no
// sign of life for as long as the limit.
var ErrSilent = errors.New("no sign of life")

// A Conn sends and receives frames. Send and Close may be called from any
// goroutine, Receive from one.
type Conn struct {
	conn  net.Conn
	limit time.Duration

	heard  atomic.Uint64 // bytes that have come; the receiver adds, the watcher looks
	paused atomic.Bool   // silence does not count
	silent atomic.Bool   // the watcher has given up

	mu      sync.Mutex
	queue   net.Buffers
	closing bool
	err     error           // why nothing is sent any more
	flushed []chan struct{} // to be closed when the queue has been written
	wake    chan struct{}   // holds one token when queue or closing changed

	over    chan struct{} // closed to end the watcher
	working sync.WaitGroup
}

// unlimitedPeriod is the time between two signs of life where silence has no limit: they
// keep what lies between the hosts from forgetting the connection.
const unlimitedPeriod = 10 * time.Second

// New returns a Conn over conn, which it takes. It sends signs of life, and
// expects some: after limit without any, Receive fails; a limit of 0 is none. Time during
// which this process itself was stopped does not count.
func New(conn net.Conn, limit time.Duration) *Conn {
	c := &Conn{conn: conn, limit: limit, wake: make(chan struct{}, 1), over: make(chan struct{})}
	c.working.Go(c.sendLoop)
	c.working.Go(c.watchLoop)
	return c
}

// Send queues a frame. It never blocks, and borrows the payload until the Conn is
// closed: it must not change. After the connection has broken it does nothing,
// since Receive says so.
func (c *Conn) Send(f Frame) {
	if len(f.Data) > MaxData {
		panic(fmt.Sprintf("talk: frame with %d bytes; at most %d fit", len(f.Data), MaxData))
	}
	header := f.header()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.closing {
		return
	}
	c.queue = append(c.queue, header[:])
	if len(f.Data) > 0 {
		c.queue = append(c.queue, f.Data)
	}
	c.wakeLocked()
}

// Receive returns the next frame. Its payload belongs to the caller. The error
// is io.EOF when the other side has closed, or wraps ErrSilent.
func (c *Conn) Receive() (Frame, error) {
	for {
		f, err := readFrame(heard{c})
		switch {
		case c.silent.Load():
			return Frame{}, fmt.Errorf("%w for %v", ErrSilent, c.limit)
		case err != nil:
			return Frame{}, err
		case f.Kind != ping:
			return f, nil
		}
	}
}

// heard counts what is read.
type heard struct{ *Conn }

func (h heard) Read(p []byte) (int, error) {
	n, err := h.conn.Read(p)
	h.heard.Add(uint64(n))
	return n, err
}

// Flush waits until what is queued has been handed to the system, for at most
// the given time.
func (c *Conn) Flush(patience time.Duration) {
	done := make(chan struct{})
	c.mu.Lock()
	if c.err == nil && !c.closing {
		c.flushed = append(c.flushed, done)
		c.wakeLocked()
	} else {
		close(done)
	}
	c.mu.Unlock()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// Pause says whether the other side may be silent from now on, because it is
// about to be stopped.
func (c *Conn) Pause(on bool) { c.paused.Store(on) }

// Close sends what is queued, for a bounded time, and closes the connection. A
// second call does nothing.
func (c *Conn) Close() {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return
	}
	c.closing = true
	c.conn.SetWriteDeadline(time.Now().Add(goodbye))
	c.wakeLocked()
	c.mu.Unlock()
	close(c.over)
	c.working.Wait()
	c.conn.Close()
}

// Break closes the connection at once. Receive then fails; Close is still to be
// called.
func (c *Conn) Break() { c.conn.Close() }

func (c *Conn) wakeLocked() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// sendLoop writes what is queued until the connection is closed or broken.
func (c *Conn) sendLoop() {
	out := bufio.NewWriterSize(c.conn, outBuffer)
	for range c.wake {
		c.mu.Lock()
		batch, flushed, closing := c.queue, c.flushed, c.closing
		c.queue, c.flushed = nil, nil
		c.mu.Unlock()
		_, err := batch.WriteTo(out)
		if err == nil {
			err = out.Flush()
		}
		for _, done := range flushed {
			close(done)
		}
		if err != nil {
			c.mu.Lock()
			c.err, c.queue = err, nil
			c.mu.Unlock()
			return
		}
		if closing {
			return
		}
	}
}

// watchLoop gives signs of life, and looks for those of the other side.
func (c *Conn) watchLoop() {
	period := max(c.limit/8, 10*time.Millisecond)
	if c.limit == 0 {
		period = unlimitedPeriod
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	var quiet time.Duration
	var seen uint64
	last := time.Now()
	for {
		select {
		case <-c.over:
			return
		case <-tick.C:
		}
		// A process that was stopped, or a machine that slept, wakes up to a long
		// silence that is its own.
		passed := min(time.Since(last), 2*period)
		last = time.Now()
		c.Send(Frame{Kind: ping})
		if now := c.heard.Load(); now != seen || c.paused.Load() {
			seen, quiet = now, 0
			continue
		}
		if quiet += passed; c.limit > 0 && quiet >= c.limit {
			c.silent.Store(true)
			c.conn.Close()
			return
		}
	}
}

// Ended reports whether err is how a connection ends that the other side has
// closed, or that its end has closed for it.
func Ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
