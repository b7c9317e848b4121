package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// compiled has the members of a call compile it, with four copies of eager memory, and look at what came of it. Plain
// vectors lie in no segment.
func compiled(t *testing.T, c *schedule.Call, emit schedule.Emitter, plain bool, look func(m *Member, x *Executable) error) {
	t.Helper()
	onMembers(t, c.Size, func(_ context.Context, m *Member, barrier func() error) error {
		b := bindingOf(m, c, emit)
		if b.Depth = (schedule.Depth{Copies: 4, Batch: 1}); plain {
			b.In, b.Out = Base{}, Base{}
		}
		x, err := compileAll(m, b, barrier)
		if err != nil {
			return err
		}
		return look(m, &x)
	})
}

// TestUnstaged: what a member only sends goes from the program's buffer to lines, and elsewhere if the buffer lies in a
// segment, without a copy between; what other instructions read is copied.
func TestUnstaged(t *testing.T) {
	for _, n := range []int{1, 7, 8} {
		calls, emits := eagerCalls(3, n)
		for i, c := range calls {
			if c.Op == schedule.Scatter { // the root copies blocks one behind the other
				continue
			}
			for _, plain := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v of %d, root %d, plain %v", c.Op, n, c.Root, plain), func(t *testing.T) {
					compiled(t, &c, emits[i], plain, func(m *Member, x *Executable) error {
						return unstaged(m, x, c.Op == schedule.Broadcast && m.Me != c.Root, n < 8 && c.Op != schedule.Gather, plain)
					})
				})
			}
		}
	}
}

// unstaged checks what is inline and copied at a member, which perhaps keeps what it gets, of data that fit into lines or
// do not.
func unstaged(m *Member, x *Executable, keeps, line, plain bool) error {
	inline, copies, own := 0, 0, 0
	for _, in := range x.lanes[0] {
		switch {
		case in.kind == schedule.Put && in.inline:
			inline++
		case in.kind == schedule.Put && isOwn(m, x.sources[in.at].Bytes()):
			own++
		case in.kind == schedule.Combine && in.arity == single:
			copies++
		}
	}
	found := fmt.Errorf("%d puts are inline, %d take the program's buffer, %d copies are left", inline, own, copies)
	switch {
	case !sends(x):
		if inline+own > 0 || keeps && copies == 0 {
			return fmt.Errorf("%w, of a member that receives", found)
		}
	case line && (inline == 0 || own+copies > 0),
		!line && !plain && (own == 0 || inline+copies > 0),
		!line && plain && (copies == 0 || inline+own > 0):
		return found
	}
	return nil
}

// TestUnstagedPart: a part of the program's buffer is sent from where it lies there; it is copied if other memory is sent,
// too.
func TestUnstagedPart(t *testing.T) {
	const n, at = 8, 3
	for _, more := range []bool{false, true} {
		emit := func(b *schedule.Builder, c *schedule.Call) {
			given, other, hold := b.Scratch(n), b.Scratch(n), b.Scratch(2*n)
			data := b.Slots(1)
			if b.Rank() == 1 {
				b.Await(data)
				return
			}
			b.Copy(given.At(0, 0, n), b.In(0, at, n))
			b.Put(hold.At(1, 0, n), given.At(0, 0, n), data)
			if more {
				b.Put(hold.At(1, n, n), other.At(0, 0, n), data)
			}
		}
		compiled(t, &schedule.Call{Op: schedule.Scatter, Size: 2, Count: n, Line: 8}, emit, false, func(m *Member, x *Executable) error {
			code := x.lanes[0]
			switch {
			case m.Me == 1:
			case more != (code[0].kind == schedule.Combine):
				return fmt.Errorf("the first instruction is %+v, of two sources %v", code[0], more)
			case !more && &x.sources[code[0].at].Bytes()[0] != &m.Control.Bytes()[8*at]:
				return errors.New("the put does not take the part of the buffer")
			}
			return nil
		})
	}
}

// isOwn reports whether memory is the beginning of one of a member's vectors, as bindingOf places them.
func isOwn(m *Member, b []byte) bool {
	return &b[0] == &m.Control.Bytes()[0] || &b[0] == &m.Control.Bytes()[vectorSize]
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
			compiled(t, &schedule.Call{Op: c.op, Size: size, Count: 1, Line: 8}, emit, false, func(m *Member, x *Executable) error {
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
