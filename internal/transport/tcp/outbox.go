package tcp

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is hot: posting a message that the socket takes at once is one system
// call and no allocation.

// inlineMost is up to which length a payload is copied behind its header: the
// system takes one piece of memory 0.1 us sooner than two.
const inlineMost = 4 << 10

// postMost is about the number of bytes that the call sends which issued them, if the
// peer takes them all the while: half a millisecond's worth. The rest is sent by the next
// Poll or by the thread, and the call returns.
const postMost = 4 << 20

// An outbox is the sending half of a connection. Frames leave it in the order in
// which they came.
type outbox struct {
	c  *conn
	mu sync.Mutex

	ended  error          // guarded by mu; why nothing can be sent any more
	head   [headSize]byte // guarded by mu; of the frame that is being issued
	vec    socket.Vector  // guarded by mu
	short  []byte         // guarded by mu; the last short frame that was sent
	armed  atomic.Bool    // written under mu; something waits until the socket takes it
	listed bool           // guarded by mu; the poller watches the socket
	first  *queuedFrame   // guarded by mu; frames that wait, the first one perhaps sent in part
	last   *queuedFrame   // guarded by mu
	spare  *queuedFrame   // guarded by mu; records to be used again
	more   *sync.Cond     // of mu; with TLS, wakes the sender
	busy   bool           // guarded by mu; with TLS, a frame is being sent that is no longer in the list

	gather   gathering
	replies  int        // guarded by mu; replies that wait to be sent
	gets     getReplies // guarded by mu
	queueIDs queueIDs   // guarded by mu
	requests requests   // guarded by mu
}

// A queuedFrame is a frame that waits, whole or in part. It never holds a copy of its
// payload.
type queuedFrame struct {
	op    transport.Op
	queue *transport.Queue // its operation ends when all is sent; nil if there is none
	next  *queuedFrame
	head  [headSize]byte
	body  []byte
	keep  segment.Span // contains body, for a put
	from  *region      // contains body, for a reply
	reply bool         // counts in outbox.replies
	sent  int          // of head and body together
}

func (r *queuedFrame) size() int { return headSize + len(r.body) }

func (o *outbox) init(c *conn) {
	o.c = c
	o.more = sync.NewCond(&o.mu)
}

// post sends a put or a notification of q. Bytes that the socket does not take now are sent
// later, and q counts the operation as open.
func (c *conn) post(q *transport.Queue, f *frame, src segment.Span) error {
	o := &c.out
	o.mu.Lock()
	if o.ended != nil {
		o.mu.Unlock()
		return c.link.peer.Err()
	}
	f.number = o.queueIDs.of(q)
	joined := o.joinLocked(src.Len())
	if joined {
		f.flags |= flagAck
	}
	f.put(&o.head)
	r, errno := o.passLocked(src.Bytes())
	if joined && errno == 0 {
		o.gatherLaterLocked()
	}
	if r != nil {
		r.queue, r.keep = q, src
		q.Begin(&r.op)
	}
	o.mu.Unlock()
	if errno != 0 {
		return c.sendFailed(errno)
	}
	return nil
}

// passLocked sends the frame of o.head and body. It returns a record of it if some
// of it has to wait.
func (o *outbox) passLocked(body []byte) (*queuedFrame, syscall.Errno) {
	if o.head[1]&flagAck == 0 {
		o.separateLocked()
	}
	sent := 0
	if o.first == nil && o.c.secure == nil {
		var errno syscall.Errno
		if sent, errno = o.sendLocked(body); errno != 0 {
			return nil, errno
		}
		if sent == headSize+len(body) {
			return nil, 0
		}
	}
	r := o.queueLocked(body)
	r.sent = sent
	return r, 0
}

// sendLocked sends the frame of o.head and body as far as the socket takes it, and
// a part of a very long one, and returns how much that was.
func (o *outbox) sendLocked(body []byte) (sent int, errno syscall.Errno) {
	o.vec.Reset()
	if len(body) <= inlineMost {
		whole := o.shortLocked(headSize + len(body))
		copy(whole, o.head[:])
		transport.CopyForPeer(whole[headSize:], body) // for a reply it is the peer who reads here
		o.vec.Add(whole)
	} else {
		o.vec.Add(o.head[:])
		o.vec.Add(body[:min(len(body), sendMost)])
	}
	for {
		n, errno := o.vec.Send(o.c.fd)
		if errno != 0 && !socket.Again(errno) {
			return sent, errno
		}
		sent += n
		if n < o.vec.Len() || sent == headSize+len(body) || sent > postMost {
			return sent, 0
		}
		rest := body[sent-headSize:]
		o.vec.Reset()
		o.vec.Add(rest[:min(len(rest), sendMost)])
	}
}

// shortLocked returns memory for a short frame of n bytes. It allocates if none was as long before.
func (o *outbox) shortLocked(n int) []byte {
	if n > cap(o.short) {
		o.short = slices.Grow(o.short[:0], n)
	}
	return o.short[:n]
}

