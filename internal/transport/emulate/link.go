package emulate

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A link is the way to one other rank.
type link struct {
	t      *Transport
	rank   base.Rank
	inner  transport.Link
	direct *transport.Direct  // of inner; nil if it cannot be addressed
	late   transport.LateLink // inner; nil if it is none
	peer   *clocks
	array  *notify.Array // what calls that block wait on; nobody posts to it

	lost atomic.Pointer[base.RankError]

	flows    map[uint32]*queueFlow // guarded by the lock of the nic; by the lane of the queue
	stranded []*packetTrain        // guarded by the lock of the nic; silence has swallowed them, and somebody waits
}

var _ transport.Link = (*link)(nil)

// gone is why nothing can be done with the peer any more, or nil.
func (l *link) gone() error {
	if l.t.closed.Load() {
		return base.ErrClosed
	}
	if err := l.lost.Load(); err != nil {
		return err
	}
	return nil
}

// ready returns an error unless n bytes at a can be reached.
func (l *link) ready(a transport.Addr, n uint64) error {
	if err := l.gone(); err != nil {
		return err
	}
	d, err := remote.Describe(l.inner, a.Segment)
	if err != nil {
		return err
	}
	return d.Check(a.Offset, n)
}

// A target is the segment of a flag as it is when the flag is asked for.
type target struct {
	window     *transport.Window // nil if it cannot be addressed
	generation uint64            // without a window
}

// target is the segment of a flag, or why the flag cannot be posted.
func (l *link) target(q *transport.Queue, f transport.Flag) (target, error) {
	d, err := remote.Describe(l.inner, f.Segment)
	if err != nil {
		return target{}, err
	}
	if l.direct != nil {
		if w := l.direct.Usable(f.Segment); w != nil {
			return target{window: w}, w.Segment.Notifications().Check(f.ID, f.Value)
		}
	}
	if err := d.CheckFlag(f); err != nil || l.late == nil {
		return target{}, err
	}
	generation, err := l.late.Generation(q, f.Segment)
	return target{generation: generation}, err
}

// Put implements transport.Link.
func (l *link) Put(q *transport.Queue, dst transport.Addr, src segment.Span) error {
	now := l.t.nic.now()
	if err := l.ready(dst, src.Len()); err != nil || src.Len() == 0 {
		return err
	}
	return l.send(now, q, dst, src, target{}, transport.Flag{})
}

// PutNotify implements transport.Link.
func (l *link) PutNotify(q *transport.Queue, dst transport.Addr, src segment.Span, f transport.Flag) error {
	now := l.t.nic.now()
	if err := l.ready(dst, src.Len()); err != nil {
		return err
	}
	to, err := l.target(q, f)
	if err != nil {
		return err
	}
	return l.send(now, q, dst, src, to, f)
}

// Notify implements transport.Link.
func (l *link) Notify(q *transport.Queue, f transport.Flag) error {
	now := l.t.nic.now()
	if err := l.gone(); err != nil {
		return err
	}
	to, err := l.target(q, f)
	if err != nil {
		return err
	}
	return l.send(now, q, transport.Addr{}, segment.Span{}, to, f)
}

// send moves the bytes of a put and foresees what everybody hears of it. A flag of
// value 0 is none.
func (l *link) send(now int64, q *transport.Queue, dst transport.Addr, src segment.Span, to target, f transport.Flag) error {
	n := l.t.nic
	fl := l.flow(q)
	if src.Len() > 0 && !l.silent(now) {
		if err := l.inner.Put(fl.inner, dst, src); err != nil {
			return err
		}
	}
	n.mu.Lock()
	m := n.newMessageLocked()
	m.link, m.flow, m.size, m.queue = l, fl, src.Len(), q
	m.flagged, m.flag, m.target = f.Value != 0, f, to
	end := n.departLocked(m, now)
	if end > now+soon || !fl.inner.Idle() {
		m.held = true
		q.Begin(&m.op)
		n.expectLocked(end-end%n.grain+n.grain, leaves, m)
	}
	n.sentUnlock()
	return nil
}

// soon is how many nanoseconds before its source is free an operation counts as
// complete: no thread gets up for less.
const soon = 20_000

// departLocked lets a message leave the card of this rank, foresees when it arrives,
// and returns when its last byte has left.
func (n *nic) departLocked(m *packetTrain, now int64) (end int64) {
	start := n.issueLocked(now)
	if m.size > 0 {
		if m.flow != nil {
			start = max(start, m.flow.leaves)
		}
		busy := occupies(&n.net, m.size)
		start = n.t.own.out.take(start, busy, m.size)
		end = start + busy
	}
	first := start + n.latencyLocked()
	if m.flow != nil {
		m.flow.leaves = max(m.flow.leaves, end)
		first = max(first, m.flow.there.first)
		m.flow.there.first = first
	}
	n.flyLocked(m, first)
	return end
}

// flow returns the flow of a queue to this link's peer.
func (l *link) flow(q *transport.Queue) *queueFlow {
	n := l.t.nic
	n.mu.Lock()
	defer n.mu.Unlock()
	f := l.flows[q.Lane()]
	if f == nil {
		f = &queueFlow{inner: transport.NewQueue(1, int(q.Lane()))}
		l.flows[q.Lane()] = f
	}
	return f
}

// Get implements transport.Link.
func (l *link) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	return l.get(q, dst, src, nil, transport.Flag{})
}

// GetNotify implements transport.Link.
func (l *link) GetNotify(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, f transport.Flag) error {
	return l.get(q, dst, src, b, f)
}

