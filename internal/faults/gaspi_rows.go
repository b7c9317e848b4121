package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// of makes an open of a call that needs no preparation.
func of(do func(ctx context.Context, m *member) error) func(context.Context, *member) (step, error) {
	return func(_ context.Context, m *member) (step, error) {
		return func(ctx context.Context, _ int) error { return do(ctx, m) }, nil
	}
}

// on makes an open of a call that uses a segment of the group.
func on(do func(ctx context.Context, m *member, s *gaspi.Segment, i int) error) func(context.Context, *member) (step, error) {
	return func(ctx context.Context, m *member) (step, error) {
		s, err := m.p.CreateSegment(ctx, m.id, 1024, gaspi.Over(m.group))
		return func(ctx context.Context, i int) error { return do(ctx, m, s, i) }, err
	}
}

// deleted deletes what was made with err, a group or a segment, when nobody is in its making any more.
func deleted(ctx context.Context, m *member, made interface{ Delete() error }, err error) error {
	if err == nil {
		err = m.p.Barrier(ctx, m.group)
	}
	if err == nil {
		err = made.Delete()
	}
	return err
}

// shortVector is the longest vector of the small reductions of package gaspi here, in elements.
const shortVector = 8

// certain are the faults after which all that go on know who has ended: agreements go on
// without these, also where a host has lost the launcher alone. partial are those after which
// members have lost each other, and both live: these cannot agree, and all members hear so.
var (
	certain = []faultKind{killed, stopped, host, launcher, late}
	partial = []faultKind{link, oneWay}
)

// agreements are rows of a call that agrees, which makes two of them.
func agreements(call string, open func(ctx context.Context, m *member) (step, error)) []row {
	return []row{
		{call: call, needs: needsNobody, faults: certain, open: open},
		{call: call, way: "without a link", needs: needsTeam, told: true, faults: partial, unsure: true, open: open},
	}
}

// shrunk opens Shrink of a group, each time of the one that came out the last time.
func shrunk(_ context.Context, m *member) (step, error) {
	g := m.group
	return func(ctx context.Context, _ int) error {
		next, err := g.Shrink(ctx)
		if err == nil && g != m.group {
			err = g.Delete()
		}
		if err == nil {
			g = next
		}
		return err
	}, nil
}

func gaspiRows() []row {
	rows := []row{
		{call: "gaspi.Proc.Barrier", needs: needsTeam, open: of(func(ctx context.Context, m *member) error { return m.p.Barrier(ctx, m.group) })},
		{call: "gaspi.AllReduce", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			x := make([]int64, min(m.count, shortVector))
			return gaspi.AllReduce(ctx, m.group, x, x, gaspi.Sum)
		})},
		{call: "gaspi.AllReduceFunc", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			x := make([]int64, min(m.count, shortVector))
			return gaspi.AllReduceFunc(ctx, m.group, x, x, func(acc, in []int64) {})
		})},
		{call: "gaspi.Group.Commit", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			g, err := m.p.NewGroup(m.group.Ranks()...)
			if err == nil {
				err = g.Commit(ctx)
			}
			return deleted(ctx, m, g, err)
		})},
		{call: "gaspi.Group.Dup", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			g, err := m.group.Dup(ctx, 0)
			return deleted(ctx, m, g, err)
		})},
		{call: "gaspi.Proc.CreateSegment", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			s, err := m.p.CreateSegment(ctx, m.id+1, 64, gaspi.Over(m.group))
			return deleted(ctx, m, s, err)
		})},
		{call: "gaspi.Proc.UseSegment", needs: needsTeam, open: of(func(ctx context.Context, m *member) error {
			s, err := m.p.UseSegment(ctx, m.id+1, make([]byte, 64), gaspi.Over(m.group))
			return deleted(ctx, m, s, err)
		})},
		{call: "gaspi.Proc.Ping", needs: needsPeer, open: of(func(ctx context.Context, m *member) error { return m.p.Ping(ctx, m.peer()) })},
		{call: "gaspi.Proc.Kill", needs: needsNobody, once: true, faults: []faultKind{killed, stopped}, open: of(func(ctx context.Context, m *member) error {
			if m.p.Rank() == m.victim {
				return nil
			}
			return m.p.Kill(ctx, m.victim)
		})},
		{call: "gaspi.Queue.Wait", needs: needsPeer, open: on(func(ctx context.Context, m *member, s *gaspi.Segment, _ int) error {
			return written(m, s, func(q *gaspi.Queue) error { return q.Wait(ctx) })
		})},
		{call: "gaspi.Queue.Post", needs: needsPeer, open: on(func(ctx context.Context, m *member, s *gaspi.Segment, _ int) error {
			return written(m, s, func(q *gaspi.Queue) error {
				var full error
				if q.Size() > 0 { // which a write to oneself does not change
					full = gaspi.ErrQueueFull // the first time
				}
				return q.Post(ctx, func() (err error) { err, full = full, nil; return err })
			})
		})},
		{call: "gaspi.Queue.Flush", needs: needsPeer, open: on(func(ctx context.Context, m *member, s *gaspi.Segment, _ int) error {
			return written(m, s, func(q *gaspi.Queue) error { return q.Flush(ctx, m.peer()) })
		})},
	}
	agree := of(func(ctx context.Context, m *member) error {
		flags, err := m.group.Agree(ctx, 5)
		if err == nil && flags != 5 {
			err = fmt.Errorf("agreement on %d, want 5", flags)
		}
		return err
	})
	return slices.Concat(rows, agreements("gaspi.Group.Agree", agree), agreements("gaspi.Group.Shrink", shrunk), passiveRows(), notificationRows(), atomicRows())
}

