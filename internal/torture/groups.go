package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// groups makes random groups, calls their collectives in an order that all members know,
// and deletes them.
func groups(ctx context.Context, s *scene) error {
	rng := s.own()
	// How often each group was entered is counted at its first member.
	seg, err := s.create(ctx, rng, s.base, 64, 64, false)
	if err != nil {
		return err
	}
	circles := make([]*circle, 1+s.plan.IntN(5))
	for i := range circles {
		if circles[i], err = s.circle(ctx, rng, i, seg); err != nil {
			return err
		}
	}
	for call := range 3 + s.plan.IntN(25) {
		i, key := s.plan.IntN(len(circles)), s.plan.Uint64()
		c := circles[i]
		if c.scene == nil {
			continue
		}
		if err := c.call(ctx, rng, key); err != nil {
			return fmt.Errorf("call %d, on group %d, ranks %v: %w", call, i, c.members, err)
		}
		s.did(1)
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	for _, c := range circles {
		if c.scene != nil && c.g != s.g {
			if err := c.g.Delete(); err != nil {
				return err
			}
		}
	}
	return seg.Delete()
}

// circle is a group; scene is nil where this rank is no member.
type circle struct {
	*scene
	counter  gaspi.Remote
	barriers uint64
}

// subset draws some of the ranks, at least one, in any order.
func subset(rng *rand.Rand, of []gaspi.Rank) []gaspi.Rank {
	of = slices.Clone(of)
	rng.Shuffle(len(of), func(i, k int) { of[i], of[k] = of[k], of[i] })
	return of[:1+rng.IntN(len(of))]
}

// subgroup makes and commits a group of some members, in a scene of its own; nil where this
// rank is none of them.
func (s *scene) subgroup(ctx context.Context, rng *rand.Rand, ranks []gaspi.Rank, key uint64) (*scene, error) {
	if !slices.Contains(ranks, s.p.Rank()) {
		return nil, nil
	}
	first := rng.IntN(len(ranks) + 1)
	g, err := s.p.NewGroup(ranks[:first]...)
	if err != nil {
		return nil, err
	}
	for _, r := range ranks[first:] {
		if err := g.Add(r); err != nil {
			return nil, err
		}
	}
	if err := s.resume(ctx, rng, g.Commit); err != nil {
		return nil, err
	}
	sub := &scene{rankJob: s.rankJob, family: s.family, g: g, base: s.base, key: key}
	sub.begin()
	want := slices.Sorted(slices.Values(ranks))
	if place, is := g.Rank(); !slices.Equal(sub.members, want) || g.Size() != len(want) || !is || place != sub.me {
		return nil, fmt.Errorf("the group has ranks %v, size %d, this one at %d; want %v", sub.members, g.Size(), place, want)
	}
	return sub, nil
}

// circle makes a random group; one of all members where that is another scene's.
func (s *scene) circle(ctx context.Context, rng *rand.Rand, i int, seg *gaspi.Segment) (*circle, error) {
	ranks, key := subset(s.plan, s.members), s.plan.Uint64()
	if !s.groupable(ranks) {
		return &circle{scene: s, counter: seg.At(s.members[0], uint64(8*i))}, nil
	}
	sub, err := s.subgroup(ctx, rng, ranks, key)
	return &circle{scene: sub, counter: seg.At(slices.Min(ranks), uint64(8*i))}, err
}

// call makes one collective call, or two at once.
func (c *circle) call(ctx context.Context, rng *rand.Rand, key uint64) error {
	plan := stream(key, keyCall)
	barrier := func(ctx context.Context) error { return c.meet(ctx, c.own(key, 1)) }
	reduce := func(ctx context.Context) error { return c.reduce(ctx, c.own(key, 2), plan) }
	switch plan.IntN(4) {
	case 0:
		return barrier(ctx)
	case 1:
		return parallel(ctx, barrier, reduce)
	case 2:
		return c.segment(ctx, rng, plan.IntN(3) == 0)
	}
	return reduce(ctx)
}

// segment makes a segment over the group alone, and deletes it.
func (c *circle) segment(ctx context.Context, rng *rand.Rand, bound bool) error {
	seg, err := c.create(ctx, rng, c.base+1, 100, 16, bound)
	if err != nil {
		return err
	}
	// The ring of the members: each writes its number to the next one.
	n := len(c.members)
	src, err := seg.Span(0, 1)
	if err != nil {
		return err
	}
	src.Bytes()[0] = byte(c.me + 1)
	q := c.p.MustQueue(2)
	err = c.post(ctx, rng, q, func() error {
		return q.WriteNotify(seg.At(c.members[(c.me+1)%n], 99), src, gaspi.Notification{ID: 3, Value: 7})
	})
	if err != nil {
		return err
	}
	err = c.resume(ctx, rng, func(ctx context.Context) error {
		_, err := seg.WaitSome(ctx, 0, 16)
		return err
	})
	if err != nil {
		return err
	}
	if got, want := seg.Bytes()[99], byte((c.me+n-1)%n+1); got != want {
		return fmt.Errorf("the member before this one wrote %d, want %d", got, want)
	}
	if err := c.await(ctx, rng, q); err != nil {
		return err
	}
	if err := c.barrier(ctx, rng); err != nil {
		return err
	}
	return seg.Delete()
}

// meet is a barrier, and a count of who has come to it. When it ends, all have come, and
// none can have left the next one.
func (c *circle) meet(ctx context.Context, rng *rand.Rand) error {
	n := uint64(len(c.members))
	c.barriers++
	enter := func() error { _, err := c.p.FetchAdd(ctx, c.counter, 1); return err }
	early := c.mutant("counted too late")
	if !early {
		if err := enter(); err != nil {
			return err
		}
	}
	if err := c.barrier(ctx, rng); err != nil {
		return err
	}
	came, err := c.p.FetchAdd(ctx, c.counter, 0)
	if err != nil {
		return err
	}
	if came < c.barriers*n || came > (c.barriers+1)*n-1 {
		return fmt.Errorf("barrier %d of %d members ended when %d had entered; want %d to %d", c.barriers, n, came, c.barriers*n, (c.barriers+1)*n-1)
	}
	if early {
		return enter()
	}
	return nil
}

// reduce is a small reduction of one type and one operation.
func (c *circle) reduce(ctx context.Context, rng, plan *rand.Rand) error {
	if plan.IntN(13) == 0 {
		return smallFunc(ctx, c.scene, rng, plan)
	}
	return small(ctx, c.scene, rng, plan, pick(plan,
		summingOf(integer[int8]()),
		summingOf(integer[int16]()),
		summingOf(integer[int32]()),
		summingOf(integer[int64]()),
		summingOf(integer[int]()),
		summingOf(integer[uint8]()),
		summingOf(integer[uint16]()),
		summingOf(integer[uint32]()),
		summingOf(integer[uint64]()),
		summingOf(integer[uint]()),
		summingOf(floating[float32]()),
		summingOf(floating[float64]()),
	))
}