func (l *link) get(q *transport.Queue, dst segment.Span, src transport.Addr, b *notify.Array, f transport.Flag) error {
	n := l.t.nic
	now := n.now()
	if err := l.ready(src, dst.Len()); err != nil {
		return err
	}
	fl := l.flow(q)
	if dst.Len() > 0 && !l.silent(now) {
		if err := l.inner.Get(fl.inner, dst, src); err != nil {
			return err
		}
	}
	n.mu.Lock()
	if dst.Len() == 0 && (b == nil || fl.gets == 0) {
		posts := b != nil && !fl.hasRefused(q)
		n.mu.Unlock()
		if posts {
			f.Post(b)
		}
		return nil
	}
	fl.gets++
	m := n.newMessageLocked()
	m.link, m.flow, m.size, m.back, m.queue = l, fl, dst.Len(), true, q
	m.flagged, m.flag, m.array = b != nil, f, b
	m.held = true
	q.Begin(&m.op)
	there := n.issueLocked(now) + n.latencyLocked()
	fl.there.first = max(fl.there.first, there)
	n.expectLocked(fl.there.first, requested, m)
	n.sentUnlock()
	return nil
}

// Atomic implements transport.Link. It is applied when the question would reach the
// peer, and if that takes too long, never. From then on the call goes on for a latency.
func (l *link) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	if err := l.gone(); err != nil {
		return 0, err
	}
	var grace transport.Grace
	there := l.depart(nil, false)
	if err := grace.Wait(ctx, func(ctx context.Context) error { return l.end(ctx, there) }); err != nil {
		return 0, err
	}
	old, err := l.inner.Atomic(ctx, at, op, operand, compare)
	if err != nil {
		return 0, err
	}
	back := l.depart(nil, false)
	err = grace.Wait(ctx, func(ctx context.Context) error { return l.end(ctx, back) })
	if err != nil && errors.Is(err, ctx.Err()) {
		return 0, base.InDoubt(err, func(ctx context.Context) (uint64, error) {
			if err := l.end(ctx, back); err != nil {
				return 0, err
			}
			return old, nil
		})
	}
	if err != nil {
		return 0, err
	}
	return old, nil
}

// travel sends a message without data to the peer, behind all others of a flow if
// that is not nil, and waits until it is there, or, for a round, back.
func (l *link) travel(ctx context.Context, f *queueFlow, round bool) error {
	return l.end(ctx, l.depart(f, round))
}

// depart is the first half of travel.
func (l *link) depart(f *queueFlow, round bool) *probe {
	n := l.t.nic
	now := n.now()
	p := &probe{round: round}
	n.mu.Lock()
	// Not one to be used again: who gives up waiting leaves it behind.
	n.departLocked(&packetTrain{link: l, flow: f, probe: p}, now)
	n.sentUnlock()
	return p
}

// end is the second half of travel.
func (l *link) end(ctx context.Context, p *probe) error {
	if err := l.array.WaitFunc(ctx, p.done.Load, l.gone, nil); err != nil {
		return err
	}
	return p.err
}

// Size implements transport.Link. It takes no time: transports keep what they know.
func (l *link) Size(id segment.ID) (uint64, uint32, error) {
	if err := l.gone(); err != nil {
		return 0, 0, err
	}
	return l.inner.Size(id)
}

// Mapped implements transport.Link: the peer counts as another host.
func (l *link) Mapped(transport.Addr, uint64) (segment.Span, bool) { return segment.Span{}, false }

// Flush implements transport.Link: a message behind all puts, and its answer.
func (l *link) Flush(ctx context.Context, q *transport.Queue) error {
	if err := l.gone(); err != nil {
		return err
	}
	f := l.flow(q)
	if err := l.travel(ctx, f, true); err != nil {
		return err
	}
	return l.inner.Flush(ctx, f.inner)
}

// Ping implements transport.Link.
func (l *link) Ping(ctx context.Context) error {
	if err := l.gone(); err != nil {
		return err
	}
	if err := l.travel(ctx, nil, true); err != nil {
		return err
	}
	return l.inner.Ping(ctx)
}

// silent reports whether this rank or the peer has fallen silent by then.
func (l *link) silent(at int64) bool {
	if l.t.nic.net.Loss < 0 {
		return false
	}
	return l.peer.silentBy(at) || l.t.own.silentBy(at)
}

func (c *clocks) silentBy(at int64) bool {
	when := c.silent.Load()
	return when != 0 && at >= int64(when)
}

// strand keeps a message that will never arrive if somebody waits for it, until lose.
func (l *link) strand(m *packetTrain) {
	switch err := l.lost.Load(); {
	case !(m.held && m.back) && m.probe == nil:
	case err != nil: // lose was sooner
		m.failLocked(l.t.nic, err)
	default:
		l.stranded = append(l.stranded, m)
	}
}

// lose ends all that needs the peer with err, unless it is lost already.
func (l *link) lose(err *base.RankError) {
	if !l.lost.CompareAndSwap(nil, err) {
		return
	}
	n := l.t.nic
	n.mu.Lock()
	var failed []*packetTrain
	n.events.DeleteFunc(func(e timedEvent) bool {
		if e.m.link != l {
			return false
		}
		failed = append(failed, e.m)
		return true
	})
	for _, m := range failed {
		m.failLocked(n, err)
	}
	for _, m := range l.stranded {
		m.failLocked(n, err)
	}
	l.stranded = nil
	n.mu.Unlock()
	l.array.Wake()
}

// failLocked ends what waits for a message.
func (m *packetTrain) failLocked(n *nic, err error) {
	m.events = 0
	if m.held {
		n.completeLocked(m, err)
	}
	if m.probe != nil && !m.probe.done.Load() {
		m.probe.end(m.link, err)
	}
}
