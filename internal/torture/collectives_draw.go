package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// triple is an element that no operation knows; it can only be moved.
type triple [3]byte

// affine is the function x -> a*x + b modulo 2^32. One after the other is a function of
// the kind, and the order matters.
type affine struct{ A, B uint32 }

func triples() arithmetic[triple] {
	return arithmetic[triple]{of: func(_ gaspi.Op, x uint64) triple { return triple{byte(x), byte(x >> 8), byte(x >> 16)} }}
}

func affines(ordered bool) arithmetic[affine] {
	return arithmetic[affine]{
		of: func(_ gaspi.Op, x uint64) affine { return affine{uint32(x), uint32(x >> 32)} },
		fold: func(_ gaspi.Op, f, g affine) affine {
			if ordered {
				return affine{f.A * g.A, f.A*g.B + f.B}
			}
			return affine{f.A + g.A, f.B ^ g.B}
		},
	}
}

// draw makes a random call.
func (e *ensemble) draw(ctx context.Context) (*boundCall, error) {
	e.alloc = e.plan.IntN(3) == 0
	switch kind := e.plan.IntN(20); {
	case kind == 0 && !e.style.vforms:
		return e.meet(), nil
	case kind < 4 && !e.style.vforms:
		return e.fold(ctx)
	case kind < 12 && !e.style.vforms, kind < 8:
		return e.number(ctx)
	}
	return e.move(ctx)
}

// A drawing draws a call of an ensemble.
type drawing func(ctx context.Context, e *ensemble) (*boundCall, error)

// reductionOf draws reductions of one type of numbers.
func reductionOf[T number](a arithmetic[T]) drawing {
	return func(ctx context.Context, e *ensemble) (*boundCall, error) { return reduction(ctx, e, a) }
}

// movementOf draws operations that move one type of elements.
func movementOf[T comparable](a arithmetic[T]) drawing {
	return func(ctx context.Context, e *ensemble) (*boundCall, error) { return movement(ctx, e, a) }
}

// number draws a reduction of numbers, by their type.
func (e *ensemble) number(ctx context.Context) (*boundCall, error) {
	return pick(e.plan,
		reductionOf(integer[int8]()),
		reductionOf(integer[int16]()),
		reductionOf(integer[int32]()),
		reductionOf(integer[int64]()),
		reductionOf(integer[int]()),
		reductionOf(integer[uint8]()),
		reductionOf(integer[uint16]()),
		reductionOf(integer[uint32]()),
		reductionOf(integer[uint64]()),
		reductionOf(integer[uint]()),
		reductionOf(floating[float32]()),
		reductionOf(half(collectives.ToFloat16, collectives.Float16.Float32)),
		reductionOf(half(collectives.ToBFloat16, collectives.BFloat16.Float32)),
		reductionOf(complexes[complex64]()),
		reductionOf(complexes[complex128]()),
		reductionOf(locations[int32]()),
		reductionOf(locations[float64]()),
		reductionOf(floating[float64]()),
	)(ctx, e)
}

// move draws an operation that combines nothing, by the type of elements.
func (e *ensemble) move(ctx context.Context) (*boundCall, error) {
	return pick(e.plan,
		movementOf(triples()),
		movementOf(affines(false)),
		movementOf(integer[uint8]()),
		movementOf(complexes[complex128]()),
		movementOf(floating[float64]()),
	)(ctx, e)
}

// meet is a barrier, without anything to check.
func (e *ensemble) meet() *boundCall {
	return &boundCall{
		name:     "Barrier",
		task:     func(context.Context) (collectives.Task, error) { return collectives.BarrierTask(), nil },
		blocking: func(ctx context.Context) (collectives.Status, error) { return silent(collectives.Barrier(ctx, e.team)) },
		fill:     func(uint64) {},
		check:    func(uint64, collectives.Status) error { return nil },
	}
}

// silent is the result of a call that says nothing of what it did.
func silent(err error) (collectives.Status, error) { return collectives.Status{Elements: -1}, err }

// callShape is a call with its buffers, before it is known what it does with them.
type callShape[T comparable] struct {
	*ensemble
	a        arithmetic[T]
	op       gaspi.Op
	key      uint64
	n        int // elements of a block
	root     int
	inPlace  bool
	src, dst []T
	many     bool  // members have a second source, as if of members of its own
	more     []T   // the second source
	blocks   []int // lengths of the members' blocks
	counts   []int // blocks if they may differ, else nil
}

// newShape draws the numbers of a call, and no buffers.
func newShape[T comparable](e *ensemble, a arithmetic[T]) *callShape[T] {
	s := &callShape[T]{ensemble: e, a: a, key: e.plan.Uint64(), n: e.length(), root: e.plan.IntN(e.size), inPlace: e.plan.IntN(2) == 0}
	if len(a.ops) > 0 {
		s.op = pick(e.plan, a.ops...)
	}
	s.blocks = slices.Repeat([]int{s.n}, s.size)
	if e.style.vforms {
		s.counts = e.lengths()
		s.blocks = s.counts
	}
	return s
}

// of is the input of a member in a run.
func (s *callShape[T]) of(run uint64, member, n int) []T {
	return s.a.vector(s.op, mix(s.key, run), member, n)
}

// sum is the reduction of some members' inputs.
func (s *callShape[T]) sum(run uint64, members []int, n int) []T {
	return s.a.combine(s.op, mix(s.key, run), members, n)
}

// other is what a buffer holds that a call must not change, or will overwrite.
func (s *callShape[T]) other(run uint64, n int) []T {
	return s.a.vector(s.op, mix(s.key, run, 99), s.place, n)
}

// call completes a call: what it is called, its input, and what must be there at its end.
func (s *callShape[T]) call(name string, fill func(run uint64), check func(run uint64, st collectives.Status) error) *boundCall {
	var zero T
	c := &boundCall{name: fmt.Sprintf("%s of %d %T", name, s.n, zero), fill: fill, check: check}
	if s.counts != nil {
		c.name = fmt.Sprintf("%s of %v %T", name, s.counts, zero)
	}
	c.harm = func() {
		if len(s.dst) > 0 {
			s.dst[len(s.dst)-1] = s.a.of(s.op, s.key)
		}
	}
	return c
}
