package executor

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// eagerCalls are calls of all algorithms that use eager memory, of blocks or vectors of n elements.
func eagerCalls(size, n int) (all []schedule.Call, emit []schedule.Emitter) {
	for _, a := range algorithms.All() {
		for root := range size {
			c := schedule.Call{Op: a.Op, Size: size, Root: root, Count: n, Line: 8}
			if a.Op.Rooted() && schedule.Build(&c, 0, a.Emit).EagerSlots > 0 {
				all, emit = append(all, c), append(emit, a.Emit)
			}
		}
	}
	return all, emit
}

// given is element i of what a member contributes to a run.
func given(round, member, i int) float64 { return float64(round*1000 + member*100 + i) }

// wanted is element i of a member's result.
func wanted(c *schedule.Call, round, member, i int) float64 {
	switch c.Op {
	case schedule.Reduce:
		sum := 0.0
		for m := range c.Size {
			sum += given(round, m, i)
		}
		return sum
	case schedule.Gather:
		return given(round, i/c.Count, i%c.Count)
	case schedule.Scatter:
		return given(round, c.Root, member*c.Count+i)
	}
	return given(round, c.Root, i)
}

// TestEagerRuns has members run ahead of each other as far as copies allow, without a word between
// runs. Those that only send do as many runs as there are copies before any other member begins. Vectors fit
// into lines, or do not, and lie in segments, or do not.
func TestEagerRuns(t *testing.T) {
	const size = 3
	for _, d := range []schedule.Depth{{Copies: 2, Batch: 1}, {Copies: 4, Batch: 2}, {Copies: 16, Batch: 4}} {
		for _, n := range []int{5, 9} {
			calls, emits := eagerCalls(size, n)
			if len(calls) < 4*size {
				t.Fatalf("%d calls, want those of broadcast, reduce, gather and scatter", len(calls))
			}
			for i, c := range calls {
				for _, plain := range []bool{false, true} {
					t.Run(fmt.Sprintf("%v of %d, root %d, %+v, plain %v", c.Op, n, c.Root, d, plain), func(t *testing.T) {
						onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
							b := bindingOf(m, &c, emits[i])
							if b.Depth = d; plain {
								b.In, b.Out = Base{}, Base{}
							}
							x, err := compileAll(m, b, barrier)
							if err != nil {
								return err
							}
							return runAhead(ctx, m, &c, &x, d, barrier)
						})
					})
				}
			}
		}
	}
}

// runAhead makes runs of a call, the first of them before other members begin if this one only sends.
func runAhead(ctx context.Context, m *Member, c *schedule.Call, x *Executable, d schedule.Depth, barrier func() error) error {
	var e Execution
	e.Prepare(m, x)
	in, out, from, to := vectors(m, c.Count*c.Size)
	e.Bind(in, out, nil, nil)
	only := (m.Me == c.Root) == (c.Op == schedule.Broadcast || c.Op == schedule.Scatter)
	if !only {
		if err := barrier(); err != nil {
			return err
		}
	}
	for round := range 5 * d.Copies {
		if only && round == d.Copies {
			if err := barrier(); err != nil {
				return err
			}
		}
		for i := range from {
			from[i], to[i] = given(round, m.Me, i), 0
			if c.Op == schedule.Broadcast && m.Me == c.Root {
				to[i] = from[i]
			}
		}
		if err := run(ctx, &e); err != nil {
			return err
		}
		for i := range c.OutLen(m.Me) {
			if want := wanted(c, round, m.Me, i); to[i] != want {
				return fmt.Errorf("run %d: element %d is %v, want %v", round, i, to[i], want)
			}
		}
	}
	return nil
}

// sends reports whether the member waits for nothing but credits.
func sends(x *Executable) bool {
	for _, in := range x.lanes[0] {
		if in.kind == schedule.Await {
			return false
		}
	}
	return true
}

// TestStray has members that do not number their calls alike: the one that receives says whose
// number came.
func TestStray(t *testing.T) {
	const size = 2
	calls, emits := eagerCalls(size, 1)
	for i, c := range calls {
		for _, row := range []bool{false, true} {
			onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
				b := bindingOf(m, &c, emits[i])
				b.Depth = schedule.Depth{Copies: 4, Batch: 2}
				x, err := compileAll(m, b, barrier)
				if err != nil {
					return err
				}
				var e Execution
				e.Prepare(m, &x)
				in, out, _, _ := vectors(m, size)
				e.Bind(in, out, nil, nil)
				call := uint64(7)
				if !sends(&x) {
					call = 1<<32 + 5
				}
				if row {
					err = e.Run(ctx, call)
				} else {
					e.Begin(call)
					err = finish(ctx, &e)
				}
				if sends(&x) {
					return err
				}
				if stray, ok := errors.AsType[*StrayError](err); !ok || stray.Call != 7 || stray.Slot != schedule.FirstEagerSlot {
					return fmt.Errorf("%v: got %v, want what was sent in call 8", c.Op, err)
				}
				return nil
			})
		}
	}
}
