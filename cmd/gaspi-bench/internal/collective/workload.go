package collective

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// openWorkload makes the team, the vectors and the contenders of a workload, and
// returns what gives them back.
func (c *Spec) openWorkload(ctx context.Context, b *measure.Bench, w *measure.Workload, s *limit.CallShape) (func(context.Context) error, error) {
	k, err := c.Open(ctx, b.P, s)
	if err != nil {
		return nil, err
	}
	plan, err := collectives.NewPlan(ctx, k.Team, k.Task)
	if err != nil {
		return nil, err
	}
	if err := c.trial(ctx, s, plan); err != nil {
		return nil, err
	}
	w.Algorithm = plan.Algorithm()
	once := plan.Run
	if !c.Plan {
		once = k.Once
		if err := plan.Close(); err != nil {
			return nil, err
		}
	}
	w.Contenders = []measure.Contender{measure.Contender{Impl: report.ImplGaspi, Batch: measure.Repeat(ctx, once)}}
	checks := []limit.Buffers{k.Own}
	bare, check, err := c.bareLimit(ctx, b, s, k)
	if err != nil {
		return nil, err
	}
	if bare != nil {
		w.Contenders = append(w.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: measure.Repeat(ctx, bare)})
		checks = append(checks, check)
	}
	if !c.NoOp && c.What != schedule.Barrier { // which have no result
		w.Checks = checks
	}
	return func(ctx context.Context) error {
		b.Forget()
		return k.Release(ctx)
	}, nil
}

// trial makes a call, and learns from it who contributes.
func (c *Spec) trial(ctx context.Context, s *limit.CallShape, plan *collectives.Plan) error {
	if c.Processes == 0 {
		return nil
	}
	h, err := plan.Start()
	if err != nil {
		return err
	}
	if err := h.Wait(ctx); err != nil {
		return err
	}
	s.Engaged = make([]bool, s.Ranks)
	for _, r := range h.Status().Ranks() {
		s.Engaged[r] = true
	}
	return nil
}

// bareLimit is what a call is compared with, and what fills and checks its vectors;
// nil if there is nothing.
func (c *Spec) bareLimit(ctx context.Context, b *measure.Bench, s *limit.CallShape, k *OpenedCall) (limit.BareCall, limit.Buffers, error) {
	if b.Together {
		bare, err := c.BareWay(ctx, b, s, k)
		return bare, k.Own, err
	}
	wired := b.Ring
	if s.Op == schedule.AllToAll {
		wired = b.Mesh
	}
	ways, check, err := wired(ctx, s)
	if err != nil || ways == nil {
		return nil, limit.Buffers{}, err
	}
	bare, err := b.Fastest(ctx, ways)
	return bare, check, err
}

// BareWay is the limit of a call: the fastest of a few bare ways to do it.
func (c *Spec) BareWay(ctx context.Context, b *measure.Bench, s *limit.CallShape, k *OpenedCall) (limit.BareCall, error) {
	ways, err := c.bareWays(ctx, b.Memory, s, k)
	if err != nil {
		return nil, err
	}
	return b.Fastest(ctx, ways)
}

// bareWays are the bare ways to do a call, which gives back what they use when it is
// released.
func (c *Spec) bareWays(ctx context.Context, m *limit.Memory, s *limit.CallShape, k *OpenedCall) ([]limit.BareCall, error) {
	f, err := c.Folds()
	if err != nil {
		return nil, err
	}
	ways, release, err := m.Ways(ctx, k.Team, s, k.Own, f, c.Plain)
	if err != nil {
		return nil, err
	}
	own := k.Release
	k.Release = func(ctx context.Context) error { return errors.Join(release(ctx), own(ctx)) }
	return ways, nil
}

// Folds returns what the limit of a call computes with.
func (c *Spec) Folds() (limit.Folds, error) {
	switch {
	case !c.What.Reduces():
		return limit.Folds{}, nil
	case c.NoOp:
		return limit.NoFolds(), nil
	}
	return c.Dtype.Fold(c.Op)
}