// written writes to the peer and completes that.
func written(m *member, s *gaspi.Segment, complete func(q *gaspi.Queue) error) error {
	src, err := s.Span(0, 64)
	if err != nil {
		return err
	}
	q := m.p.MustQueue(0)
	if err := q.Write(s.At(m.peer(), 64), src); err != nil {
		return err
	}
	if err := complete(q); err != nil {
		return err
	}
	return q.Wait(context.Background())
}

func passiveRows() []row {
	// beside makes an open of a call whose other side goes on beside it, from the start.
	beside := func(loop func(ctx context.Context, m *member, s *gaspi.Segment), do func(ctx context.Context, m *member, s *gaspi.Segment) error) func(context.Context, *member) (step, error) {
		return func(ctx context.Context, m *member) (step, error) {
			s, err := m.p.CreateSegment(ctx, m.id, 1024, gaspi.Over(m.group))
			if err == nil {
				go loop(ctx, m, s)
			}
			return func(ctx context.Context, _ int) error { return do(ctx, m, s) }, err
		}
	}
	return []row{
		{call: "gaspi.Proc.PassiveSend", needs: needsPeer, settles: true, open: beside(receiveLoop, func(ctx context.Context, m *member, s *gaspi.Segment) error {
			src, err := s.Span(0, 8)
			if err != nil {
				return err
			}
			return m.p.PassiveSend(ctx, m.peer(), src)
		})},
		{call: "gaspi.Proc.PassiveReceive", needs: needsJob, open: beside(sendLoop, func(ctx context.Context, m *member, s *gaspi.Segment) error {
			dst, err := s.Span(64, 8)
			if err == nil {
				_, _, err = m.p.PassiveReceive(ctx, dst)
			}
			return err
		})},
	}
}

// receiveLoop receives whatever happens to others.
func receiveLoop(ctx context.Context, m *member, s *gaspi.Segment) {
	dst, err := s.Span(64, 8)
	for ctx.Err() == nil && err == nil {
		if _, _, rerr := m.p.PassiveReceive(ctx, dst); rerr != nil {
			pause(ctx, 100*time.Millisecond)
		}
	}
}

// sendLoop sends until it cannot.
func sendLoop(ctx context.Context, m *member, s *gaspi.Segment) {
	src, err := s.Span(0, 8)
	draw := rand.New(rand.NewPCG(uint64(m.me), 5)) // that of the member is for its calls
	for i := 0; ctx.Err() == nil && err == nil; i++ {
		if err = m.p.PassiveSend(ctx, m.peer(), src); err == nil {
			pause(ctx, gapAt(draw, i))
		}
	}
}

