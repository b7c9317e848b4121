package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// ensemble is a team and what its next call is made of.
type ensemble struct {
	*scene
	team  *collectives.Team
	size  int
	place int // the number of this rank in the team
	style style

	plan    *rand.Rand // of the present call
	rng     *rand.Rand // this rank's own
	alloc   bool       // its buffers are from Alloc
	release []func(ctx context.Context) error
}

// style says which calls a family makes.
type style struct{ vforms, forced bool }

// boundCall is one operation with its buffers.
type boundCall struct {
	name     string
	task     func(ctx context.Context) (collectives.Task, error)
	blocking func(ctx context.Context) (collectives.Status, error) // the same as one call
	fill     func(run uint64)                                      // makes the input of a run
	check    func(run uint64, s collectives.Status) error
	harm     func() // what the mutant does to the result
}

func collective(ctx context.Context, s *scene) error { return ensembles(ctx, s, style{}) }
func vforms(ctx context.Context, s *scene) error     { return ensembles(ctx, s, style{vforms: true}) }
func forced(ctx context.Context, s *scene) error     { return ensembles(ctx, s, style{forced: true}) }

// ensembles makes some teams, and calls in an order that all members know.
func ensembles(ctx context.Context, s *scene, st style) error {
	rng := s.own()
	var all []*ensemble
	var groups []*gaspi.Group
	for range 1 + s.plan.IntN(3) {
		e, err := s.ensemble(ctx, rng, st)
		if err != nil {
			return err
		}
		all = append(all, e)
		if e.scene != nil && e.g != s.g {
			groups = append(groups, e.g)
		}
	}
	for number := range 2 + s.plan.IntN(8) {
		i, key := s.plan.IntN(len(all)), s.plan.Uint64()
		if all[i].scene == nil {
			continue
		}
		if err := all[i].act(ctx, rng, key); err != nil {
			return fmt.Errorf("call %d, on team %d, ranks %v: %w", number, i, all[i].team.Ranks(), err)
		}
	}
	if err := s.barrier(ctx, rng); err != nil {
		return err
	}
	for _, e := range all {
		if e.scene != nil {
			if err := e.team.Close(); err != nil {
				return err
			}
		}
	}
	// Groups end when no member is in a call of theirs, which the barrier has shown.
	for _, g := range groups {
		if err := g.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// ensemble makes a team of the scene's group, or of a part of it, in the order of ranks or
// in another. Where this rank is no member it has no scene.
func (s *scene) ensemble(ctx context.Context, rng *rand.Rand, st style) (*ensemble, error) {
	sub, ranks, key := s, s.members, s.plan.Uint64()
	if part := subset(s.plan, s.members); s.plan.IntN(2) == 0 && s.groupable(part) {
		ranks = part
		var err error
		if sub, err = s.subgroup(ctx, rng, ranks, key); sub == nil {
			return &ensemble{}, err
		}
	}
	plan := stream(key, keyPlan)
	cfg := collectives.Config{Scratch: pick[uint64](plan, 0, 1<<16, 4<<20)}
	if plan.IntN(2) == 0 {
		cfg.Order = slices.Clone(ranks)
	}
	team, err := collectives.NewTeam(ctx, sub.g, cfg)
	if err != nil {
		return nil, err
	}
	e := &ensemble{scene: sub, team: team, size: team.Size(), place: team.Rank(), style: st}
	want := sub.members
	if cfg.Order != nil {
		want = cfg.Order
	}
	if !slices.Equal(team.Ranks(), want) || want[e.place] != s.p.Rank() {
		return nil, fmt.Errorf("a team of ranks %v has ranks %v, this one at %d", want, team.Ranks(), e.place)
	}
	return e, nil
}

// act makes one call, or several that are under way at the same time.
func (e *ensemble) act(ctx context.Context, rng *rand.Rand, key uint64) error {
	e.plan, e.rng = stream(key, keyCall), rng
	if e.plan.IntN(12) == 0 {
		if err := e.resume(ctx, rng, e.team.Reset); err != nil {
			return err
		}
	}
	calls := make([]*boundCall, 1)
	mode := e.plan.IntN(4)
	if mode == 0 {
		calls = make([]*boundCall, 1+e.plan.IntN(4))
	}
	var names []string
	for i := range calls {
		var err error
		if calls[i], err = e.draw(ctx); err != nil {
			return err
		}
		names = append(names, calls[i].name)
	}
	var err error
	switch mode {
	case 0:
		err = e.atOnce(ctx, rng, calls)
	case 1:
		err = e.planned(ctx, rng, calls[0])
	default:
		err = e.once(ctx, rng, calls[0])
	}
	if err != nil {
		return fmt.Errorf("%q, memory of Alloc %v, mode %d: %w", names, e.alloc, mode, err)
	}
	e.did(len(calls))
	for _, release := range e.release {
		if err := e.resume(ctx, rng, release); err != nil {
			return err
		}
	}
	e.release = nil
	return nil
}

// verify checks one run of a call.
func (e *ensemble) verify(c *boundCall, run uint64, s collectives.Status) error {
	if e.mutant("wrong element") && c.harm != nil {
		c.harm()
	}
	return c.check(run, s)
}

// once makes a call that blocks.
func (e *ensemble) once(ctx context.Context, rng *rand.Rand, c *boundCall) error {
	c.fill(0)
	status, err := resumed(ctx, e.scene, rng, c.blocking)
	if err != nil {
		return err
	}
	return e.verify(c, 0, status)
}

// atOnce starts all calls, and waits for them in any order.
func (e *ensemble) atOnce(ctx context.Context, rng *rand.Rand, calls []*boundCall) error {
	handles := make([]*collectives.Handle, len(calls))
	for i, c := range calls {
		c.fill(0)
		task, err := resumed(ctx, e.scene, rng, c.task)
		if err != nil {
			return err
		}
		handles[i], err = resumed(ctx, e.scene, rng, func(ctx context.Context) (*collectives.Handle, error) {
			return collectives.Start(ctx, e.team, task)
		})
		if err != nil {
			return err
		}
	}
	for _, i := range rng.Perm(len(calls)) {
		if err := e.finish(ctx, rng, handles[i]); err != nil {
			return fmt.Errorf("waiting for %s: %w", calls[i].name, err)
		}
		if err := e.verify(calls[i], 0, handles[i].Status()); err != nil {
			return err
		}
	}
	return nil
}

// finish ends an operation by Test and Wait.
func (e *ensemble) finish(ctx context.Context, rng *rand.Rand, h *collectives.Handle) error {
	for range rng.IntN(20) {
		if done, err := h.Test(); done || err != nil {
			return err
		}
	}
	return e.resume(ctx, rng, h.Wait)
}

// planned makes a plan and runs it some times.
func (e *ensemble) planned(ctx context.Context, rng *rand.Rand, c *boundCall) error {
	task, err := resumed(ctx, e.scene, rng, c.task)
	if err != nil {
		return err
	}
	plan, err := resumed(ctx, e.scene, rng, func(ctx context.Context) (*collectives.Plan, error) {
		return collectives.NewPlan(ctx, e.team, task)
	})
	if err != nil {
		return err
	}
	for run := range 1 + e.plan.Uint64N(4) {
		c.fill(run)
		status := collectives.Status{Elements: -1}
		if rng.IntN(2) == 0 {
			err = e.resume(ctx, rng, plan.Run)
		} else {
			var h *collectives.Handle
			if h, err = plan.Start(); err == nil {
				err = e.finish(ctx, rng, h)
				status = h.Status()
			}
		}
		if err == nil {
			err = e.verify(c, run, status)
		}
		if err != nil {
			return fmt.Errorf("run %d of %s: %w", run, plan.Algorithm(), err)
		}
	}
	// All members are between the same two calls only once all have finished the last run.
	if err := e.resume(ctx, rng, func(ctx context.Context) error { return collectives.Barrier(ctx, e.team) }); err != nil {
		return err
	}
	return plan.Close()
}

// mostSegments bounds the segments of a call: each needs notifications of its own, some for
// each member, of which a team has collectives.Config.Slots.
const mostSegments = 256

// options are random ways to do a call that change nothing about its result.
func (s *shape) options(ctx context.Context) ([]collectives.Option, string, error) {
	if s.style.forced {
		task, err := s.task(ctx, s)
		if err != nil {
			return nil, "", err
		}
		candidates, err := collectives.Explain(s.team, task)
		if err != nil {
			return nil, "", err
		}
		var names []string
		for _, c := range candidates {
			names = append(names, c.Algorithm)
		}
		slices.Sort(names)
		name := pick(s.plan, slices.Compact(names)...)
		if !slices.ContainsFunc(candidates, func(c collectives.Candidate) bool { return c.Chosen }) {
			return nil, "", errors.New("none of the candidates of Explain is chosen")
		}
		return []collectives.Option{collectives.Algorithm(name)}, " by " + name, nil
	}
	switch s.plan.IntN(6) {
	case 0:
		n := 1 + s.n*s.size/mostSegments + s.plan.IntN(5000)
		return []collectives.Option{collectives.SegmentSize(n)}, fmt.Sprintf(" in segments of %d", n), nil
	case 1:
		n := 1 + s.plan.IntN(5)
		return []collectives.Option{collectives.Concurrency(n)}, fmt.Sprintf(" in %d segments", n), nil
	}
	return nil, "", nil
}

// buffer is memory for n elements; from Alloc, it is the same on all members.
func (s *shape) buffer(ctx context.Context, n int) (vector, error) {
	shift := s.plan.IntN(4)
	if !s.alloc {
		return s.zeros(n+shift).part(shift, n+shift), nil
	}
	all, err := resumed(ctx, s.scene, s.rng, func(ctx context.Context) (vector, error) {
		return s.allocated(ctx, s.team, n+shift+1)
	})
	if err != nil {
		return nil, err
	}
	s.release = append(s.release, func(ctx context.Context) error { return all.release(ctx, s.team) })
	return all.part(shift, shift+n), nil
}

// take makes the two buffers of a call.
func (s *shape) take(ctx context.Context, src, dst int) (err error) {
	if s.src, err = s.buffer(ctx, src); err == nil {
		s.dst, err = s.buffer(ctx, dst)
	}
	return err
}

// takeBlocks makes the two buffers of a call, one for the block of this member and one for
// those of all.
func (s *shape) takeBlocks(ctx context.Context) (own, all vector, err error) {
	if own, err = s.buffer(ctx, slices.Max(s.blocks)); err != nil {
		return nil, nil, err
	}
	all, err = s.buffer(ctx, sumOf(s.blocks))
	return own.part(0, s.blocks[s.place]), all, err
}

// length draws the number of elements of a block.
func (e *ensemble) length() int {
	return pick(e.plan, 0, 1, e.plan.IntN(20), e.plan.IntN(3000), e.plan.IntN(3000), 16_000+e.plan.IntN(2000), e.plan.IntN(60_000))
}

// lengths draws one for each member, alike or not at all alike.
func (e *ensemble) lengths() []int {
	all := make([]int, e.size)
	for i := range all {
		all[i] = pick(e.plan, 0, e.plan.IntN(6), e.plan.IntN(6), 3728, 16_385, 100_000+e.plan.IntN(60_000))
	}
	return all
}

// sumOf adds up lengths.
func sumOf(lengths []int) (sum int) {
	for _, n := range lengths {
		sum += n
	}
	return sum
}
