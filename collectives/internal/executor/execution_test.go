package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/codec"
	"github.com/gaspi-go/gaspi-go/collectives/internal/posts"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// Bytes of the control segments of tests: vectors, then scratch.
const (
	vectorSize  = 64 << 10
	scratchSize = 1 << 20
)

// onMembers runs main on so many members, with a barrier.
func onMembers(t *testing.T, size int, main func(ctx context.Context, m *Member, barrier func() error) error) {
	t.Helper()
	cfg := gaspi.Config{Segments: 8, Groups: 4, Notifications: 64, PassiveMax: 64, QueueDepth: 8}
	ranktest.Local(t, size, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		q, err := p.CreateQueue()
		if err != nil {
			return err
		}
		seg, err := p.CreateSegment(ctx, 0, 2*vectorSize+scratchSize, gaspi.WithNotifications(1024))
		if err != nil {
			return err
		}
		m := &Member{
			Proc: p, Queue: q, Control: seg, Ranks: p.World().Ranks(), Me: int(p.Rank()),
			Patience: time.Minute, Blame: func(err error) error { return err },
		}
		barrier := func() error { return p.Barrier(ctx, p.World()) }
		return errors.Join(main(ctx, m, barrier), barrier())
	})
}

// bindingOf is the binding of a sum of float64, whose vectors and scratch lie in the control segment.
func bindingOf(m *Member, call *schedule.Call, emit schedule.Emitter) *Binding {
	two, err := reduce.KernelOf[float64](reduce.Sum)
	if err != nil {
		panic(err)
	}
	return &Binding{
		Schedule: schedule.Build(call, m.Me, emit), Element: codec.Element{Size: 8, Number: codec.Float64}, Folds: Folds{Two: two},
		In: Base{m.Control, 0}, Out: Base{m.Control, vectorSize}, Scratch: Base{m.Control, 2 * vectorSize},
	}
}

// vectors are the buffers of bindingOf, as bytes and as elements.
func vectors(m *Member, n int) (in, out []byte, from, to []float64) {
	in, out = m.Control.Bytes()[:8*n], m.Control.Bytes()[vectorSize:vectorSize+8*n]
	return in, out, reduce.Of[float64](in), reduce.Of[float64](out)
}

// compileAll is Compile at all members, none of which goes on before all have.
func compileAll(m *Member, b *Binding, barrier func() error) (Executable, error) {
	x, err := Compile(m, b)
	return x, errors.Join(err, barrier())
}

// run begins a run and blocks until it has ended.
func run(ctx context.Context, e *Execution) error {
	if e.of.Single() {
		return e.Run(ctx, uint64(e.of.runs))
	}
	e.Begin(uint64(e.of.runs))
	return finish(ctx, e)
}

// finish blocks until a run has ended.
func finish(ctx context.Context, e *Execution) error {
	for {
		_, ended, err := e.Advance(ctx)
		if ended || err != nil {
			return err
		}
		if e.of.Single() {
			err = e.Wait(ctx)
		} else {
			err = e.member.Control.WaitFunc(ctx, e.Ready)
		}
		if err != nil {
			return err
		}
	}
}

// TestRuns runs executables of each allreduce again and again, with one lane and with several, over
// a queue that is soon full.
func TestRuns(t *testing.T) {
	const size, n, runs = 3, 1000, 12
	call := schedule.Call{Op: schedule.AllReduce, Size: size, Count: n, Line: 8, Nodes: make([]int, size)}
	for _, a := range algorithms.For(schedule.AllReduce) {
		if a.Coded || a.Fits != nil && a.Fits(&call) != nil {
			continue
		}
		for _, lanes := range []int{1, 3} {
			emit := a.Emit
			if lanes > 1 && !a.Whole {
				emit = schedule.Pipeline(schedule.Segmentation{Concurrency: lanes}, emit)
			}
			t.Run(fmt.Sprintf("%s/%d", a.Name, lanes), func(t *testing.T) {
				onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
					x, err := Compile(m, bindingOf(m, &call, emit))
					if err != nil {
						return err
					}
					var e Execution
					e.Prepare(m, &x)
					in, out, from, to := vectors(m, n)
					for round := range runs {
						for i := range from {
							from[i] = float64(i + round*m.Me)
						}
						if err := barrier(); err != nil { // peers may read from the buffers
							return err
						}
						e.Bind(in, out, nil, nil)
						if err := run(ctx, &e); err != nil {
							return err
						}
						if done, all := e.Steps(); done != all {
							return fmt.Errorf("run %d: %d steps of %d are done", round, done, all)
						}
						if err := barrier(); err != nil {
							return err
						}
						for i, got := range to {
							if want := float64(size*i + round*(size-1)*size/2); got != want {
								return fmt.Errorf("run %d: element %d is %v, want %v", round, i, got, want)
							}
						}
					}
					return nil
				})
			})
		}
	}
}

