package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Each wait sleeps in a goroutine of its own when the rank closes. All end with
// ErrClosed; a goroutine left behind would be a deadlock of the bubble.
func TestCloseEndsWaitsUnderWay(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		span := must(s.Span(0, 8))
		if p.Rank() > 0 {
			quiet(ctx)
			quiet(ctx)
			return nil
		}
		g := must(p.NewGroup(0, 1))
		waits := map[string]func() error{
			"waitsome":     func() error { _, err := s.WaitSome(ctx, 0, 8); return err },
			"waitall":      func() error { return s.WaitAll(ctx, 0, 8) },
			"waituntil":    func() error { return s.WaitUntil(ctx, 0, gaspi.AtLeast, 1) },
			"barrier":      func() error { return p.Barrier(ctx, p.World()) },
			"allreduce":    func() error { return gaspi.AllReduce(ctx, p.World(), []int8{1}, []int8{1}, gaspi.Sum) },
			"passive send": func() error { return p.PassiveSend(ctx, 1, span) },
			"passive receive": func() error {
				_, _, err := p.PassiveReceive(ctx, span)
				return err
			},
			"commit": func() error { return g.Commit(ctx) },
			"create": func() error { _, err := p.CreateSegment(ctx, 1, 8); return err },
		}
		type end struct {
			name string
			err  error
		}
		ends := make(chan end)
		for name, wait := range waits {
			go func() { ends <- end{name, wait()} }()
		}
		synctest.Wait()
		ok(p.Close())
		for range waits {
			if e := <-ends; !errors.Is(e.err, gaspi.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", e.name, e.err)
			}
		}
		return nil
	})
}

func TestGASPIProcTermNothingGoesAfterClose(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		span, q, n := must(s.Span(0, 8)), p.MustQueue(0), gaspi.Notification{ID: 1, Value: 1}
		ok(p.Barrier(ctx, p.World()))
		for range 3 {
			ok(p.Close())
		}
		_, addErr := p.FetchAdd(ctx, s.At(1, 0), 1)
		_, allocErr := p.AllocSegment(1, 8)
		for name, err := range map[string]error{
			"write": q.Write(s.At(1, 0), span), "write_notify": q.WriteNotify(s.At(1, 0), span, n),
			"notify": q.Notify(s.At(1, 0), n), "read": q.Read(span, s.At(1, 0)),
			"list": q.WriteList([]gaspi.Transfer{{Local: span, Remote: s.At(1, 0)}}),
			"wait": q.Wait(ctx), "flush": q.Flush(ctx, 1), "fetch_add": addErr, "alloc": allocErr,
			"barrier": p.Barrier(ctx, p.World()), "passive_send": p.PassiveSend(ctx, 1, span),
			"allreduce": gaspi.AllReduce(ctx, p.World(), []int8{1}, []int8{1}, gaspi.Sum),
			"waitsome":  func() error { _, err := s.WaitSome(ctx, 0, 8); return err }(),
		} {
			if !errors.Is(err, gaspi.ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", name, err)
			}
		}
		return nil
	})
}

// Ranks close while goroutines of theirs are in calls of a group, at any point of these: each call
// ends with ErrClosed, or the error of a rank that has left, and none with something made up of
// what Close has taken away.
func TestCloseAtAnyPointOfACall(t *testing.T) {
	jobs := 200
	if testing.Short() {
		jobs = 20
	}
	cfg := small
	cfg.Segments, cfg.Groups, cfg.KeepGoing = 16, 16, true
	for job := range uint64(jobs) {
		ranktest.Local(t, 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			rng := rand.New(rand.NewPCG(job, uint64(p.Rank())))
			world := p.World()
			agree := must(world.Dup(ctx, 0))
			calls := []func() error{
				func() error { return p.Barrier(ctx, world) },
				func() error { return gaspi.AllReduce(ctx, world, []int8{1}, []int8{1}, gaspi.Sum) },
				func() error {
					flags, err := agree.Agree(ctx, 5)
					if err == nil && flags != 5 {
						err = fmt.Errorf("flags %#x; want 5", flags)
					}
					return err
				},
				func() error {
					s, err := p.CreateSegment(ctx, gaspi.AnySegment, 8)
					if err != nil {
						return err
					}
					return s.Delete()
				},
			}
			for tag := range gaspi.Tag(3) {
				calls = append(calls, func() error {
					g, err := world.Dup(ctx, tag)
					if err != nil {
						return err
					}
					return g.Delete()
				})
			}
			var ends sync.WaitGroup
			for _, call := range calls {
				ends.Go(func() {
					for {
						err := call()
						var gone *gaspi.RankError
						switch {
						case err == nil:
							continue
						case !errors.Is(err, gaspi.ErrClosed) && !errors.As(err, &gone):
							t.Errorf("job %d, rank %d: %v", job, p.Rank(), err)
						}
						return
					}
				})
			}
			time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond) // sleep: the calls are to be at any point
			ok(p.Close())
			ends.Wait()
			return nil
		})
	}
}

