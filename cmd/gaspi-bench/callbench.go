package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// openCollective makes the team, the vectors and the contenders of a workload, and
// returns what gives them back.
func (b *bench) openCollective(ctx context.Context, w *workload, c *collective, s *shape) (func(context.Context) error, error) {
	t, err := b.newTeam(ctx, c)
	if err != nil {
		return nil, err
	}
	k, err := c.dtype.open(ctx, t, c, s)
	if err != nil {
		return nil, err
	}
	plan, err := collectives.NewPlan(ctx, t, k.task)
	if err != nil {
		return nil, err
	}
	if err := b.trial(ctx, c, s, plan, k); err != nil {
		return nil, err
	}
	w.algorithm = plan.Algorithm()
	once := plan.Run
	if !c.plan {
		once = k.once
		if err := plan.Close(); err != nil {
			return nil, err
		}
	}
	w.contenders = []contender{contender{report.ImplGaspi, repeat(ctx, once)}}
	checks := []sides{k.own}
	bare, check, err := b.bareLimit(ctx, t, c, s, k)
	if err != nil {
		return nil, err
	}
	if bare != nil {
		w.contenders = append(w.contenders, contender{report.ImplLimit, repeat(ctx, bare)})
		checks = append(checks, check)
	}
	if !c.noOp && c.what != schedule.Barrier { // which have no result
		w.checks = checks
	}
	return func(ctx context.Context) error {
		b.keep = nil
		if err := k.release(ctx); err != nil {
			return err
		}
		return t.Close()
	}, nil
}

// trial makes a call, and learns from it who contributes.
func (b *bench) trial(ctx context.Context, c *collective, s *shape, plan *collectives.Plan, k *call) error {
	if c.processes == 0 {
		return nil
	}
	h, err := plan.Start()
	if err != nil {
		return err
	}
	if err := h.Wait(ctx); err != nil {
		return err
	}
	s.engaged = make([]bool, s.ranks)
	for _, r := range h.Status().Ranks() {
		s.engaged[r] = true
	}
	return nil
}

// repeat makes a batch of a call.
func repeat(ctx context.Context, once func(context.Context) error) func(int) error {
	return func(n int) error {
		for range n {
			if err := once(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// A bareCall does a call without the library.
type bareCall = func(context.Context) error

// bareLimit is what a call is compared with, and what fills and checks its vectors;
// nil if there is nothing.
func (b *bench) bareLimit(ctx context.Context, t *collectives.Team, c *collective, s *shape, k *call) (bareCall, sides, error) {
	switch {
	case b.together:
	case s.op == schedule.AllToAll:
		ways, check, err := b.bareMesh(ctx, s)
		if err != nil || ways == nil {
			return nil, sides{}, err
		}
		bare, err := b.fastest(ctx, ways)
		return bare, check, err
	default:
		return b.bareRing(ctx, s)
	}
	bare, err := b.bareCollective(ctx, t, c, s, k)
	return bare, k.own, err
}

// bareCollective is the limit of a call: the fastest of a few bare ways to do it.
func (b *bench) bareCollective(ctx context.Context, t *collectives.Team, c *collective, s *shape, k *call) (bareCall, error) {
	if c.what == schedule.Barrier {
		all, err := newMeeting(b)
		if err != nil {
			return nil, err
		}
		return all.exchange, b.clearBoxes(ctx)
	}
	var f folds
	if c.what.Reduces() {
		f = noFolds()
		if !c.noOp {
			var err error
			if f, err = c.dtype.fold(c.op); err != nil {
				return nil, err
			}
		}
	}
	bind := b.bareShared
	if c.plain {
		bind = b.barePlain
	}
	v, ways, err := bind(ctx, t, s, k, f)
	if err != nil {
		return nil, err
	}
	if s.mailable() {
		mail, err := newMailing(b, 2, v, s.whole, f)
		if err != nil {
			return nil, err
		}
		ways = append(ways, mail.call)
	}
	if err := b.clearBoxes(ctx); err != nil {
		return nil, err
	}
	return b.fastest(ctx, ways)
}

// bareShared is the ways to do a call on vectors that all ranks reach.
func (b *bench) bareShared(_ context.Context, _ *collectives.Team, s *shape, k *call, f folds) (*vectors, []bareCall, error) {
	v, err := b.reach(s, k)
	if err != nil {
		return nil, nil, err
	}
	shares, err := newSharing(b, 0, v, s.shares, f)
	if err != nil {
		return nil, nil, err
	}
	ways := []bareCall{shares.call}
	if s.op == schedule.Broadcast {
		whole, err := newSharing(b, 1, v, s.whole, f)
		if err != nil {
			return nil, nil, err
		}
		ways = append(ways, whole.call)
	}
	return v, ways, nil
}

// reach is the vectors of all ranks as this rank addresses them.
func (b *bench) reach(s *shape, k *call) (*vectors, error) {
	v := &vectors{}
	for r := range b.p.Size() {
		in, err := b.vectorOf(gaspi.Rank(r), k.own.in)
		if err != nil {
			return nil, err
		}
		v.in = append(v.in, in)
		out := in
		if !s.inPlace() {
			if out, err = b.vectorOf(gaspi.Rank(r), k.own.out); err != nil {
				return nil, err
			}
		}
		v.out = append(v.out, out)
	}
	return v, nil
}

// vectorOf is the vector of rank r that mem is of this one.
func (b *bench) vectorOf(r gaspi.Rank, mem []byte) ([]byte, error) {
	for _, id := range b.p.Segments() {
		seg, err := b.p.Segment(id)
		if err != nil {
			return nil, err
		}
		off, ok := seg.OffsetOf(mem)
		if !ok {
			continue
		}
		span, ok := seg.Mapped(r, off, uint64(len(mem)))
		if !ok {
			return nil, unmappable(r)
		}
		b.keep = append(b.keep, span)
		return span.Bytes(), nil
	}
	return nil, errors.New("a vector lies in no segment")
}

// fastest is the way that takes least time, the same on all ranks.
func (b *bench) fastest(ctx context.Context, ways []bareCall) (bareCall, error) {
	if len(ways) == 1 {
		return ways[0], nil
	}
	w := workload{timed: true, steps: 1}
	for _, way := range ways {
		w.contenders = append(w.contenders, contender{report.ImplLimit, repeat(ctx, way)})
	}
	n, block, err := b.calibrate(ctx, w)
	if err != nil {
		return nil, err
	}
	rounds := int(max(1, min(trials, trialTime/(max(block, 1)*time.Duration(len(ways))))))
	least := make([]time.Duration, len(ways))
	for round := range rounds {
		for i := range ways {
			took, err := b.block(ctx, w, i, n)
			if err != nil {
				return nil, err
			}
			if round == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	if err := b.slowest(ctx, least); err != nil {
		return nil, err
	}
	return ways[slices.Index(least, slices.Min(least))], nil
}

// So many blocks of each way are measured to find the fastest, but one suffices
// where all of them together take longer than trialTime.
const (
	trials    = 5
	trialTime = time.Second
)
