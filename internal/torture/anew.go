package torture

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// anew makes segments one after the other, as a rule under the same id. Each member writes to
// each other one as soon as its creation has returned, and deletes its own segment as soon as
// all others have written to that: nothing else keeps the next creation apart from this one.
func anew(ctx context.Context, s *scene) error {
	rng := s.own()
	n := len(s.members)
	for g := range 5 + s.plan.IntN(40) {
		id, size := s.base, uint64(8*n)
		if s.plan.IntN(3) > 0 {
			id = gaspi.AnySegment
		}
		seg, err := s.create(ctx, rng, id, size, 64, false)
		if err != nil {
			return fmt.Errorf("generation %d: %w", g, err)
		}
		if err := s.greet(ctx, rng, seg, uint64(g)); err != nil {
			return fmt.Errorf("generation %d, segment %d: %w", g, seg.ID(), err)
		}
		if err := seg.Delete(); err != nil {
			return fmt.Errorf("generation %d: %w", g, err)
		}
		s.did(1)
	}
	return s.barrier(ctx, rng)
}

// greet writes a word to each other member, and waits for theirs.
func (s *scene) greet(ctx context.Context, rng *rand.Rand, seg *gaspi.Segment, g uint64) error {
	n := len(s.members)
	q := s.p.MustQueue(rng.IntN(s.p.Config().Queues))
	words, err := gaspi.View[uint64](seg, 0, n)
	if err != nil {
		return err
	}
	words[s.me] = mix(s.key, uint64(s.me), g)
	if s.mutant("wrong word") {
		words[s.me]++
	}
	src, err := seg.Span(uint64(8*s.me), 8)
	if err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		to := seg.At(s.members[(s.me+i)%n], uint64(8*s.me))
		err := s.post(ctx, rng, q, func() error {
			return q.WriteNotify(to, src, gaspi.Notification{ID: gaspi.NotificationID(s.me), Value: 1})
		})
		if err != nil {
			return err
		}
	}
	for member := range n {
		if member == s.me {
			continue
		}
		err := s.resume(ctx, rng, func(ctx context.Context) error { return seg.WaitAll(ctx, gaspi.NotificationID(member), 1) })
		if err != nil {
			return fmt.Errorf("waiting for the word of rank %d: %w", s.members[member], err)
		}
		if want := mix(s.key, uint64(member), g); words[member] != want {
			return fmt.Errorf("rank %d wrote %#x; want %#x", s.members[member], words[member], want)
		}
	}
	return s.await(ctx, rng, q)
}
