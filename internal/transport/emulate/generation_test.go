package emulate

import (
	"cmp"
	"errors"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// An unmapped transport has links like those of a network: nobody sees that their memory can be addressed.
type unmapped struct{ transport.Transport }

func (t *unmapped) Link(r base.Rank) (transport.Link, error) {
	l, err := t.Transport.Link(r)
	if err != nil {
		return nil, err
	}
	return &unmappedLink{l, l.(*transport.Direct), r}, nil
}

type unmappedLink struct {
	transport.Link
	memory *transport.Direct
	rank   base.Rank
}

func (l *unmappedLink) Generation(_ *transport.Queue, id segment.ID) (uint64, error) {
	w, err := l.memory.Window(id)
	if err != nil {
		return 0, err
	}
	return w.Generation, nil
}

func (l *unmappedLink) NotifyLate(_ *transport.Queue, f transport.Flag, generation uint64) error {
	w, err := l.memory.Window(f.Segment)
	if err == nil && w.Generation != generation {
		err = transport.ErrorOfWithdrawn(l.rank, f.Segment)
	}
	if err == nil {
		f.Post(w.Segment.Notifications())
	}
	return err
}

// allArrives has all happen that is under way, whenever it is due.
func allArrives(n *nic) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.events) > 0 {
		n.happenLocked(n.events.Pop())
	}
}

// Goal: a notification that is under way when its segment is withdrawn never comes to the next segment of the id, and is
// told as refused; one that is under way to a segment that stays comes there.
// Method: rank 1 replaces the segment while a notification with and without bytes is on its way for an hour; then all that is
// on its way arrives. The memory of the ranks can be addressed or not.
func TestNotificationUnderWayToAWithdrawnSegment(t *testing.T) {
	net, err := emulation.Parse("latency=1h")
	if err != nil {
		t.Fatal(err)
	}
	for name, inner := range map[string]func(transport.Transport) transport.Transport{
		"mapped":   func(x transport.Transport) transport.Transport { return x },
		"unmapped": func(x transport.Transport) transport.Transport { return &unmapped{x} },
	} {
		for _, size := range []uint64{0, 8} {
			for _, stays := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					c, meet := &cluster{T: t}, newHubs(2)
					for r := range base.Rank(2) {
						cfg := meet.config(r, net)
						cfg.Inner = inner(cfg.Inner)
						x, err := New(cfg)
						c.ok(err)
						t.Cleanup(func() { c.ok(x.Close()) })
						c.ranks = append(c.ranks, x)
					}
					expose := func() *segment.Segment {
						s, err := memory(64, 16)
						c.ok(err)
						c.ok(c.ranks[1].Expose(1, s))
						c.ok(c.ranks[1].Grant(1, 0))
						return s
					}
					last, want := expose(), notify.Value(1)
					src, err := last.Span(0, size)
					c.ok(err)
					l, q := c.link(0, 1).(*link), newQueue()
					c.ok(l.PutNotify(q, transport.Addr{Segment: 1}, src, transport.Flag{Segment: 1, ID: 3, Value: 1}))
					if !stays {
						c.ok(c.ranks[1].Withdraw(1))
						last, want = expose(), 0
					}
					allArrives(l.t.nic)
					if v := last.Notifications().Load(3); v != want {
						t.Errorf("the segment that has the id now has notification %d, want %d", v, want)
					}
					err = q.Wait(testenv.Context(t), notify.GoroutineWait(0, 0), nil)
					if err = cmp.Or(err, q.Failure()); stays != (err == nil) || !stays && !errors.Is(err, base.ErrNoSegment) {
						t.Errorf("%v; the segment stays: %t", err, stays)
					}
				})
			}
		}
	}
}

// A failing link has each get of 8 bytes end when the test says so, and longer ones at once.
type failing struct {
	transport.Link
	op    transport.Op
	queue *transport.Queue
}

func (l *failing) Get(q *transport.Queue, dst segment.Span, src transport.Addr) error {
	if dst.Len() != 8 {
		return l.Link.Get(q, dst, src)
	}
	l.queue = q
	q.Begin(&l.op)
	return nil
}

// Goal: a notification behind gets is posted when all of them have ended below, and not if one of them failed there; it is
// posted again when the queue has told of that.
// Method: a get ends below after it would have come, with an error or without; the notification is asked for before or
// behind that moment.
func TestNotificationBehindAGetThatEndsLate(t *testing.T) {
	for _, refused := range []error{nil, base.ErrNoSegment} {
		for _, behind := range []bool{false, true} {
			c := newCluster(t, 2, "latency=1h")
			l, q := c.link(0, 1).(*link), newQueue()
			below := &failing{Link: l.inner}
			l.inner = below
			ask := func(bytes uint64, b *notify.Array) {
				dst, err := c.segs[0].Span(0, bytes)
				c.ok(err)
				if b == nil {
					err = l.Get(q, dst, transport.Addr{Segment: 1})
				} else {
					err = l.GetNotify(q, dst, transport.Addr{Segment: 1}, b, transport.Flag{ID: 3, Value: 1})
				}
				c.ok(err)
			}
			array := c.segs[0].Notifications()
			ask(8, nil)
			ask(100, nil)
			if behind {
				allArrives(l.t.nic)
			}
			ask(0, array)
			allArrives(l.t.nic)
			if v := array.Load(3); v != 0 {
				t.Errorf("behind %t: the notification came before the bytes", behind)
			}
			below.queue.End(&below.op, refused)
			c.ok(q.Wait(testenv.Context(t), notify.GoroutineWait(0, 0), nil))
			ask(0, array) // nothing is under way
			if v := array.Load(3); (v != 0) != (refused == nil) {
				t.Errorf("behind %t, get ended with %v: notification %d", behind, refused, v)
			}
			if err := q.Failure(); !errors.Is(err, refused) {
				t.Errorf("%v, want %v", err, refused)
			}
			ask(0, array)
			allArrives(l.t.nic)
			c.ok(q.Wait(testenv.Context(t), notify.GoroutineWait(0, 0), nil))
			if v := array.Load(3); v != 1 {
				t.Errorf("behind %t, after all was told: notification %d", behind, v)
			}
		}
	}
}
