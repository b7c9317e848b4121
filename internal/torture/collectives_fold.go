package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// fewest is how many members a call with Processes combines at least: fractions are thirds.
func fewest(thirds, size int) int { return (thirds*size + 2) / 3 }

// number is an element that operations combine, and a model compares.
type number interface {
	collectives.Element
	comparable
}

// reduction draws an operation that combines numbers.
func reduction[T number](ctx context.Context, e *ensemble, a arithmetic[T]) (*boundCall, error) {
	s := newShape(e, a)
	if e.style.vforms {
		return reduceScatter(ctx, s)
	}
	if err := s.take(ctx, s.n, s.n); err != nil {
		return nil, err
	}
	switch e.plan.IntN(8) {
	case 0:
		return allReduceInto(s)
	case 1:
		return allReduceMany(ctx, s)
	case 2:
		return reduce(s)
	case 3:
		return reduceInto(s)
	case 4:
		return reduceScatter(ctx, s)
	case 5:
		return scan(s)
	case 6:
		return exScan(s)
	}
	return allReduce(s)
}

// input fills the buffer that is input and result.
func (s *callShape[T]) input(run uint64) { copy(s.dst, s.of(run, s.place, s.n)) }

// summed checks the reduction of all members.
func (s *callShape[T]) summed(run uint64, _ collectives.Status) error {
	return same("buf", s.dst, s.sum(run, upTo(s.size), s.n))
}

func allReduce[T number](s *callShape[T]) (*boundCall, error) {
	var more []collectives.Option
	c := s.call(fmt.Sprintf("AllReduce, %v,", s.op), s.input, s.summed)
	if !s.style.forced && s.plan.IntN(4) == 0 {
		more = append(more, collectives.Compress(collectives.Lossless()))
		c.name += " compressed"
	}
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllReduceTask(s.dst, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return silent(collectives.AllReduce(ctx, s.team, s.dst, s.op, opts...))
		}, more...)
}

func allReduceInto[T number](s *callShape[T]) (*boundCall, error) {
	check := func(run uint64, st collectives.Status) error {
		if err := same("src", s.src, s.of(run, s.place, s.n)); err != nil {
			return err
		}
		return s.summed(run, st)
	}
	return s.finishing(s.call(fmt.Sprintf("AllReduceInto, %v,", s.op), s.contribute, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllReduceIntoTask(s.dst, s.src, s.op, opts...)
		}, nil)
}

// allReduceMany combines two vectors of each member; the second is as if of a member of
// its own. The operation is one that is exact with twice as many.
func allReduceMany[T number](ctx context.Context, s *callShape[T]) (*boundCall, error) {
	s.op = s.a.ops[0]
	fill := func(run uint64) {
		copy(s.dst, s.of(run, s.place, s.n))
		copy(s.src, s.of(run, s.place+s.size, s.n))
	}
	check := func(run uint64, _ collectives.Status) error {
		want := s.sum(run, upTo(2*s.size), s.n)
		if err := same("the first vector", s.dst, want); err != nil {
			return err
		}
		return same("the second vector", s.src, want)
	}
	bufs := [][]T{s.dst, s.src}
	return s.finishing(s.call(fmt.Sprintf("AllReduceMany, %v,", s.op), fill, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllReduceManyTask(bufs, s.op, opts...)
		}, nil)
}

// reduce is of all of the vector and of all members, or of a part of either.
func reduce[T number](s *callShape[T]) (*boundCall, error) {
	fraction, thirds, how := 1.0, 3, ""
	var more []collectives.Option
	switch kind := s.plan.IntN(4); {
	case s.style.forced:
	case kind == 0:
		fraction = pick(s.plan, 0.25, 0.5, 0.75, 1)
		more, how = []collectives.Option{collectives.Threshold(fraction)}, fmt.Sprintf(" threshold %g", fraction)
	case kind == 1:
		thirds = 1 + s.plan.IntN(3)
		more, how = []collectives.Option{collectives.Processes(float64(thirds) / 3)}, fmt.Sprintf(" %d/3 of the members", thirds)
	}
	check := func(run uint64, st collectives.Status) error {
		first := s.portion(fraction)
		if err := s.status(st, first); err != nil {
			return err
		}
		want, who := s.of(run, s.place, s.n), upTo(s.size)
		if s.place != s.root {
			return same("buf of another member than the root", s.dst, want)
		}
		if thirds < 3 {
			if st.Elements < 0 {
				return nil // nobody has told whose contributions are in it
			}
			who = st.Ranks()
			if len(who) < fewest(thirds, s.size) || !slices.IsSorted(who) || len(slices.Compact(slices.Clone(who))) != len(who) {
				return fmt.Errorf("the contributions of members %v are in it; want at least %d of %d", who, fewest(thirds, s.size), s.size)
			}
		}
		copy(want[:first], s.sum(run, who, s.n))
		return same("buf of the root", s.dst, want)
	}
	return s.finishing(s.call(fmt.Sprintf("Reduce to %d, %v,%s", s.root, s.op, how), s.input, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceTask(s.root, s.dst, s.op, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return collectives.Reduce(ctx, s.team, s.root, s.dst, s.op, opts...)
		}, more...)
}

func reduceInto[T number](s *callShape[T]) (*boundCall, error) {
	dst := s.dst
	if !s.alloc && s.place != s.root {
		dst = nil
	}
	check := func(run uint64, st collectives.Status) error {
		if err := same("src", s.src, s.of(run, s.place, s.n)); err != nil || s.place != s.root {
			return err
		}
		return s.summed(run, st)
	}
	return s.finishing(s.call(fmt.Sprintf("ReduceInto to %d, %v,", s.root, s.op), s.contribute, check),
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ReduceIntoTask(s.root, dst, s.src, s.op, opts...)
		}, nil)
}