// slot is the notification of the i-th time. A member may be ahead of the next by as many
// times as there are others.
func slot(i int) gaspi.NotificationID { return gaspi.NotificationID(i % 16) }

// notificationRows are waits for notifications that go round the group.
func notificationRows() []row {
	wait := func(call string, do func(ctx context.Context, m *member, s *gaspi.Segment, v gaspi.Value) error) row {
		return row{call: "gaspi.Segment." + call, needs: needsTeam, open: on(func(ctx context.Context, m *member, s *gaspi.Segment, i int) error {
			if m.size() == 1 {
				return nil // nobody would post
			}
			v := gaspi.Value(i + 1)
			q := m.p.MustQueue(0)
			if err := q.Notify(s.At(m.next(1), 0), gaspi.Notification{ID: slot(i), Value: v}); err != nil {
				return err
			}
			if err := q.Wait(ctx); err != nil {
				return err
			}
			if err := do(ctx, m, s, v); err != nil {
				return err
			}
			_, err := s.Reset(slot(i))
			return err
		})}
	}
	// through is the end of a wait that no death ends by itself.
	through := func(m *member, s *gaspi.Segment, v gaspi.Value, wait func(look func() bool) error) error {
		there := func() bool { return s.Peek(slot(int(v)-1)) == v }
		lost := func() error {
			for _, r := range m.group.Ranks() {
				if err := m.p.Failure(r); err != nil {
					return err
				}
			}
			return nil
		}
		if err := wait(func() bool { return there() || lost() != nil }); err != nil || there() {
			return err
		}
		return lost()
	}
	by := func(way string, x row) row { x.way = way; return x }
	return []row{
		wait("WaitSome", func(ctx context.Context, _ *member, s *gaspi.Segment, v gaspi.Value) error {
			_, err := s.WaitSome(ctx, slot(int(v)-1), 1)
			return err
		}),
		wait("WaitAll", func(ctx context.Context, _ *member, s *gaspi.Segment, v gaspi.Value) error {
			return s.WaitAll(ctx, slot(int(v)-1), 1)
		}),
		wait("WaitUntil", func(ctx context.Context, _ *member, s *gaspi.Segment, v gaspi.Value) error {
			return s.WaitUntil(ctx, slot(int(v)-1), gaspi.Reached, v)
		}),
		wait("WaitFunc", func(ctx context.Context, _ *member, s *gaspi.Segment, v gaspi.Value) error {
			return s.WaitFunc(ctx, func() bool { return s.Peek(slot(int(v)-1)) == v })
		}),
		by("through losses", wait("WaitFunc", func(ctx context.Context, m *member, s *gaspi.Segment, v gaspi.Value) error {
			return through(m, s, v, func(look func() bool) error { return s.WaitFunc(ctx, look, gaspi.ThroughLosses) })
		})),
		by("asleep", wait("WaitFunc", func(ctx context.Context, m *member, s *gaspi.Segment, v gaspi.Value) error {
			return through(m, s, v, func(look func() bool) error { return s.WaitFunc(ctx, look, gaspi.ThroughLosses|gaspi.Asleep) })
		})),
	}
}

func atomicRows() []row {
	var rows []row
	for call, do := range map[string]func(p *gaspi.Proc, ctx context.Context, at gaspi.Remote, v uint64) (uint64, error){
		"FetchAdd": (*gaspi.Proc).FetchAdd, "FetchAnd": (*gaspi.Proc).FetchAnd, "FetchMax": (*gaspi.Proc).FetchMax,
		"FetchMin": (*gaspi.Proc).FetchMin, "FetchOr": (*gaspi.Proc).FetchOr, "FetchXor": (*gaspi.Proc).FetchXor, "Swap": (*gaspi.Proc).Swap,
		"CompareSwap": func(p *gaspi.Proc, ctx context.Context, at gaspi.Remote, v uint64) (uint64, error) {
			return p.CompareSwap(ctx, at, v, v+1)
		},
	} {
		rows = append(rows, row{call: "gaspi.Proc." + call, needs: needsPeer, open: on(func(ctx context.Context, m *member, s *gaspi.Segment, i int) error {
			_, err := do(m.p, ctx, s.At(m.peer(), 8), uint64(i))
			return err
		})})
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.call, b.call) })
	return rows
}
