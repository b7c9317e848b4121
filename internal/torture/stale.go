package torture

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// staleMember is one rank's part in a reduction. A contribution says whose it is and of which
// clock: element j is the clock of member j in what member j contributes, and 0 in all
// others, so that a sum or maximum shows which contributions are in it. The elements
// behind are a load that must be that of exactly these.
type staleMember[T gaspi.Number] struct {
	s     *scene // no embedded field: its methods would be compiled for each type
	op    gaspi.Op
	slack int64
	n     int     // elements
	calls []int64 // how many calls each member makes
	key   uint64
	a     arithmetic[T]
}

func stale(ctx context.Context, s *scene) error {
	switch s.plan.IntN(4) {
	case 0:
		return follow(ctx, s, integer[int64]())
	case 1:
		return follow(ctx, s, floating[float32]())
	case 2:
		return follow(ctx, s, integer[uint32]())
	}
	return follow(ctx, s, floating[float64]())
}

func follow[T gaspi.Number](ctx context.Context, s *scene, a arithmetic[T]) error {
	f := &staleMember[T]{s: s, a: a, op: pick(s.plan, gaspi.Sum, gaspi.Max), slack: int64(pick(s.plan, 0, 1, 2, 5, 40)), key: s.plan.Uint64()}
	f.n = len(s.members) + pick(s.plan, 0, 5, 1000, 9000)
	most := 1 + s.plan.Int64N(30)
	for range s.members {
		f.calls = append(f.calls, 1+s.plan.Int64N(most))
	}
	rng := s.own()
	r, err := ssp.New[T](ctx, s.g, f.n, f.op, int(f.slack))
	if err != nil {
		return err
	}
	for clock := int64(1); clock <= f.calls[s.me]; clock++ {
		if err := f.step(ctx, rng, r, clock); err != nil {
			return fmt.Errorf("%v with slack %d of %d elements, calls of each %v, call %d: %w", f.op, f.slack, f.n, f.calls, clock, err)
		}
		s.did(1)
	}
	return s.resume(ctx, rng, r.Close)
}

// contribution is what a member contributes at a clock.
func (f *staleMember[T]) contribution(member int, clock int64) []T {
	v := make([]T, f.n)
	v[member] = T(clock)
	for i := len(f.s.members); i < f.n; i++ {
		v[i] = T(few(f.op, mix(f.key, uint64(member), uint64(clock))+uint64(i)))
	}
	return v
}

// step is one call, begun once and finished by as many as it takes. Arguments of the later
// calls do not count.
func (f *staleMember[T]) step(ctx context.Context, rng *rand.Rand, r *ssp.Reduction[T], clock int64) error {
	mine := f.contribution(f.s.me, clock)
	got, err := resumed(ctx, f.s, rng, func(ctx context.Context) (ssp.Result[T], error) {
		got, err := r.AllReduce(ctx, mine)
		if r.Clock() == clock {
			clear(mine)
		}
		return got, err
	})
	if err != nil {
		return err
	}
	if r.Clock() != clock {
		return fmt.Errorf("the Clock is %d", r.Clock())
	}
	return f.check(got, clock)
}

// check compares a result with the contributions that it says it has.
func (f *staleMember[T]) check(got ssp.Result[T], clock int64) error {
	n := len(f.s.members)
	if f.s.mutant("wrong sum") {
		got.Values[f.n-1]++
	}
	if f.s.mutant("too old") && clock > f.slack+2 {
		got.Values[(f.s.me+1)%n] = 1
	}
	oldest, newest := clock, clock
	want := make([]T, f.n)
	for m := range f.s.members {
		has := int64(got.Values[m])
		oldest, newest = min(oldest, has), max(newest, has)
		closed := has == f.calls[m] // then it may be of any age
		switch {
		case m == f.s.me && has != clock:
			return fmt.Errorf("the own contribution is that of clock %d", has)
		case has < 1 || has > f.calls[m]:
			return fmt.Errorf("the contribution of member %d is that of clock %d; it makes %d calls", m, has, f.calls[m])
		case has < clock-f.slack && !closed:
			return fmt.Errorf("the contribution of member %d is that of clock %d, older than the slack allows; it makes %d calls", m, has, f.calls[m])
		case f.slack == 0 && has != min(clock, f.calls[m]):
			return fmt.Errorf("the contribution of member %d is that of clock %d, without slack; it makes %d calls", m, has, f.calls[m])
		}
		for i, x := range f.contribution(m, has) {
			want[i] = f.a.fold(f.op, want[i], x)
		}
	}
	if f.s.mutant("wrong clock") {
		oldest--
	}
	if got.Oldest != oldest || got.Newest != newest {
		return fmt.Errorf("the Oldest and Newest are %d and %d; the values are those of %d to %d", got.Oldest, got.Newest, oldest, newest)
	}
	return same("the reduction", got.Values, want)
}
