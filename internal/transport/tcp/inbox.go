package tcp

import (
	"fmt"
	"io"
	"sync"

	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// This file is hot: a message that has arrived costs one system call.

const (
	// scratchSize is how much one read brings beside the rest of a payload: many
	// small frames, or the beginning of a big one, which is copied.
	scratchSize = 16 << 10
	// aheadMost is after how long a payload nothing but a header is read ahead: the
	// next one is likely to be long too, and then nothing of it need be copied, for
	// one call more.
	aheadMost = 8 << 10
	// directMost is how much of a payload one call brings: a chunk that stays in the
	// cache on its way. sendMost is how much one call takes; larger is better there,
	// since the peer reads meanwhile.
	directMost = 256 << 10
	sendMost   = 1 << 20
	// turnMost is about how much a connection receives before others have their
	// turn.
	turnMost = 512 << 10
)

// A receiver is the receiving half of a connection. Between two reads it keeps no
// more than a part of a header.
type receiver struct {
	mu    sync.Mutex
	ended bool           // guarded by mu, as is all below
	part  [headSize]byte // beginning of a header
	have  int            // how much of it there is

	urgent bool // what this turn has read is to be acknowledged at once

	// The frame whose payload is arriving, if rest is not 0.
	f       frame
	rest    uint64   // bytes still to come
	dst     []byte   // where they go; nil: nowhere
	into    *region  // kindPut: contains dst
	flagged *region  // kindPut: region of the notification
	req     *request // kindData: the request that it replies to
}

// forget drops the references to the memory of segments.
func (i *receiver) forget() { i.dst, i.into, i.flagged, i.req = nil, nil, nil, nil }

// receive takes data that has arrived, about turnMost bytes of it. It reports whether
// there was any. An error means that the connection cannot be used any more.
func (c *conn) receive(w *progressThread) (moved bool, err error) {
	if !c.in.mu.TryLock() {
		return false, nil
	}
	defer c.in.mu.Unlock()
	moved, err = c.receiveLocked(w)
	c.acknowledgeLocked()
	return moved, err
}

func (c *conn) receiveLocked(w *progressThread) (moved bool, err error) {
	i := &c.in
	for budget := turnMost; budget > 0 && !i.ended; {
		direct, head := c.aim(w)
		n, errno := w.vec.Receive(c.fd)
		switch {
		case socket.Again(errno):
			return moved, nil
		case errno != 0:
			return moved, errno
		case n == 0:
			return moved, io.EOF
		}
		moved = true
		budget -= n
		d := min(n, direct)
		if d > 0 {
			if err := c.advance(uint64(d)); err != nil {
				return moved, err
			}
		}
		if n > d {
			if err := c.feed(w.scratch[:head+n-d]); err != nil {
				return moved, err
			}
		}
		if n < w.vec.Len() {
			return moved, nil
		}
	}
	return moved, nil
}

// aim sets the worker's vector to where the next bytes go: the payload that is
// arriving, and behind its end the scratch memory. It returns how many bytes go
// straight to their place, and how many are in the scratch memory already.
func (c *conn) aim(w *progressThread) (direct, head int) {
	i := &c.in
	w.vec.Reset()
	if i.rest > 0 && i.into != nil && !i.into.Usable() {
		i.dst = nil
	}
	if i.rest > 0 && i.dst != nil {
		direct = min(len(i.dst), directMost)
		w.vec.Add(i.dst[:direct])
		if uint64(direct) < i.rest {
			return direct, 0
		}
	}
	head = copy(w.scratch, i.part[:i.have])
	ahead := len(w.scratch)
	if i.f.length > aheadMost {
		ahead = headSize
	}
	w.vec.Add(w.scratch[head:ahead])
	return direct, head
}

// feed takes bytes that arrived in memory of this rank.
func (c *conn) feed(b []byte) error {
	i := &c.in
	i.have = 0
	for len(b) > 0 && !i.ended {
		if i.rest > 0 {
			part := b[:min(i.rest, uint64(len(b)))]
			if i.into != nil && !i.into.Usable() {
				i.dst = nil
			}
			if i.dst != nil {
				transport.CopyForPeer(i.dst[:len(part)], part)
			}
			b = b[len(part):]
			if err := c.advance(uint64(len(part))); err != nil {
				return err
			}
			continue
		}
		if len(b) < headSize {
			i.have = copy(i.part[:], b)
			return nil
		}
		f, err := parse((*[headSize]byte)(b))
		if err != nil {
			return err
		}
		b = b[headSize:]
		i.urgent = i.urgent || f.asks()
		if err := c.handle(&f); err != nil {
			return fmt.Errorf("%w (in a frame of kind %d)", err, f.kind)
		}
	}
	return nil
}

// advance notes that n bytes of the payload are where they belong.
func (c *conn) advance(n uint64) error {
	i := &c.in
	i.rest -= n
	i.urgent = i.urgent || i.f.asks()
	if i.dst != nil {
		i.dst = i.dst[n:]
	}
	if i.rest > 0 {
		return nil
	}
	if i.f.kind == kindData {
		return c.dataArrived()
	}
	return c.putArrived()
}