// queueLocked puts the frame of o.head and body behind the others.
func (o *outbox) queueLocked(body []byte) *queuedFrame {
	o.separateLocked()
	r := o.spare
	if r != nil {
		o.spare = r.next
	} else {
		r = new(queuedFrame)
	}
	r.head, r.body, r.next, r.sent = o.head, body, nil, 0
	if o.last == nil {
		o.first = r
	} else {
		o.last.next = r
	}
	o.last = r
	o.armLocked(true)
	return r
}

// armLocked has the transport's thread look when the socket takes more.
func (o *outbox) armLocked(on bool) {
	if o.armed.Load() == on {
		return
	}
	o.armed.Store(on)
	if o.c.secure != nil {
		if on {
			o.more.Signal()
		}
		return
	}
	if !o.listed {
		o.listed = true
		_ = o.c.t.poller.Add(o.c.fd, o.c.key, on)
	} else {
		_ = o.c.t.poller.Watch(o.c.fd, o.c.key, on)
	}
	if on {
		o.c.t.progress.blocked.Add(1)
	} else {
		o.c.t.progress.blocked.Add(-1)
	}
}

var errTooManyReplies = errors.New("it does not read the replies to its requests")

// reply sends a reply. It fails if the peer leaves too many replies unread.
func (c *conn) reply(f *frame) error {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.replyLocked(f)
}

func (o *outbox) replyLocked(f *frame) error {
	if o.ended != nil {
		return nil
	}
	if o.replies >= repliesMost {
		return errTooManyReplies
	}
	f.put(&o.head)
	if o.last != nil && o.last.sent == 0 && f.kind == kindRefused && o.last.head == o.head {
		return nil // the same refusal is still queued
	}
	// The next receive notices an error.
	if r, _ := o.passLocked(nil); r != nil {
		r.reply = true
		o.replies++
	}
	return nil
}

// sendControl sends a frame that is not a reply.
func (c *conn) sendControl(f *frame) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if c.out.ended == nil {
		f.put(&c.out.head)
		_, _ = c.out.passLocked(nil)
	}
}

// flush sends about limit bytes of the queued frames, as far as the socket takes them. It
// reports whether it took any.
func (c *conn) flush(limit int) (moved bool, err error) {
	o := &c.out
	if !o.mu.TryLock() {
		return false, nil
	}
	defer o.mu.Unlock()
	for limit > 0 && o.first != nil && o.ended == nil && c.secure == nil {
		o.gatherLocked(limit)
		want := o.vec.Len()
		n, errno := o.vec.Send(c.fd)
		if errno != 0 && !socket.Again(errno) {
			return moved, errno
		}
		if n > 0 {
			moved = true
			o.sentLocked(n)
			limit -= n
		}
		if n < want {
			return moved, nil
		}
	}
	if o.first == nil {
		o.armLocked(false)
	}
	return moved, nil
}

// gatherLocked collects frames that wait.
func (o *outbox) gatherLocked(limit int) {
	o.vec.Reset()
	for r := o.first; r != nil && limit > 0; r = r.next {
		skip := r.sent
		if skip < headSize {
			if !o.vec.Add(r.head[skip:]) {
				return
			}
			limit -= headSize - skip
			skip = headSize
		}
		body := r.body[skip-headSize:]
		body = body[:min(len(body), max(limit, 0))]
		if !o.vec.Add(body) {
			return
		}
		limit -= len(body)
	}
}

// sentLocked records that n bytes of the queued frames are sent.
func (o *outbox) sentLocked(n int) {
	for n > 0 {
		r := o.first
		part := min(n, r.size()-r.sent)
		r.sent += part
		n -= part
		if r.sent == r.size() {
			o.first = r.next
			if o.first == nil {
				o.last = nil
			}
			o.doneLocked(r)
		}
	}
}

// doneLocked ends a frame that is sent, and queues the next piece of a reply to a get.
func (o *outbox) doneLocked(r *queuedFrame) {
	if r.queue != nil {
		r.queue.End(&r.op, nil)
	}
	if r.reply {
		o.replies--
	}
	r.queue, r.body, r.keep, r.from, r.reply = nil, nil, segment.Span{}, nil, false
	r.next, o.spare = o.spare, r
	o.streamLocked()
}

// emptyLocked takes everything out of an outbox that has ended.
func (o *outbox) emptyLocked() (*queuedFrame, []*request) {
	first := o.first
	o.first, o.last, o.spare, o.replies, o.gets = nil, nil, nil, 0, getReplies{}
	if o.armed.Load() && o.c.secure == nil {
		o.c.t.progress.blocked.Add(-1)
	}
	o.armed.Store(false)
	o.vec.Reset()
	return first, o.requests.drain()
}

// idle reports whether everything is sent.
func (o *outbox) idle() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ended != nil || o.first == nil && !o.busy
}

// sendFailed ends the connection after a system call to send has failed because of cause:
// the peer may have told the reason, so everything that it sent is handled first. It
// returns why the peer is gone.
func (c *conn) sendFailed(cause error) error {
	w := newWorker(c.t)
	c.in.mu.Lock()
	for {
		moved, err := c.receiveLocked(w)
		if err != nil {
			cause = err
		}
		if err != nil || !moved {
			break
		}
	}
	c.in.mu.Unlock()
	c.t.fail(c, cause)
	if err := c.link.peer.Err(); err != nil {
		return err
	}
	return base.ErrClosed
}
