//go:build !race

package gaspi_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// The calls that programs make all the time allocate nothing, on either
// transport. (The race detector allocates by itself.)
func TestHotCallsAllocateNothing(t *testing.T) {
	for _, transport := range []string{"loopback", "shm"} {
		t.Run(transport, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context()) // one that can end
			defer cancel()
			p := must(gaspi.Init(ctx, gaspi.Config{Transport: transport, QueueDepth: 1 << 20}))
			defer p.Close()
			s := must(p.CreateSegment(ctx, 0, 4096))
			countAllocs(t, ctx, p, s, s.At(0, 2048))
		})
	}
}

// countAllocs measures every hot call with a peer at to.
func countAllocs(t *testing.T, ctx context.Context, p *gaspi.Proc, s *gaspi.Segment, to gaspi.Remote) {
	t.Helper()
	q, src, world := p.MustQueue(0), must(s.Span(0, 64)), p.World()
	n := gaspi.Notification{ID: 5, Value: 1}
	list := []gaspi.Transfer{{Local: src, Remote: to}, {Local: src, Remote: to.Plus(64)}}
	own := gaspi.Remote{Rank: p.Rank(), Segment: s.ID()}
	ok(q.Notify(own, gaspi.Notification{ID: 9, Value: 1}))
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"Span", func() error { _, err := s.Span(8, 8); return err }},
		{"Write", func() error { return q.Write(to, src) }},
		{"WriteNotify", func() error { return q.WriteNotify(to, src, n) }},
		{"Notify", func() error { return q.Notify(to, n) }},
		{"Read", func() error { return q.Read(src, to) }},
		{"ReadNotify", func() error { return q.ReadNotify(src, to, n) }},
		{"WriteList", func() error { return q.WriteList(list) }},
		{"ReadList", func() error { return q.ReadList(list) }},
		{"Wait", func() error { return q.Wait(ctx) }},
		{"Flush", func() error { return q.Flush(ctx, to.Rank) }},
		{"TrySome", func() error { _, _, err := s.TrySome(0, 64); return err }},
		{"WaitSome that finds at once", func() error { _, err := s.WaitSome(ctx, 0, 64); return err }},
		{"Reset of one set", func() error {
			if err := q.Notify(own, n); err != nil {
				return err
			}
			_, err := s.Reset(5)
			return err
		}},
		{"Reset of none set", func() error { _, err := s.Reset(6); return err }},
		{"FetchAdd", func() error { _, err := p.FetchAdd(ctx, to, 1); return err }},
		{"CompareSwap", func() error { _, err := p.CompareSwap(ctx, to, 0, 1); return err }},
	} {
		if allocs := testing.AllocsPerRun(200, func() { ok(c.call()) }); allocs != 0 {
			t.Errorf("%s: %v allocations", c.name, allocs)
		}
	}
	if p.Size() == 1 {
		if allocs := testing.AllocsPerRun(200, func() { ok(p.Barrier(ctx, world)) }); allocs != 0 {
			t.Errorf("Barrier alone: %v allocations", allocs)
		}
	}
}

// A polled is the context of a program that polls: it has ended, and its error is bare.
type polled struct{ context.Context }

func (polled) Err() error { return errPolled }

type pollError struct{}

func (pollError) Error() string { return "not yet" }
func (pollError) Bare()         {}

var errPolled error = pollError{}

// Calls that are polled allocate nothing while they have not ended, and end when all have called.
func TestPolledCallsAllocateNothing(t *testing.T) {
	err := gaspi.Local(t.Context(), 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		dst := must(s.Span(0, 64))
		ended, cancel := context.WithCancel(ctx)
		cancel()
		var poll context.Context = polled{ended}
		in, out := []int64{int64(p.Rank())}, []int64{0}
		calls := []struct {
			name string
			call func(ctx context.Context) error
		}{
			{"PassiveReceive", func(ctx context.Context) error { _, _, err := p.PassiveReceive(ctx, dst); return err }},
			{"Barrier", func(ctx context.Context) error { return p.Barrier(ctx, p.World()) }},
			{"AllReduce", func(ctx context.Context) error { return gaspi.AllReduce(ctx, p.World(), in, out, gaspi.Sum) }},
		}
		for _, c := range calls {
			if p.Rank() == 0 {
				allocs := testing.AllocsPerRun(200, func() {
					if err := c.call(poll); err != errPolled {
						t.Errorf("%s: %v, want the error of the context", c.name, err)
					}
				})
				if allocs != 0 {
					t.Errorf("%s: %v allocations", c.name, allocs)
				}
				ok(p.MustQueue(0).Notify(s.At(1, 0), gaspi.Notification{ID: 3, Value: 1}))
			} else {
				must(s.WaitSome(ctx, 3, 1))
				must(s.Reset(3))
			}
			if c.name == "PassiveReceive" {
				if p.Rank() == 1 {
					ok(p.PassiveSend(ctx, 0, dst))
					continue
				}
			}
			ok(c.call(ctx))
		}
		return p.Barrier(ctx, p.World())
	})
	ok(err)
}

// A full queue is answered by a bare error: polling it is free.
func TestQueueFullAllocatesNothing(t *testing.T) {
	cfg := small
	cfg.QueueDepth = 1
	err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 0 {
			src := must(s.Span(0, 8))
			ok(p.MustQueue(0).Write(s.At(1, 0), src))
			if allocs := testing.AllocsPerRun(200, func() { _ = p.MustQueue(0).Write(s.At(1, 0), src) }); allocs != 0 {
				t.Errorf("a write to a full queue: %v allocations", allocs)
			}
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		t.Error(err)
	}
}

// Two ranks play ping-pong, and barriers. Their waits yield and never sleep: only
// one that sleeps makes what it is woken by.
func TestPingPongAllocatesNothing(t *testing.T) {
	const rounds = 2000
	cfg := small
	cfg.Spin, cfg.Yield = -1, time.Hour
	err := gaspi.Local(t.Context(), 2, cfg, func(_ context.Context, p *gaspi.Proc) error {
		ctx := context.Background()
		s := must(p.CreateSegment(ctx, 0, 64))
		q, src, other := p.MustQueue(0), must(s.Span(0, 8)), 1-p.Rank()
		play := func(n int) {
			for range n {
				if p.Rank() == 0 {
					ok(q.WriteNotify(s.At(other, 8), src, gaspi.Notification{ID: 1, Value: 1}))
				}
				must(s.WaitSome(ctx, 0, 4))
				must(s.Reset(1))
				if p.Rank() == 1 {
					ok(q.WriteNotify(s.At(other, 8), src, gaspi.Notification{ID: 1, Value: 1}))
				}
				ok(q.Wait(ctx))
				ok(p.Barrier(ctx, p.World()))
			}
		}
		play(50)
		var before, after runtime.MemStats
		if p.Rank() == 0 {
			runtime.ReadMemStats(&before)
		}
		play(rounds)
		if p.Rank() == 0 {
			runtime.ReadMemStats(&after)
			// The Go runtime allocates now and then, by itself.
			if n := after.Mallocs - before.Mallocs; n > rounds/20 {
				t.Errorf("%d allocations in %d rounds", n, rounds)
			}
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		t.Error(err)
	}
}
