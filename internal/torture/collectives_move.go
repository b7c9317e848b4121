package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// movement draws an operation that moves blocks and combines nothing.
func (s *shape) movement(ctx context.Context) (*boundCall, error) {
	kinds := 6
	if s.style.vforms {
		if s.plan.IntN(4) == 0 {
			return s.allToAllV(ctx)
		}
		kinds = 3
	}
	switch s.plan.IntN(kinds) {
	case 0:
		return s.gather(ctx)
	case 1:
		return s.scatter(ctx)
	case 2:
		return s.allGather(ctx)
	case 3:
		return s.allToAll(ctx)
	case 4:
		return s.exchange(ctx)
	}
	return s.broadcast(ctx)
}

// v is the letter behind the name of an operation whose blocks differ in length.
func (s *shape) v() string {
	if s.counts != nil {
		return "V"
	}
	return ""
}

// joined is vectors one behind the other, of so many elements each, that one makes.
func (s *shape) joined(lengths []int, one func(i, n int) vector) vector {
	all, at := s.zeros(sumOf(lengths)), 0
	for i, n := range lengths {
		all.part(at, at+n).set(one(i, n))
		at += n
	}
	return all
}

// whole is the inputs of all members, one behind the other.
func (s *shape) whole(run uint64) vector {
	return s.joined(s.blocks, func(m, n int) vector { return s.of(run, m, n) })
}

// sent is what a member sends to all, one block behind the other.
func (s *shape) sent(run uint64, lengths []int) vector {
	return s.joined(lengths, func(peer, n int) vector { return s.of(run, s.between(s.place, peer), n) })
}

// received is what it gets from all.
func (s *shape) received(run uint64, lengths []int) vector {
	return s.joined(lengths, func(peer, n int) vector { return s.of(run, s.between(peer, s.place), n) })
}

// between is the number that stands for a pair of members, as a contributor.
func (s *shape) between(from, to int) int { return 1000 + from*s.size + to }

func (s *shape) gather(ctx context.Context) (_ *boundCall, err error) {
	if s.src, s.dst, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	if !s.alloc && s.place != s.root {
		s.dst = nil
	}
	check := func(run uint64, _ collectives.Status) error {
		if err := s.kept(run); err != nil || s.place != s.root {
			return err
		}
		return s.dst.same("dst of the root", s.whole(run))
	}
	return s.call(ctx, "Gather"+s.v(), fmt.Sprintf(" to %d", s.root), s.contribute, check)
}

// scatter sends each member the block that it would contribute.
func (s *shape) scatter(ctx context.Context) (_ *boundCall, err error) {
	if s.dst, s.src, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	if !s.alloc && s.place != s.root {
		s.src = nil
	}
	fill := func(run uint64) {
		if s.place == s.root {
			s.src.set(s.whole(run))
		}
	}
	check := func(run uint64, _ collectives.Status) error {
		return s.dst.same("dst", s.of(run, s.place, s.dst.length()))
	}
	return s.call(ctx, "Scatter"+s.v(), fmt.Sprintf(" from %d", s.root), fill, check)
}

func (s *shape) allGather(ctx context.Context) (_ *boundCall, err error) {
	if s.src, s.dst, err = s.takeBlocks(ctx); err != nil {
		return nil, err
	}
	if s.inPlace && s.counts == nil {
		s.src = s.dst.part(s.place*s.n, (s.place+1)*s.n)
	}
	check := func(run uint64, _ collectives.Status) error { return s.dst.same("dst", s.whole(run)) }
	return s.call(ctx, "AllGather"+s.v(), "", s.contribute, check)
}

func (s *shape) allToAll(ctx context.Context) (*boundCall, error) {
	s.n /= s.size
	s.blocks = slices.Repeat([]int{s.n}, s.size)
	if err := s.take(ctx, s.n*s.size, s.n*s.size); err != nil {
		return nil, err
	}
	if s.inPlace {
		s.src = s.dst
	}
	return s.exchanged(ctx, "AllToAll", fmt.Sprintf(", in place %v,", s.inPlace), s.blocks, s.blocks)
}

