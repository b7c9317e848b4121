package executor

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// compiled has the members of a call compile it, with four copies of eager memory, and look at what came of it.
func compiled(t *testing.T, c *schedule.Call, emit schedule.Emitter, look func(m *Member, x *Executable) error) {
	t.Helper()
	onMembers(t, c.Size, func(_ context.Context, m *Member, barrier func() error) error {
		b := bindingOf(m, c, emit)
		b.Depth = schedule.Depth{Copies: 4, Batch: 1}
		x, err := compileAll(m, b, barrier)
		if err != nil {
			return err
		}
		return look(m, &x)
	})
}

// TestInline: what a member only sends goes from the program's buffer to lines, without a copy between; what does not fit
// into a line, or is read by other instructions, is copied.
func TestInline(t *testing.T) {
	for _, n := range []int{1, 7, 8} {
		calls, emits := eagerCalls(3, n)
		for i, c := range calls {
			if c.Op != schedule.Broadcast && c.Op != schedule.Reduce {
				continue
			}
			t.Run(fmt.Sprintf("%v of %d, root %d", c.Op, n, c.Root), func(t *testing.T) {
				compiled(t, &c, emits[i], func(m *Member, x *Executable) error {
					inline, copies := 0, 0
					for _, in := range x.lanes[0] {
						switch {
						case in.kind == schedule.Put && in.inline:
							inline++
						case in.kind == schedule.Combine && in.arity == single:
							copies++
						}
					}
					keeps := c.Op == schedule.Broadcast && m.Me != c.Root // it copies what it got
					switch {
					case !sends(x):
						if inline > 0 || keeps && copies == 0 {
							return fmt.Errorf("%d puts are inline, and %d copies are left, of a member that receives", inline, copies)
						}
					case n < 8 && (inline == 0 || copies > 0), n == 8 && (inline > 0 || copies == 0):
						return fmt.Errorf("%d puts are inline, and %d copies are left", inline, copies)
					}
					return nil
				})
			})
		}
	}
}

// TestStarts: of eager memory the first puts of a run are fetched before it, as many as a core has on their way at a time;
// of flip memory the first alone.
func TestStarts(t *testing.T) {
	for _, size := range []int{2, 4, 12} {
		for _, c := range []struct {
			op   schedule.Operation
			name string
			want int
		}{
			{schedule.Broadcast, "eager", min(size-1, mostStarts)},
			{schedule.AllReduce, "dissemination", 1},
		} {
			of := algorithms.For(c.op)
			emit := of[slices.IndexFunc(of, func(a algorithms.Algorithm) bool { return a.Name == c.name })].Emit
			compiled(t, &schedule.Call{Op: c.op, Size: size, Count: 1, Line: 8}, emit, func(m *Member, x *Executable) error {
				if m.Me == 0 && len(x.starts) != c.want {
					return fmt.Errorf("%v of %d: %d starts, want %d", c.op, size, len(x.starts), c.want)
				}
				for x.runs = range 6 {
					x.Expect() // within bounds
				}
				return nil
			})
		}
	}
}
