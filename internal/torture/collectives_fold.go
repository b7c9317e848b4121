package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// fewest is how many members a call with Processes combines at least: fractions are thirds.
func fewest(thirds, size int) int { return (thirds*size + 2) / 3 }

// reduction draws an operation that combines numbers.
func (s *shape) reduction(ctx context.Context) (*boundCall, error) {
	how := fmt.Sprintf(", %v,", s.op)
	if s.style.vforms {
		return s.reduceScatter(ctx, how)
	}
	if err := s.take(ctx, s.n, s.n); err != nil {
		return nil, err
	}
	switch s.plan.IntN(8) {
	case 0:
		return s.allReduceInto(ctx, how)
	case 1:
		return s.allReduceMany(ctx)
	case 2:
		return s.reduce(ctx, how)
	case 3:
		return s.reduceInto(ctx, how)
	case 4:
		return s.reduceScatter(ctx, how)
	case 5:
		return s.scan(ctx, how)
	case 6:
		return s.exScan(ctx, how)
	}
	var more []collectives.Option
	if !s.style.forced && s.plan.IntN(4) == 0 {
		more, how = []collectives.Option{collectives.Compress(collectives.Lossless())}, how+" compressed"
	}
	return s.allReduce(ctx, how, more...)
}

// fold draws a reduction by a function of the program, which may depend on the order.
func (e *ensemble) fold(ctx context.Context) (*boundCall, error) {
	ordered := e.plan.IntN(2) == 0
	a := affines(ordered)
	fn := func(dst, x, y []affine) {
		for i := range dst {
			dst[i] = a.fold(0, x[i], y[i])
		}
	}
	s := e.shape(calls{&a, &functions{fn, ordered}})
	how := fmt.Sprintf(" by a function, ordered %v,", ordered)
	if e.plan.IntN(5) == 0 {
		return s.reduceScatter(ctx, how)
	}
	if err := s.take(ctx, s.n, s.n); err != nil {
		return nil, err
	}
	switch e.plan.IntN(4) {
	case 0:
		return s.reduceTo(ctx, how, 1, 3)
	case 1:
		return s.scan(ctx, how)
	case 2:
		return s.exScan(ctx, how)
	}
	return s.allReduce(ctx, how)
}

// transform fills the buffer that is input and result.
func (s *shape) transform(run uint64) { s.dst.set(s.of(run, s.place, s.n)) }

// contribute fills the source with the input of this member.
func (s *shape) contribute(run uint64) { s.src.set(s.of(run, s.place, s.src.length())) }

// kept checks that the source is as it was.
func (s *shape) kept(run uint64) error {
	return s.src.same("src", s.of(run, s.place, s.src.length()))
}

// summed checks the reduction of all members.
func (s *shape) summed(run uint64, _ collectives.Status) error {
	return s.dst.same("dst", s.sum(run, upTo(s.size), s.n))
}

func (s *shape) allReduce(ctx context.Context, how string, more ...collectives.Option) (*boundCall, error) {
	return s.call(ctx, "AllReduce", how, s.transform, s.summed, more...)
}

func (s *shape) allReduceInto(ctx context.Context, how string) (*boundCall, error) {
	check := func(run uint64, st collectives.Status) error {
		if err := s.kept(run); err != nil {
			return err
		}
		return s.summed(run, st)
	}
	return s.call(ctx, "AllReduceInto", how, s.contribute, check)
}

// allReduceMany combines two vectors of each member; the second is as if of a member of
// its own. The operation is one that is exact with twice as many.
func (s *shape) allReduceMany(ctx context.Context) (*boundCall, error) {
	s.op, s.more = s.kinds()[0], s.dst
	fill := func(run uint64) {
		s.contribute(run)
		s.more.set(s.of(run, s.place+s.size, s.n))
	}
	check := func(run uint64, _ collectives.Status) error {
		want := s.sum(run, upTo(2*s.size), s.n)
		if err := s.src.same("the first vector", want); err != nil {
			return err
		}
		return s.more.same("the second vector", want)
	}
	return s.call(ctx, "AllReduceMany", fmt.Sprintf(", %v,", s.op), fill, check)
}

