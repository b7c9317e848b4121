package boot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// maxUnsent bounds what a peer that does not read may pile up here, in bytes.
const maxUnsent = 64 << 20

// outBuffer is how much of a batch leaves at once, in bytes: a sealed record.
const outBuffer = 16 << 10

// A wire sends and receives messages over a connection of any kind. Sending
// never blocks: a goroutine of its own writes what is queued.
type wire struct {
	conn  net.Conn
	lines *bufio.Scanner // used by the one goroutine that receives
	out   *bufio.Writer  // used by the one that sends: lines of one batch leave together

	silence atomic.Int64 // how long the peer may be silent, in nanoseconds; 0 for ever

	mu      sync.Mutex
	queue   [][]byte
	unsent  int           // bytes in queue and in the write under way
	closing bool          // nothing more will be queued
	err     error         // why sending stopped
	holds   []func()      // called before the queue is written
	marks   []chan<- bool // closed when the queue has been written
	wake    chan struct{} // holds one token when queue, marks or closing changed
	sent    chan struct{} // closed when the goroutine that writes has ended
	beats   sync.WaitGroup
}

func newWire(conn net.Conn) *wire {
	w := &wire{conn: conn, out: bufio.NewWriterSize(conn, outBuffer), wake: make(chan struct{}, 1), sent: make(chan struct{})}
	w.lines = bufio.NewScanner(listener{w})
	w.lines.Buffer(nil, maxLine)
	w.lines.Split(splitLine)
	go w.sendLoop()
	return w
}

// splitLine is bufio.ScanLines, except that a last line without a newline is an
// error: the message may have been cut off.
func splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}

// receive returns the next message, or io.EOF when the peer has closed. The
// message does not refer to the buffer of the wire.
func (w *wire) receive() (message, error) {
	for w.lines.Scan() {
		m, err := decode(w.lines.Bytes())
		if err != nil || m.Kind != kindBeat {
			return m, err
		}
	}
	switch err := w.lines.Err(); {
	case err == nil, errors.Is(err, syscall.ECONNRESET), errors.Is(err, net.ErrClosed):
		// A unix socket resets when the peer has left something unread.
		return message{}, io.EOF
	case errors.Is(err, os.ErrDeadlineExceeded):
		return message{}, errSilent{time.Duration(w.silence.Load())}
	case errors.Is(err, bufio.ErrTooLong):
		return message{}, fmt.Errorf("malformed message: a line of more than %d bytes", maxLine)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return message{}, errors.New("malformed message: the connection ended within a line")
	default:
		return message{}, err
	}
}

// send queues a message.
func (w *wire) send(m message) error {
	line, err := encode(m)
	if err != nil {
		return err
	}
	return w.sendLines([][]byte{line})
}

// sendAfter queues a message, which is written when hold has returned. The goroutine that
// writes calls hold, so what is queued later waits too.
func (w *wire) sendAfter(hold func(), m message) {
	w.mu.Lock()
	if w.err == nil && !w.closing {
		w.holds = append(w.holds, hold)
	}
	w.mu.Unlock()
	w.send(m)
}

// written returns a channel that is closed when what is queued now has been written. If
// writing fails before, sent is closed and the channel may not be.
func (w *wire) written() <-chan bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan bool)
	w.marks = append(w.marks, c)
	w.wakeLocked()
	return c
}

// sendLines queues encoded messages; it keeps them and does not change them.
func (w *wire) sendLines(lines [][]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.closing {
		return net.ErrClosed
	}
	for _, line := range lines {
		w.unsent += len(line)
	}
	if w.unsent > maxUnsent {
		w.err = fmt.Errorf("the peer has left more than %d bytes unread", maxUnsent)
		w.conn.Close()
		return w.err
	}
	w.queue = append(w.queue, lines...)
	w.wakeLocked()
	return nil
}

func (w *wire) wakeLocked() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// sendLoop writes what is queued until the wire is closed or the peer is gone.
func (w *wire) sendLoop() {
	defer close(w.sent)
	for range w.wake {
		w.mu.Lock()
		batch, closing, holds, marks := w.queue, w.closing, w.holds, w.marks
		w.queue, w.holds, w.marks = nil, nil, nil
		w.mu.Unlock()
		for _, hold := range holds {
			hold()
		}
		if err := w.write(batch); err != nil {
			w.mu.Lock()
			if w.err == nil {
				w.err = err
			}
			w.queue, w.unsent = nil, 0
			w.mu.Unlock()
			return
		}
		for _, c := range marks {
			close(c)
		}
		if closing {
			return
		}
	}
}

func (w *wire) write(batch [][]byte) error {
	size := 0
	for _, line := range batch {
		size += len(line)
		if _, err := w.out.Write(line); err != nil {
			return err
		}
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	w.mu.Lock()
	w.unsent -= size
	w.mu.Unlock()
	return nil
}

// endSending sends what is queued, for at most the given time, and tells the
// peer that nothing more will come. Calls after the first only wait.
func (w *wire) endSending(patience time.Duration) {
	w.mu.Lock()
	if !w.closing {
		w.closing = true
		w.conn.SetWriteDeadline(time.Now().Add(patience))
		w.wakeLocked()
	}
	w.mu.Unlock()
	<-w.sent
	w.beats.Wait()
	if half, ok := w.conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// close sends what is queued, for at most the given time, and closes the
// connection.
func (w *wire) close(patience time.Duration) {
	w.endSending(patience)
	w.conn.Close()
}

// closeRead ends receiving once everything that has already arrived was read.
func (w *wire) closeRead() {
	if half, ok := w.conn.(interface{ CloseRead() error }); ok {
		half.CloseRead()
		return
	}
	w.conn.Close()
}
