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

// teams makes some teams of equal ranks, each in a goroutine of its own, and splits and shrinks
// them there, all at the same time: parts of different teams often have equal ranks. Some Splits
// end early at one member, which revokes the team.
func teams(ctx context.Context, s *scene) error {
	rng := s.own()
	lines := make([]func(ctx context.Context) error, 1+s.plan.IntN(3))
	for i := range lines {
		l := &line{scene: s, tag: gaspi.Tag(i), plan: stream(s.plan.Uint64(), keyPlan), rng: s.own(uint64(i), 1)}
		lines[i] = func(ctx context.Context) error {
			if err := l.live(ctx); err != nil {
				return fmt.Errorf("team %d of %d: %w", l.tag, len(lines), err)
			}
			return nil
		}
	}
	if err := parallel(ctx, lines...); err != nil {
		return err
	}
	return s.barrier(ctx, rng)
}

// A line is a team and those that replace it one after the other.
type line struct {
	*scene
	tag  gaspi.Tag
	own  *gaspi.Group // of the scene's ranks, which nobody revokes
	plan *rand.Rand   // alike on all members
	rng  *rand.Rand   // this rank's own
	team *collectives.Team
}

// live makes the team, does something with it a few times, and closes it.
func (l *line) live(ctx context.Context) (err error) {
	l.own, err = resumed(ctx, l.scene, l.rng, func(ctx context.Context) (*gaspi.Group, error) { return l.g.Dup(ctx, l.tag) })
	if err != nil {
		return err
	}
	l.team, err = collectives.NewTeam(ctx, l.g, collectives.Config{
		Tag: l.tag, Independent: l.plan.IntN(2) == 0, Scratch: pick[uint64](l.plan, 0, 1<<16),
	})
	if err != nil {
		return err
	}
	for range 1 + l.plan.IntN(4) {
		var step string
		switch kind := l.plan.IntN(12); {
		case kind == 0 && !l.Whole:
			step, err = "Split that may end early", l.splitEarly(ctx)
		case kind < 3:
			step, err = "Shrink", l.shrink(ctx)
		default:
			step, err = "Split", l.split(ctx, l.team, l.plan.IntN(3))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
		if err := l.sum(ctx, l.team); err != nil {
			return fmt.Errorf("sum after %s: %w", step, err)
		}
		l.did(1)
	}
	if err := l.close(ctx, l.team); err != nil {
		return err
	}
	if err := l.p.Barrier(ctx, l.own); err != nil {
		return err
	}
	return l.own.Delete()
}

// close closes a team that all members have finished with.
func (l *line) close(ctx context.Context, team *collectives.Team) error {
	err := l.resume(ctx, l.rng, func(ctx context.Context) error { return collectives.Barrier(ctx, team) })
	if err != nil {
		return err
	}
	return team.Close()
}

// A division says how a team is split: its members by number.
type division struct{ colors, keys []int }

// divide draws a division of a team.
func (l *line) divide(team *collectives.Team) division {
	var d division
	colors := 1 + l.plan.IntN(3)
	for range team.Size() {
		color := l.plan.IntN(colors+1) - 1
		if color < 0 {
			color = collectives.Undefined
		}
		d.colors = append(d.colors, color)
		d.keys = append(d.keys, l.plan.IntN(3)-1)
	}
	return d
}

// check compares what Split returned with what a division says.
func (d division) check(team, part *collectives.Team) error {
	mine := d.colors[team.Rank()]
	if mine == collectives.Undefined {
		if part != nil {
			return fmt.Errorf("a member without color got a team of ranks %v", part.Ranks())
		}
		return nil
	}
	var members []int
	for i, color := range d.colors {
		if color == mine {
			members = append(members, i)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return d.keys[a] - d.keys[b] })
	var want []gaspi.Rank
	for _, i := range members {
		want = append(want, team.Ranks()[i])
	}
	if part == nil || !slices.Equal(part.Ranks(), want) || part.Ranks()[part.Rank()] != team.Ranks()[team.Rank()] {
		return fmt.Errorf("a part of ranks %v; want %v, split from %v by colors %v and keys %v", membersOf(part), want, team.Ranks(), d.colors, d.keys)
	}
	return nil
}

// membersOf returns the ranks of a team that may be nil.
func membersOf(team *collectives.Team) []gaspi.Rank {
	if team == nil {
		return nil
	}
	return team.Ranks()
}

// split splits a team, uses its part, and splits that further, to so many levels below it.
func (l *line) split(ctx context.Context, team *collectives.Team, levels int) error {
	d, plan := l.divide(team), l.plan.Uint64()
	part, err := team.Split(ctx, d.colors[team.Rank()], d.keys[team.Rank()])
	if err == nil {
		err = d.check(team, part)
	}
	if err != nil || part == nil {
		return err
	}
	return l.usePart(ctx, part, levels, plan)
}

// usePart uses a part, whose plan is drawn from a key of its own.
func (l *line) usePart(ctx context.Context, part *collectives.Team, levels int, key uint64) error {
	sub := &line{scene: l.scene, plan: stream(key, keyPlan), rng: l.rng}
	if err := sub.sum(ctx, part); err != nil {
		return err
	}
	if levels > 0 {
		if err := sub.split(ctx, part, levels-1); err != nil {
			return err
		}
	}
	return sub.close(ctx, part)
}

// splitEarly splits the team with a context that ends soon at one member. If the Split ends by it
// there, that member revokes the team, and a team of the same members replaces it.
func (l *line) splitEarly(ctx context.Context) error {
	if err := l.p.Barrier(ctx, l.own); err != nil { // nobody is in the call before, which Revoke would end
		return err
	}
	d, key, cutter := l.divide(l.team), l.plan.Uint64(), l.plan.IntN(l.team.Size())
	limited, cancel := ctx, context.CancelFunc(func() {})
	if l.team.Rank() == cutter {
		limited, cancel = l.cut(ctx, l.rng, l.rng.IntN(6))
	}
	defer cancel()
	part, err := l.team.Split(limited, d.colors[l.team.Rank()], d.keys[l.team.Rank()])
	flags := uint32(1)
	switch {
	case err == nil:
		err = d.check(l.team, part)
	case gaveUp(ctx, limited, err):
		flags, err = 0, l.team.Revoke(nil)
	case errors.Is(err, gaspi.ErrRevoked) && l.team.Rank() != cutter:
		flags, err = 0, nil
	}
	if err != nil {
		return fmt.Errorf("at member %d: %w", cutter, err)
	}
	whole, err := l.team.Agree(ctx, flags)
	switch {
	case err != nil:
		return err
	case whole == 0:
		l.early.Add(1)
		if part != nil {
			if err := part.Close(); err != nil {
				return err
			}
		}
		return l.shrink(ctx)
	case part == nil:
		return nil
	}
	if err := l.usePart(ctx, part, 0, key); err != nil {
		return fmt.Errorf("the part %v: %w", part.Ranks(), err)
	}
	return nil
}

// shrink replaces the team by one of the same members: none has died.
func (l *line) shrink(ctx context.Context) error {
	next, err := l.team.Shrink(ctx)
	if err != nil {
		return err
	}
	if !slices.Equal(next.Ranks(), l.team.Ranks()) || next.Rank() != l.team.Rank() {
		return fmt.Errorf("a team of ranks %v became one of ranks %v", l.team.Ranks(), next.Ranks())
	}
	if err := l.team.Close(); err != nil {
		return err
	}
	l.team = next
	return nil
}

// sum adds up numbers of all members of a team.
func (l *line) sum(ctx context.Context, team *collectives.Team) error {
	salt, xs := l.plan.Uint64(), make([]uint64, 1+l.plan.IntN(300))
	for i := range xs {
		xs[i] = mix(salt ^ uint64(l.p.Rank()) ^ uint64(i)<<32)
	}
	err := l.resume(ctx, l.rng, func(ctx context.Context) error {
		return collectives.AllReduce(ctx, team, xs, collectives.Sum)
	})
	if err != nil {
		return err
	}
	if l.mutant("wrong sum") {
		xs[len(xs)/2]++
	}
	for i, got := range xs {
		var want uint64
		for _, r := range team.Ranks() {
			want += mix(salt ^ uint64(r) ^ uint64(i)<<32)
		}
		if got != want {
			return fmt.Errorf("element %d of a sum over ranks %v is %d, want %d", i, team.Ranks(), got, want)
		}
	}
	return nil
}