// A creation that finds this rank closed after its draw casts no vote, so that no other call over the group
// may begin here: its first ballot would count the votes that the others cast on the creation.
func TestCloseInACreationEndsTurns(t *testing.T) {
	ranktest.Local(t, 1, small, func(ctx context.Context, p *gaspi.Proc) error {
		p.WhileClosing(func() {
			if err := p.CreateLate(ctx); !errors.Is(err, gaspi.ErrClosed) {
				t.Errorf("creation: %v; want ErrClosed", err)
			}
			if err := p.World().EnterLate(ctx); !errors.Is(err, gaspi.ErrClosed) {
				t.Errorf("the next call: %v; want ErrClosed", err)
			}
		})
		return nil
	})
}

// GPI-2 spends 1.3 s of every start on measuring its clock. In a bubble the clock
// stands still while anybody runs: an Init that sleeps or measures would move it
// or never end.
func TestInitIsQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		p := must(gaspi.Init(t.Context(), gaspi.Config{Transport: "loopback"}))
		s := must(p.CreateSegment(t.Context(), 0, 1<<20))
		ok(p.Barrier(t.Context(), p.World()))
		ok(s.Delete())
		ok(p.Close())
		if d := time.Since(begin); d != 0 {
			t.Errorf("the clock moved by %v", d)
		}
	})
}

func TestGASPIProcInitAlone(t *testing.T) {
	p := must(gaspi.Init(t.Context(), gaspi.Config{}))
	defer p.Close()
	if p.Rank() != 0 || p.Size() != 1 || p.LocalRank() != 0 || p.LocalSize() != 1 || p.Job() == "" || p.World().Size() != 1 {
		t.Errorf("rank %d of %d, local %d of %d, job %q", p.Rank(), p.Size(), p.LocalRank(), p.LocalSize(), p.Job())
	}
	other := must(gaspi.Init(t.Context(), gaspi.Config{})) // no package-level state
	defer other.Close()
	if other.Job() == p.Job() {
		t.Errorf("two jobs have one name, %q", p.Job())
	}
	must(p.AllocSegment(0, 8))
	must(other.AllocSegment(0, 8))
}

func TestConfigSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		cfg  gaspi.Config
		want string
	}{
		{gaspi.Config{Transport: "carrier pigeon"}, `Config.Transport="carrier pigeon": expected auto, shm, `},
		{gaspi.Config{Queues: -1}, "Queues is -1; want 1 to 64"},
		{gaspi.Config{Queues: 9, QueuesMax: 8}, "Queues is 9; want 1 to 8"},
		{gaspi.Config{QueueDepth: -5}, "QueueDepth is -5; want 1 to "},
		{gaspi.Config{Segments: 1 << 21}, "Segments is 2097152; want 1 to 1048576"},
		{gaspi.Config{Groups: -1}, "Groups is -1; want 1 to "},
		{gaspi.Config{ListMax: -1}, "ListMax is -1; want 1 to "},
		{gaspi.Config{PassiveMax: 1 << 30}, "PassiveMax is 1073741824; want 1 to "},
		{gaspi.Config{AllReduceElements: -1}, "AllReduceElements is -1; want 1 to "},
		{gaspi.Config{Notifications: 1 << 30}, "Notifications is 1073741824; want 1 to "},
	} {
		for how, start := range map[string]func() error{
			"Init":  func() error { _, err := gaspi.Init(t.Context(), c.cfg); return err },
			"Local": func() error { return gaspi.Local(t.Context(), 1, c.cfg, nil) },
		} {
			if err := start(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want to read %q", how, err, c.want)
			}
		}
	}
	if err := gaspi.Local(t.Context(), 0, small, nil); err == nil || !strings.Contains(err.Error(), "0 ranks") {
		t.Errorf("a job of no rank: %v", err)
	}
}

// Jobs come and go in one process and leave no goroutine.
func TestJobsLeaveNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range 20 {
		ranktest.Local(t, 1+i%4, small, func(ctx context.Context, p *gaspi.Proc) error {
			s := must(p.CreateSegment(ctx, 0, 8))
			tell(p, s, (p.Rank()+1)%gaspi.Rank(p.Size()), 0)
			await(ctx, s, 0)
			return p.Barrier(ctx, p.World())
		})
	}
	// Close waits for the goroutines of a rank; those of its context may still
	// be on their way out.
	for range 100_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}
