package faulty

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A link is the way to a rank of another host.
type link struct {
	t     *Transport
	rank  base.Rank
	inner transport.Link

	// All guarded by net.mu.
	lost    *base.RankError
	dial    chan struct{}           // closed when the connection is there or lost; nil before first use
	dialled bool                    // dial is closed
	open    map[*operation]struct{} // that have not ended
}

var _ transport.Link = (*link)(nil)

// An operation goes to the peer and comes back.
type operation struct {
	entry transport.Op
	queue *transport.Queue // nil for one that its caller waits for
	src   segment.Span     // of a write, read when it arrives; a copy if it ended before
	sum   uint64           // of the bytes of src, taken when the write was posted
	there bool             // it has arrived at the peer
	done  chan struct{}    // closed when it has ended
	err   error            // valid then
}

// wait blocks until the operation has ended, and returns its error.
func (x *operation) wait(ctx context.Context) error {
	select {
	case <-x.done:
		return x.err
	default:
	}
	select {
	case <-x.done:
		return x.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closed is why a connection broke whose other end was closed.
const closed = "its connection broke: it was closed at the other end"

// loseLocked ends all that needs the peer with err, and closes this end of the connection.
func (l *link) loseLocked(err *base.RankError) {
	if l.lost != nil {
		return
	}
	l.lost = err
	if n := l.t.net; n.joined[pair(l.t.rank, l.rank)] && n.hearsLocked(l.t.rank, l.rank) {
		time.AfterFunc(n.randomLocked(n.cfg.Latency), func() { n.lose(l.rank, l.t.rank, closed) })
	}
	for x := range l.open {
		l.endLocked(x, err)
	}
	l.closeDialLocked()
}

// closeDialLocked ends the waits for a connection that was not made.
func (l *link) closeDialLocked() {
	if l.dial != nil && !l.dialled {
		l.dialled = true
		close(l.dial)
	}
}

func (l *link) endLocked(x *operation, err error) {
	if _, open := l.open[x]; !open {
		return
	}
	delete(l.open, x)
	if !x.there && x.src.Len() > 0 { // it may still arrive, and its sender may write there now
		l.checkLocked(x)
		x.src = copied(x.src)
	}
	x.err = err
	if x.queue != nil {
		x.queue.End(&x.entry, err)
	}
	close(x.done)
}

// checkLocked keeps an error if the source of a write has changed since the write was posted:
// the source belongs to the operation until that has ended.
func (l *link) checkLocked(x *operation) {
	if n := l.t.net; n.changed == nil && n.sumLocked(x.src) != x.sum {
		n.changed = fmt.Errorf("rank %d changed the source of a write of %d bytes to rank %d while it was on its way", l.t.rank, x.src.Len(), l.rank)
	}
}

// copied is a span with the same bytes in memory of its own.
func copied(src segment.Span) segment.Span {
	seg, err := segment.Bind(slices.Clone(src.Bytes()), 1, notify.GoroutineWait(0, 0))
	if err != nil {
		panic(err) // which has no bounds that src was not in
	}
	return seg.All()
}

func (l *link) goneLocked() error {
	switch {
	case l.t.closed || l.t.net.dead[l.t.rank]:
		return base.ErrClosed
	case l.lost != nil:
		return l.lost
	}
	return nil
}

// connect returns when there is a connection. One that is stopped needs none.
func (l *link) connect(ctx context.Context) error {
	if silent, err := l.t.silent(); silent {
		return err
	}
	n := l.t.net
	n.mu.Lock()
	if err := l.goneLocked(); err != nil || n.joined[pair(l.t.rank, l.rank)] {
		n.mu.Unlock()
		return err
	}
	if l.dial == nil {
		l.dial = make(chan struct{})
		time.AfterFunc(2*n.randomLocked(n.cfg.Latency), l.meet)
	}
	made := l.dial
	n.mu.Unlock()
	select {
	case <-made:
	case <-ctx.Done():
		return ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return l.goneLocked()
}

// meet makes the connection if the two hear each other. Else it is tried for as long as
// a host may be silent.
func (l *link) meet() {
	n := l.t.net
	n.mu.Lock()
	defer n.mu.Unlock()
	mine, theirs := l, n.ranks[l.rank].links[l.t.rank]
	both := pair(l.t.rank, l.rank)
	switch {
	case l.lost != nil || n.joined[both]:
	case !n.stopped[l.t.rank] && n.hearsLocked(l.t.rank, l.rank) && n.hearsLocked(l.rank, l.t.rank):
		n.joined[both] = true
		mine.closeDialLocked()
		theirs.closeDialLocked()
	default:
		time.AfterFunc(n.noticedLocked(), func() {
			n.lose(l.t.rank, l.rank, fmt.Sprintf("no connection within %v", n.cfg.Silence))
		})
	}
}

// issue sends an operation, which takes bytes from src: there happens at the peer, and here
// when it is back, both with the lock held. It does not wait for that.
func (l *link) issue(ctx context.Context, q *transport.Queue, lane uint32, src segment.Span, there func(src segment.Span) error, here func() error) (*operation, error) {
	if err := l.connect(ctx); err != nil {
		return nil, err
	}
	n := l.t.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := l.goneLocked(); err != nil {
		return nil, err
	}
	x := &operation{queue: q, src: src, sum: n.sumLocked(src), done: make(chan struct{})}
	l.open[x] = struct{}{}
	if q != nil {
		q.Begin(&x.entry)
	}
	n.sendLocked(l.t.rank, l.rank, lane, func() {
		if n.ranks[l.rank].links[l.t.rank].lost != nil {
			return // the peer has closed its end
		}
		if _, open := l.open[x]; open {
			l.checkLocked(x)
		}
		x.there = true
		err := there(x.src)
		n.sendLocked(l.rank, l.t.rank, lane, func() {
			if _, open := l.open[x]; open && err == nil {
				err = here()
			}
			l.endLocked(x, err)
		})
	})
	return x, nil
}

// none is what an operation takes that writes nothing, and nothing happens at an
// end that has no part in it.
func none() segment.Span { return segment.Span{} }

func nothing() error               { return nil }
func nothingOf(segment.Span) error { return nil }

// ask asks the peer for an answer and waits for it.
func (l *link) ask(ctx context.Context, lane uint32) error {
	x, err := l.issue(ctx, nil, lane, none(), nothingOf, nothing)
	if err != nil {
		return err
	}
	return x.wait(ctx)
}

// room returns an error unless n bytes at a can be reached.
func (l *link) room(a transport.Addr, n uint64) error {
	d, err := remote.Describe(l, a.Segment)
	if err != nil {
		return err
	}
	return d.Check(a.Offset, n)
}

// flag returns an error unless the notification can be posted.
func (l *link) flag(f transport.Flag) error {
	d, err := remote.Describe(l, f.Segment)
	if err != nil {
		return err
	}
	return d.CheckFlag(f)
}

// unlessRefusedLocked writes to a segment of the peer, unless the network is to refuse that.
func (l *link) unlessRefusedLocked(id segment.ID, write func() error) error {
	if refuse := l.t.net.refuse; refuse != nil && refuse(l.t.rank, l.rank, id) {
		return fmt.Errorf("%w: rank %d refused a write to segment %d", base.ErrNoSegment, l.rank, id)
	}
	return write()
}

// Put implements transport.Link.
func (l *link) Put(q *transport.Queue, dst transport.Addr, src segment.Span) error {
	if err := l.room(dst, src.Len()); err != nil || src.Len() == 0 {
		return err
	}
	_, err := l.issue(context.Background(), q, q.Lane(), src, func(src segment.Span) error {
		return l.unlessRefusedLocked(dst.Segment, func() error { return l.inner.Put(q, dst, src) })
	}, nothing)
	return err
}

// PutNotify implements transport.Link.
func (l *link) PutNotify(q *transport.Queue, dst transport.Addr, src segment.Span, f transport.Flag) error {
	if err := l.room(dst, src.Len()); err != nil {
		return err
	}
	if err := l.flag(f); err != nil {
		return err
	}
	_, err := l.issue(context.Background(), q, q.Lane(), src, func(src segment.Span) error {
		return l.unlessRefusedLocked(dst.Segment, func() error { return l.inner.PutNotify(q, dst, src, f) })
	}, nothing)
	return err
}

// Notify implements transport.Link.
func (l *link) Notify(q *transport.Queue, f transport.Flag) error {
	if err := l.flag(f); err != nil {
		return err
	}
	_, err := l.issue(context.Background(), q, q.Lane(), none(), func(segment.Span) error {
		return l.unlessRefusedLocked(f.Segment, func() error { return l.inner.Notify(q, f) })
	}, nothing)
	return err
}

// Get implements transport.Link.
func (l *link) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	if err := l.room(src, dst.Len()); err != nil || dst.Len() == 0 {
		return err
	}
	_, err := l.issue(context.Background(), q, q.Lane(), none(), nothingOf, func() error { return l.inner.Get(q, dst, src) })
	return err
}

// GetNotify implements transport.Link.
func (l *link) GetNotify(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, f transport.Flag) error {
	if dst.Len() > 0 {
		if err := l.room(src, dst.Len()); err != nil {
			return err
		}
	}
	_, err := l.issue(context.Background(), q, q.Lane(), none(), nothingOf, func() error { return l.inner.GetNotify(q, dst, src, b, f) })
	return err
}

// Atomic implements transport.Link. Once the request is on its way it is carried out.
func (l *link) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	if err := l.room(at, 8); err != nil {
		return 0, err
	}
	var old uint64
	x, err := l.issue(ctx, nil, 0, none(), func(segment.Span) (err error) {
		old, err = l.inner.Atomic(context.WithoutCancel(ctx), at, op, operand, compare)
		return err
	}, nothing)
	if err != nil {
		return 0, err
	}
	answer := func(ctx context.Context) (uint64, error) {
		if err := x.wait(ctx); err != nil {
			return 0, err
		}
		return old, nil
	}
	var grace transport.Grace
	if err := grace.Wait(ctx, x.wait); err != nil && errors.Is(err, ctx.Err()) {
		return 0, base.InDoubt(err, answer)
	}
	return answer(context.WithoutCancel(ctx)) // which is there
}

// Size implements transport.Link.
func (l *link) Size(id segment.ID) (uint64, uint32, error) {
	l.t.net.mu.Lock()
	err := l.goneLocked()
	l.t.net.mu.Unlock()
	if err != nil {
		return 0, 0, err
	}
	return l.inner.Size(id)
}

// Mapped implements transport.Link: there is no such memory.
func (l *link) Mapped(transport.Addr, uint64) (segment.Span, bool) { return segment.Span{}, false }

// Flush implements transport.Link.
func (l *link) Flush(ctx context.Context, q *transport.Queue) error {
	return l.ask(ctx, q.Lane())
}

// Ping implements transport.Link.
func (l *link) Ping(ctx context.Context) error { return l.ask(ctx, 0) }