// star has rank 0 fold a block of each other member in their order.
func star(b *schedule.Builder, c *schedule.Call) {
	m, slot := b.Scratch(c.Size*c.Count), b.Slots(c.Size)
	if me := b.Rank(); me != 0 {
		b.Put(m.At(0, me*c.Count, c.Count), b.In(me, 0, c.Count), slot+me)
		return
	}
	b.Copy(b.Out(0, 0, c.Count), b.In(0, 0, c.Count))
	for i := 1; i < c.Size; i++ {
		b.Await(slot + i)
	}
	for i := 1; i < c.Size; i++ {
		b.Combine(b.Out(0, 0, c.Count), b.Out(0, 0, c.Count), m.At(0, i*c.Count, c.Count))
	}
}

// TestRunsStopAtPosts follows a run of star at rank 0 while the others post in reverse order.
func TestRunsStopAtPosts(t *testing.T) {
	const size, n = 3, 10
	call := schedule.Call{Op: schedule.Reduce, Size: size, Count: n, Line: 8}
	onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
		x, err := Compile(m, bindingOf(m, &call, star))
		if err != nil {
			return err
		}
		var e Execution
		e.Prepare(m, &x)
		in, out, _, _ := vectors(m, n)
		e.Bind(in, out, nil, nil)
		e.Begin(0)
		for _, stage := range []struct {
			ready, moved, ended bool
			slots               []int32
			posts               int // the rank that posts after it
		}{
			{ready: true, moved: true, slots: []int32{1, 2}, posts: 2},
			{ready: false, moved: false, slots: []int32{1}, posts: 1},
			{ready: true, moved: true, ended: true, posts: -1},
		} {
			if m.Me == 0 {
				if got := e.Ready(); got != stage.ready {
					return fmt.Errorf("before %+v: ready is %v", stage, got)
				}
				if stage.ended {
					err = e.Wait(ctx)
				}
				moved, ended, aerr := e.Advance(ctx)
				if err := errors.Join(err, aerr); err != nil {
					return err
				}
				if slots := e.Awaited(); moved != stage.moved || ended != stage.ended || !slices.Equal(slots, stage.slots) {
					return fmt.Errorf("want %+v: moved %v, ended %v, waits for slots %v", stage, moved, ended, slots)
				}
			}
			if err := barrier(); err != nil {
				return err
			}
			if m.Me == stage.posts {
				if err := finish(ctx, &e); err != nil {
					return err
				}
			}
			if err := barrier(); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestAwaitedOfARow has the posts of a row of awaits arrive one after the other.
func TestAwaitedOfARow(t *testing.T) {
	onMembers(t, 1, func(ctx context.Context, m *Member, _ func() error) error {
		await := func(note gaspi.NotificationID, row int32) instruction {
			return instruction{kind: schedule.Await, note: note, per: 1, nth: 1, row: row}
		}
		x := Executable{lanes: []lane{{await(7, 3), await(8, 2), await(9, 1)}}, slot: 5}
		var e Execution
		e.Prepare(m, &x)
		e.Begin(0)
		for _, c := range []struct {
			arrives gaspi.NotificationID // 0 for none
			want    []int32
		}{{0, []int32{2, 3, 4}}, {7, []int32{3, 4}}, {9, []int32{3}}, {8, nil}} {
			if c.arrives != 0 {
				if err := m.Queue.Notify(m.Control.At(m.Proc.Rank(), 0), gaspi.Notification{ID: c.arrives, Value: posts.Value(1)}); err != nil {
					return err
				}
			}
			if got := e.Awaited(); !slices.Equal(got, c.want) {
				t.Errorf("after the post of %d: %v, want %v", c.arrives, got, c.want)
			}
		}
		return m.Queue.Wait(ctx)
	})
}

// TestRunsGoOnAfterAPanic has the program's operation panic once. The run goes on with the fold
// that it stopped in, and does nothing twice.
func TestRunsGoOnAfterAPanic(t *testing.T) {
	const size, n = 3, 10
	call := schedule.Call{Op: schedule.Reduce, Size: size, Count: n, Line: 8}
	onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
		b := bindingOf(m, &call, star)
		sum := b.Folds.Two
		b.Folds = Folds{}
		x, err := Compile(m, b)
		if err != nil {
			return err
		}
		var e Execution
		e.Prepare(m, &x)
		in, out, from, to := vectors(m, n)
		for i := range from {
			from[i] = float64(m.Me + 1)
		}
		calls := 0
		e.Bind(in, out, nil, func(dst, a, b []byte) {
			if calls++; calls == 2 {
				panic("the second fold")
			}
			sum(dst, a, b)
		})
		panicked := func() (panicked bool) {
			defer func() { panicked = recover() != nil }()
			err = run(ctx, &e)
			return false
		}()
		if err != nil || panicked != (m.Me == 0) {
			return fmt.Errorf("panicked is %v, error %w", panicked, err)
		}
		if m.Me != 0 {
			return nil
		}
		if err := finish(ctx, &e); err != nil {
			return err
		}
		for i, got := range to {
			if got != 1+2+3 {
				return fmt.Errorf("element %d is %v, want 6", i, got)
			}
		}
		return nil
	})
}

// TestZeroExecutable runs what has no lanes.
func TestZeroExecutable(t *testing.T) {
	var (
		m Member
		x Executable
		e Execution
	)
	e.Prepare(&m, &x)
	e.Begin(0)
	moved, ended, err := e.Advance(t.Context())
	if !moved || !ended || err != nil {
		t.Errorf("moved %v, ended %v, error %v", moved, ended, err)
	}
	e.Release()
}
