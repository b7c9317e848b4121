package torture

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// together runs several families in goroutines of their own at the same time, each over a
// group of its own, of some or all ranks. These groups are made one after the other, as they
// may have equal ranks; whatever the families make after that, they make at the same time.
func together(ctx context.Context, s *scene) error {
	names := []string{"memory", "recreate", "anew", "atomics", "passive", "notifications", "groups", "collectives", "teams", "stale", "objects"}
	s.plan.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	names = names[:2+s.plan.IntN(3)]
	rng := s.own()
	var subs []*scene
	var tasks []func(ctx context.Context) error
	for i, name := range names {
		ranks, key := slices.Clone(s.members), s.plan.Uint64()
		if s.plan.IntN(2) == 0 {
			ranks = subset(s.plan, s.members)
		}
		sub, err := s.subgroup(ctx, rng, ranks, key)
		if err != nil {
			return err
		}
		if sub == nil {
			continue
		}
		sub.family, sub.scenes, sub.number = name, len(names), i
		sub.base += gaspi.SegmentID(segmentsPerScene * (i + 1))
		subs = append(subs, sub)
		tasks = append(tasks, func(ctx context.Context) error {
			if err := families()[name](ctx, sub); err != nil {
				return fmt.Errorf("%s, beside %v: %w", name, names, err)
			}
			return nil
		})
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	for _, sub := range subs {
		if err := sub.g.Delete(); err != nil {
			return err
		}
	}
	s.did(1)
	return nil
}
