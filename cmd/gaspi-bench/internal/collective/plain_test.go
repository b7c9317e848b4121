package collective

import (
	"context"
	"fmt"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/collectives"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: each way to do a call on vectors of a rank's own gives the right result, not
// only the fastest, which is the one that --verify sees: call after call, after
// calls of other ways, in one round, in some, and in more than have boxes.
func TestWaysOnPlainVectors(t *testing.T) {
	for _, op := range schedule.Operations() {
		for _, ranks := range []int{1, 2, 3} {
			for _, c := range plainCalls(op, ranks) {
				t.Run(fmt.Sprintf("%v/%d/root %d/threshold %v", op, ranks, c.Root, c.Threshold), func(t *testing.T) {
					err := gaspi.Local(t.Context(), ranks, gaspi.Config{Transport: "loopback"}, func(ctx context.Context, p *gaspi.Proc) error {
						return checkWays(ctx, p, &c)
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// plainCalls are calls on plain vectors that differ in who gives what to whom.
func plainCalls(op schedule.Operation, ranks int) []Spec {
	if op == schedule.Barrier {
		return nil
	}
	c := Spec{What: op, Algorithm: Auto, Dtype: Dtypes()[0], Op: collectives.Sum, Plain: true}
	all := []Spec{c}
	if op.Rooted() && ranks > 1 {
		other := c
		other.Root = ranks - 1
		all = append(all, other)
	}
	if op == schedule.Broadcast || op == schedule.Reduce {
		part := c
		part.Threshold = 0.3
		all = append(all, part)
	}
	return all
}

// checkWays makes calls in all ways and looks at their results.
func checkWays(ctx context.Context, p *gaspi.Proc, c *Spec) error {
	m, err := limit.Open(ctx, p, limit.CollectiveBoxes(p.Size()), "loopback", 1)
	if err != nil {
		return err
	}
	tries := 0
	for _, bytes := range []uint64{1000, 100<<10 + 8} {
		ways, k, err := openWays(ctx, m, c, bytes)
		if err != nil {
			return err
		}
		for range 2 {
			for i, way := range ways {
				for range 2 {
					tries++
					k.Own.Fill(tries)
					if err := way(ctx); err != nil {
						return err
					}
					if err := k.Own.Check(tries); err != nil {
						return fmt.Errorf("%d bytes, way %d: %w", bytes, i, err)
					}
				}
				if err := p.Barrier(ctx, p.World()); err != nil {
					return err
				}
			}
		}
		if err := k.Release(ctx); err != nil {
			return err
		}
	}
	return nil
}

func openWays(ctx context.Context, m *limit.Memory, c *Spec, bytes uint64) ([]limit.BareCall, *OpenedCall, error) {
	s := c.Shape(m.P.Size(), bytes)
	k, err := c.Open(ctx, m.P, s)
	if err != nil {
		return nil, nil, err
	}
	ways, err := c.bareWays(ctx, m, s, k)
	return ways, k, err
}
