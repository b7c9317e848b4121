package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// between is the number that stands for a pair of members, as a contributor.
func (s *callShape[T]) between(from, to int) int { return 1000 + from*s.size + to }

// letters is what a member sends to all, or gets from all, one block behind the other.
func (s *callShape[T]) letters(run uint64, sends bool, lengths []int) []T {
	var all []T
	for peer, n := range lengths {
		pair := s.between(peer, s.place)
		if sends {
			pair = s.between(s.place, peer)
		}
		all = append(all, s.of(run, pair, n)...)
	}
	return all
}

func (s *callShape[T]) allToAll(ctx context.Context) (*boundCall, error) {
	s.n /= s.size
	s.blocks = slices.Repeat([]int{s.n}, s.size)
	if err := s.take(ctx, s.n*s.size, s.n*s.size); err != nil {
		return nil, err
	}
	if s.inPlace {
		s.src = s.dst
	}
	c := s.call(fmt.Sprintf("AllToAll, in place %v,", s.inPlace), func(run uint64) { copy(s.src, s.letters(run, true, s.blocks)) },
		func(run uint64, _ collectives.Status) error {
			return same("dst", s.dst, s.letters(run, false, s.blocks))
		})
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.AllToAllTask(s.team, s.dst, s.src, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return silent(collectives.AllToAll(ctx, s.team, s.dst, s.src, opts...))
		})
}

// allToAllV has a block for each pair, of a length that both can tell.
func (s *callShape[T]) allToAllV(ctx context.Context) (*boundCall, error) {
	length := func(from, to int) int {
		return stream(s.key, uint64(from), uint64(to)).IntN(1 + s.counts[(from+to)%s.size]/2)
	}
	sends, receives := make([]int, s.size), make([]int, s.size)
	for peer := range sends {
		sends[peer], receives[peer] = length(s.place, peer), length(peer, s.place)
	}
	if err := s.take(ctx, s.size<<17, s.size<<17); err != nil {
		return nil, err
	}
	s.src, s.dst = s.src[:sumOf(sends)], s.dst[:sumOf(receives)]
	c := s.call("AllToAllV", func(run uint64) { copy(s.src, s.letters(run, true, sends)) },
		func(run uint64, _ collectives.Status) error {
			return same("dst", s.dst, s.letters(run, false, receives))
		})
	c.task = func(ctx context.Context) (collectives.Task, error) {
		return collectives.AllToAllVTask(ctx, s.team, s.dst, receives, s.src, sends)
	}
	c.blocking = func(ctx context.Context) (collectives.Status, error) {
		return silent(collectives.AllToAllV(ctx, s.team, s.dst, receives, s.src, sends))
	}
	return c, nil
}

// exchange is the pairwise exchange: part k of src goes to the member whose number differs
// in bit k.
func (s *callShape[T]) exchange(ctx context.Context) (*boundCall, error) {
	rounds := 1 + s.plan.IntN(4)
	s.n = s.n / rounds
	if err := s.take(ctx, s.n*rounds, s.n*rounds); err != nil {
		return nil, err
	}
	fill := func(run uint64) {
		copy(s.src, s.of(run, s.place, len(s.src)))
		copy(s.dst, s.other(run, len(s.dst)))
	}
	check := func(run uint64, _ collectives.Status) error {
		want := s.other(run, len(s.dst))
		for k := range rounds {
			if peer := s.place ^ 1<<k; peer < s.size {
				copy(want[k*s.n:(k+1)*s.n], s.of(run, peer, len(s.src))[k*s.n:])
			}
		}
		return same("dst", s.dst, want)
	}
	c := s.call(fmt.Sprintf("Exchange in %d rounds", rounds), fill, check)
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.ExchangeTask(s.dst, s.src, rounds, opts...)
		}, nil)
}

// broadcast is of all of the vector, of its first part, or in coded form.
func (s *callShape[T]) broadcast(ctx context.Context) (*boundCall, error) {
	if err := s.take(ctx, 0, s.n); err != nil {
		return nil, err
	}
	fraction, more, how := s.relaxed()
	fill := func(run uint64) {
		copy(s.dst, s.other(run, s.n))
		if s.place == s.root {
			copy(s.dst, s.of(run, s.root, s.n))
		}
	}
	check := func(run uint64, st collectives.Status) error {
		first := s.portion(fraction)
		if err := s.status(st, first); err != nil {
			return err
		}
		want := s.of(run, s.root, s.n)
		if s.place != s.root {
			copy(want[first:], s.other(run, s.n)[first:])
		}
		return same("buf", s.dst, want)
	}
	c := s.call(fmt.Sprintf("Broadcast from %d%s", s.root, how), fill, check)
	return s.finishing(c,
		func(opts ...collectives.Option) collectives.Task {
			return collectives.BroadcastTask(s.root, s.dst, opts...)
		},
		func(ctx context.Context, opts ...collectives.Option) (collectives.Status, error) {
			return collectives.Broadcast(ctx, s.team, s.root, s.dst, opts...)
		}, more...)
}

// relaxed draws a threshold or a compression, or neither.
func (s *callShape[T]) relaxed() (fraction float64, more []collectives.Option, how string) {
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
func (s *callShape[T]) portion(fraction float64) int { return (s.n*int(4*fraction) + 3) / 4 }

// status checks what a call says that it did. A run of a plan without a handle says nothing.
func (s *callShape[T]) status(st collectives.Status, first int) error {
	if st.Elements >= 0 && (st.Elements != first || st.Of != s.n) {
		return fmt.Errorf("status: %d elements of %d, want %d of %d", st.Elements, st.Of, first, s.n)
	}
	return nil
}