// allToAllV has a block for each pair, of a length that both can tell.
func (s *shape) allToAllV(ctx context.Context) (*boundCall, error) {
	length := func(from, to int) int {
		return stream(s.key, uint64(from), uint64(to)).IntN(1 + s.counts[(from+to)%s.size]/2)
	}
	for peer := range s.size {
		s.sends, s.receives = append(s.sends, length(s.place, peer)), append(s.receives, length(peer, s.place))
	}
	if err := s.take(ctx, s.size<<17, s.size<<17); err != nil {
		return nil, err
	}
	s.src, s.dst = s.src.part(0, sumOf(s.sends)), s.dst.part(0, sumOf(s.receives))
	return s.exchanged(ctx, "AllToAllV", "", s.sends, s.receives)
}

// exchanged is a call that sends blocks of some lengths to all, and gets as many.
func (s *shape) exchanged(ctx context.Context, verb, how string, sends, receives []int) (*boundCall, error) {
	return s.call(ctx, verb, how,
		func(run uint64) { s.src.set(s.sent(run, sends)) },
		func(run uint64, _ collectives.Status) error { return s.dst.same("dst", s.received(run, receives)) })
}

// exchange is the pairwise exchange: part k of src goes to the member whose number differs
// in bit k.
func (s *shape) exchange(ctx context.Context) (*boundCall, error) {
	s.rounds = 1 + s.plan.IntN(4)
	s.n /= s.rounds
	total := s.n * s.rounds
	if err := s.take(ctx, total, total); err != nil {
		return nil, err
	}
	fill := func(run uint64) {
		s.contribute(run)
		s.dst.set(s.other(run, total))
	}
	check := func(run uint64, _ collectives.Status) error {
		want := s.other(run, total)
		for k := range s.rounds {
			if peer := s.place ^ 1<<k; peer < s.size {
				from, to := k*s.n, (k+1)*s.n
				want.part(from, to).set(s.of(run, peer, total).part(from, to))
			}
		}
		return s.dst.same("dst", want)
	}
	return s.call(ctx, "Exchange", fmt.Sprintf(" in %d rounds", s.rounds), fill, check)
}

// broadcast is of all of the vector, of its first part, or in coded form.
func (s *shape) broadcast(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, 0, s.n); err != nil {
		return nil, err
	}
	fraction, more, how := s.relaxed()
	fill := func(run uint64) {
		s.dst.set(s.other(run, s.n))
		if s.place == s.root {
			s.dst.set(s.of(run, s.root, s.n))
		}
	}
	check := func(run uint64, st collectives.Status) error {
		first := s.portion(fraction)
		if err := s.status(st, first); err != nil {
			return err
		}
		want := s.of(run, s.root, s.n)
		if s.place != s.root {
			want.part(first, s.n).set(s.other(run, s.n).part(first, s.n))
		}
		return s.dst.same("buf", want)
	}
	return s.call(ctx, "Broadcast", fmt.Sprintf(" from %d%s", s.root, how), fill, check, more...)
}

// relaxed draws a threshold or a compression, or neither.
func (s *shape) relaxed() (fraction float64, more []collectives.Option, how string) {
	if s.style.forced {
		return 1, nil, ""
	}
	switch s.plan.IntN(4) {
	case 0:
		fraction = pick(s.plan, 0.25, 0.5, 0.75, 1)
		return fraction, []collectives.Option{collectives.Threshold(fraction)}, fmt.Sprintf(", threshold %g,", fraction)
	case 1:
		return 1, []collectives.Option{collectives.Compress(collectives.Lossless())}, ", compressed,"
	}
	return 1, nil, ""
}

// portion is how many elements a threshold leaves; fractions are quarters, so that it is exact.
func (s *shape) portion(fraction float64) int { return (s.n*int(4*fraction) + 3) / 4 }

// status checks what a call says that it did. A run of a plan without a handle says nothing.
func (s *shape) status(st collectives.Status, first int) error {
	if st.Elements >= 0 && (st.Elements != first || st.Of != s.n) {
		return fmt.Errorf("status: %d elements of %d, want %d of %d", st.Elements, st.Of, first, s.n)
	}
	return nil
}
