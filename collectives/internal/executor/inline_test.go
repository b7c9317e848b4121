package executor

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestInline: what a member only sends goes from the program's buffer to lines, without a copy between; what does not fit
// into a line, or is read by other instructions, is copied.
func TestInline(t *testing.T) {
	const size = 3
	for _, n := range []int{1, 7, 8} {
		calls, emits := eagerCalls(size, n)
		for i, c := range calls {
			if c.Op != schedule.Broadcast && c.Op != schedule.Reduce {
				continue
			}
			t.Run(fmt.Sprintf("%v of %d, root %d, radix %d", c.Op, n, c.Root, c.Radix), func(t *testing.T) {
				onMembers(t, size, func(ctx context.Context, m *Member, barrier func() error) error {
					b := bindingOf(m, &c, emits[i])
					b.Depth = schedule.Depth{Copies: 4, Batch: 1}
					x, err := compileAll(m, b, barrier)
					if err != nil {
						return err
					}
					inline, copies := 0, 0
					for _, in := range x.lanes[0] {
						switch {
						case in.kind == schedule.Put && in.inline:
							inline++
						case in.kind == schedule.Combine && in.arity == single:
							copies++
						}
					}
					lasts := c.Op == schedule.Broadcast && m.Me != c.Root // it copies what it got
					switch {
					case !sends(&x):
						if inline > 0 || lasts && copies == 0 {
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

// TestStarts: the first puts of a run to mapped memory are fetched before it, as many as a core has on their way at a time.
func TestStarts(t *testing.T) {
	for _, size := range []int{1, 2, 4, 12} {
		calls, emits := eagerCalls(size, 1)
		for i, c := range calls {
			if c.Op != schedule.Broadcast || c.Root != 0 {
				continue
			}
			onMembers(t, size, func(_ context.Context, m *Member, barrier func() error) error {
				b := bindingOf(m, &c, emits[i])
				b.Depth = schedule.Depth{Copies: 4, Batch: 1}
				x, err := compileAll(m, b, barrier)
				if err != nil {
					return err
				}
				if want := min(size-1, mostStarts); m.Me == c.Root && len(x.starts) != want {
					return fmt.Errorf("%d starts, want %d of %d puts", len(x.starts), want, size-1)
				}
				for x.runs = range 6 {
					x.Expect() // within bounds
				}
				return nil
			})
		}
	}
}
