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
		return e.shape(e.number()).reduction(ctx)
	}
	return e.shape(e.mover()).movement(ctx)
}

// number draws a type of numbers, for a reduction.
func (e *ensemble) number() calls {
	return pick(e.plan,
		reductionsOf(integer[int8]()),
		reductionsOf(integer[int16]()),
		reductionsOf(integer[int32]()),
		reductionsOf(integer[int64]()),
		reductionsOf(integer[int]()),
		reductionsOf(integer[uint8]()),
		reductionsOf(integer[uint16]()),
		reductionsOf(integer[uint32]()),
		reductionsOf(integer[uint64]()),
		reductionsOf(integer[uint]()),
		reductionsOf(floating[float32]()),
		reductionsOf(half(collectives.ToFloat16, collectives.Float16.Float32)),
		reductionsOf(half(collectives.ToBFloat16, collectives.BFloat16.Float32)),
		reductionsOf(complexes[complex64]()),
		reductionsOf(complexes[complex128]()),
		reductionsOf(locations[int32]()),
		reductionsOf(locations[float64]()),
		reductionsOf(floating[float64]()),
	)
}

// mover draws a type of elements, for an operation that combines nothing.
func (e *ensemble) mover() calls {
	return pick(e.plan,
		movesOf(triples()),
		movesOf(affines(false)),
		movesOf(integer[uint8]()),
		movesOf(complexes[complex128]()),
		movesOf(floating[float64]()),
	)
}

// meet is a barrier, without anything to check.
func (e *ensemble) meet() *boundCall {
	return &boundCall{
		name: "Barrier",
		task: func(context.Context) (collectives.Task, error) { return collectives.BarrierTask(), nil },
		blocking: func(ctx context.Context) (collectives.Status, error) {
			return nothingSaid, collectives.Barrier(ctx, e.team)
		},
		fill:  func(uint64) {},
		check: func(uint64, collectives.Status) error { return nil },
	}
}

// shape is a call with its buffers, before it is known what it does with them.
type shape struct {
	*ensemble
	calls
	verb            string // what is called
	op              gaspi.Op
	key             uint64
	n               int // elements of a block
	root            int
	inPlace         bool
	src, dst        vector
	many            bool   // members have a second source, as if of members of its own
	more            vector // the second source
	blocks          []int  // lengths of the members' blocks
	counts          []int  // blocks if they may differ, else nil
	sends, receives []int  // lengths of an AllToAllV
	rounds          int    // of an Exchange
}

// shape draws the numbers of a call, and no buffers.
func (e *ensemble) shape(of calls) *shape {
	s := &shape{ensemble: e, calls: of, key: e.plan.Uint64(), n: e.length(), root: e.plan.IntN(e.size), inPlace: e.plan.IntN(2) == 0}
	if ops := of.kinds(); len(ops) > 0 {
		s.op = pick(e.plan, ops...)
	}
	s.blocks = slices.Repeat([]int{s.n}, s.size)
	if e.style.vforms {
		s.counts = e.lengths()
		s.blocks = s.counts
	}
	return s
}

// of is the input of a member in a run.
func (s *shape) of(run uint64, member, n int) vector {
	return s.input(s.op, mix(s.key, run), member, n)
}

// sum is the reduction of some members' inputs.
func (s *shape) sum(run uint64, members []int, n int) vector {
	return s.reduced(s.op, mix(s.key, run), members, n)
}

// other is what a buffer holds that a call must not change, or will overwrite.
func (s *shape) other(run uint64, n int) vector {
	return s.input(s.op, mix(s.key, run, 99), s.place, n)
}

// nothingSaid is the Status of a call that does not say what it did.
var nothingSaid = collectives.Status{Elements: -1}

// call completes a call: which it is, its input, what must be there at its end, and options
// beside those that are drawn.
func (s *shape) call(ctx context.Context, verb, how string, fill func(run uint64),
	check func(run uint64, st collectives.Status) error, opts ...collectives.Option) (*boundCall, error) {
	s.verb = verb
	c := &boundCall{name: fmt.Sprintf("%s%s of %d %T", verb, how, s.n, s.zeros(0)), fill: fill, check: check}
	if s.counts != nil {
		c.name = fmt.Sprintf("%s%s of %v %T", verb, how, s.counts, s.zeros(0))
	} else if len(opts) == 0 {
		var err error
		if opts, how, err = s.options(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		c.name += how
	}
	c.task = func(ctx context.Context) (collectives.Task, error) { return s.task(ctx, s, opts...) }
	c.blocking = func(ctx context.Context) (collectives.Status, error) {
		if st, known, err := s.now(ctx, s, opts...); known {
			return st, err
		}
		task, err := s.task(ctx, s, opts...)
		if err == nil {
			err = collectives.Do(ctx, s.team, task)
		}
		return nothingSaid, err
	}
	c.harm = func() {
		if s.dst != nil && s.dst.length() > 0 {
			last := s.dst.length() - 1
			s.dst.part(last, last+1).set(s.input(s.op, s.key, s.place, 1))
		}
	}
	return c, nil
}