// reduce is of all of the vector and of all members, or of a part of either.
func (s *shape) reduce(ctx context.Context, how string) (*boundCall, error) {
	switch kind := s.plan.IntN(4); {
	case s.style.forced:
	case kind == 0:
		fraction := pick(s.plan, 0.25, 0.5, 0.75, 1)
		return s.reduceTo(ctx, fmt.Sprintf("%s threshold %g", how, fraction), fraction, 3, collectives.Threshold(fraction))
	case kind == 1:
		thirds := 1 + s.plan.IntN(3)
		return s.reduceTo(ctx, fmt.Sprintf("%s %d/3 of the members", how, thirds), 1, thirds, collectives.Processes(float64(thirds)/3))
	}
	return s.reduceTo(ctx, how, 1, 3)
}

// reduceTo is a reduction of a fraction of the vector and of some thirds of the members.
func (s *shape) reduceTo(ctx context.Context, how string, fraction float64, thirds int, more ...collectives.Option) (*boundCall, error) {
	check := func(run uint64, st collectives.Status) error {
		first := s.portion(fraction)
		if err := s.status(st, first); err != nil {
			return err
		}
		want, who := s.of(run, s.place, s.n), upTo(s.size)
		if s.place != s.root {
			return s.dst.same("buf of another member than the root", want)
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
		want.part(0, first).set(s.sum(run, who, s.n))
		return s.dst.same("buf of the root", want)
	}
	return s.call(ctx, "Reduce", fmt.Sprintf(" to %d%s", s.root, how), s.transform, check, more...)
}

func (s *shape) reduceInto(ctx context.Context, how string) (*boundCall, error) {
	if !s.alloc && s.place != s.root {
		s.dst = nil
	}
	check := func(run uint64, st collectives.Status) error {
		if err := s.kept(run); err != nil || s.place != s.root {
			return err
		}
		return s.summed(run, st)
	}
	return s.call(ctx, "ReduceInto", fmt.Sprintf(" to %d%s", s.root, how), s.contribute, check)
}

// reduceScatter is a reduction of long vectors, of which each member gets a block. The operation is one
// that is exact with twice as many members where each has two vectors.
func (s *shape) reduceScatter(ctx context.Context, how string) (_ *boundCall, err error) {
	if s.many = s.plan.IntN(3) == 0; s.many && len(s.kinds()) > 0 {
		s.op = s.kinds()[0]
		how = fmt.Sprintf(", %v,", s.op)
	}
	if s.counts == nil {
		s.n /= s.size
		s.blocks = slices.Repeat([]int{s.n}, s.size)
	}
	if s.dst, s.src, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	first, total := sumOf(s.blocks[:s.place]), s.src.length()
	if s.inPlace = s.inPlace && s.counts == nil; s.inPlace {
		s.dst = s.src.part(first, first+s.n)
	}
	verb, who := "ReduceScatter", upTo(s.size)
	if s.many {
		if s.more, err = s.buffer(ctx, total); err != nil {
			return nil, err
		}
		verb, who = "ReduceScatterMany", nil
		for i := range s.size {
			who = append(who, i, i+s.size)
		}
	}
	second := func(run uint64) vector { return s.of(run, s.place+s.size, total) }
	fill := func(run uint64) {
		s.contribute(run)
		if s.many {
			s.more.set(second(run))
		}
	}
	check := func(run uint64, _ collectives.Status) error {
		if s.many {
			if err := s.more.same("the second source", second(run)); err != nil {
				return err
			}
		}
		return s.dst.same("dst", s.sum(run, who, total).part(first, first+s.dst.length()))
	}
	return s.call(ctx, verb+s.v(), fmt.Sprintf("%s in place %v,", how, s.inPlace), fill, check)
}

func (s *shape) scan(ctx context.Context, how string) (*boundCall, error) {
	return s.call(ctx, "Scan", how, s.transform, s.prefix(s.place+1))
}

func (s *shape) exScan(ctx context.Context, how string) (*boundCall, error) {
	return s.call(ctx, "ExScan", how, s.transform, s.prefix(s.place))
}

// prefix checks a scan: the reduction of the first members, or what was there if there are none.
func (s *shape) prefix(members int) func(run uint64, _ collectives.Status) error {
	return func(run uint64, _ collectives.Status) error {
		if members == 0 {
			return s.dst.same("buf", s.of(run, s.place, s.n))
		}
		return s.dst.same("buf", s.sum(run, upTo(members), s.n))
	}
}
