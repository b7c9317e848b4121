package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/google/go-cmp/cmp"
)

func TestGASPIGroupAddBeforeCommit(t *testing.T) {
	ranktest.Local(t, 6, small, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() != 2 {
			return p.Barrier(ctx, p.World())
		}
		g := must(p.NewGroup(4, 2))
		ok(g.Add(0))
		if d := cmp.Diff([]gaspi.Rank{0, 2, 4}, g.Ranks()); d != "" {
			t.Errorf("ranks (-want +got):\n%s", d)
		}
		if i, member := g.Rank(); g.Size() != 3 || i != 1 || !member {
			t.Errorf("size %d, rank 2 is member %d, %v; want 3, 1, true", g.Size(), i, member)
		}
		others := must(p.NewGroup(0, 1))
		if _, member := others.Rank(); member {
			t.Error("rank 2 is a member of {0, 1}")
		}
		x := []int8{1}
		for _, c := range []struct {
			name string
			err  error
			want error
		}{
			{"add a member", g.Add(4), gaspi.ErrInUse},
			{"add rank 6 of 6", g.Add(6), gaspi.ErrBadRank},
			{"add rank -1", g.Add(-1), gaspi.ErrBadRank},
			{"create with a rank twice", func() error { _, err := p.NewGroup(1, 1); return err }(), gaspi.ErrInUse},
			{"commit without being in it", others.Commit(ctx), gaspi.ErrBadRank},
			{"commit nobody", must(p.NewGroup()).Commit(ctx), gaspi.ErrBadRank},
			{"delete the world", p.World().Delete(), gaspi.ErrInUse},
			{"add to the world", p.World().Add(1), gaspi.ErrInUse},
			{"commit the world", p.World().Commit(ctx), nil},
			{"delete", g.Delete(), nil},
			{"delete again", g.Delete(), gaspi.ErrClosed},
			{"add to a deleted group", g.Add(1), gaspi.ErrClosed},
			{"commit a deleted group", g.Commit(ctx), gaspi.ErrClosed},
		} {
			if !errors.Is(c.err, c.want) || (c.err == nil) != (c.want == nil) {
				t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
			}
		}
		for name, err := range map[string]error{
			"barrier": p.Barrier(ctx, others), "allreduce": gaspi.AllReduce(ctx, others, x, x, gaspi.Sum),
			"segment": func() error { _, err := p.CreateSegment(ctx, 0, 8, gaspi.Over(others)); return err }(),
		} {
			if err == nil || !strings.Contains(err.Error(), "not committed") {
				t.Errorf("%s over a group that is not committed: %v", name, err)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// In GPI-2 a group with a higher number becomes invalid.
func TestGASPIGroupCreateAndDeleteRenumberNoOther(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		var groups []*gaspi.Group
		for range 4 {
			g := must(p.NewGroup(0, 1))
			ok(g.Commit(ctx))
			groups = append(groups, g)
		}
		ok(p.Barrier(ctx, groups[0]))
		ok(groups[int(p.Rank())].Delete()) // another one on each rank
		for _, g := range groups[2:] {
			ok(p.Barrier(ctx, g))
			x := []int16{3}
			ok(gaspi.AllReduce(ctx, g, x, x, gaspi.Sum))
			if x[0] != 6 || g.Size() != 2 || len(g.Ranks()) != 2 {
				return fmt.Errorf("%v: sum %d, size %d", g, x[0], g.Size())
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

func TestGASPIGroupMaxPlacesAreReused(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		for round := range int32(100) { // of the 8 places, 7 are free
			g := must(p.NewGroup(0, 1, 2))
			ok(g.Commit(ctx))
			for range round % 3 {
				ok(p.Barrier(ctx, g))
			}
			x := []int32{round}
			ok(gaspi.AllReduce(ctx, g, x, x, gaspi.Sum))
			if x[0] != 3*round {
				return fmt.Errorf("round %d: sum %d", round, x[0])
			}
			ok(p.Barrier(ctx, g))
			ok(g.Delete())
		}
		var groups []*gaspi.Group
		for range 7 {
			groups = append(groups, must(p.NewGroup(0, 1, 2)))
		}
		if _, err := p.NewGroup(); !errors.Is(err, gaspi.ErrTooMany) {
			return fmt.Errorf("one group more than Config.Groups: %v, want ErrTooMany", err)
		}
		for _, g := range groups {
			ok(g.Commit(ctx))
		}
		for _, g := range groups {
			ok(p.Barrier(ctx, g))
		}
		return p.Barrier(ctx, p.World())
	})
}

// Random groups that share members, many at a time, with numbers of their own on
// every rank: each must add up its own members, by their ranks of the job.
func TestGASPIDifference2GroupsThatShareMembers(t *testing.T) {
	const n, count = 7, 12
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var members [count][]gaspi.Rank
	for i := range members {
		for r := range gaspi.Rank(n) {
			if random.IntN(2) == 0 {
				members[i] = append(members[i], r)
			}
		}
	}
	cfg := small
	cfg.Groups = 2 * count
	err := gaspi.Local(t.Context(), n, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		for range int(p.Rank()) {
			must(p.NewGroup()) // shifts the numbers
		}
		for i, ranks := range members {
			g := must(p.NewGroup(ranks...))
			if _, member := g.Rank(); !member {
				ok(g.Delete())
				continue
			}
			ok(g.Commit(ctx))
			want := int64(0)
			for _, r := range ranks {
				want += 1 << r
			}
			for range 3 {
				x := []int64{1 << p.Rank()}
				ok(gaspi.AllReduce(ctx, g, x, x, gaspi.Sum))
				ok(p.Barrier(ctx, g))
				if x[0] != want {
					return fmt.Errorf("group %d of %v: sum %b, want %b", i, ranks, x[0], want)
				}
			}
		}
		return p.Barrier(ctx, p.World())
	})
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

// GPI-2's own test of this is switched off.
func TestGASPIGroupCommitIsResumed(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		g := must(p.NewGroup(0, 1, 2))
		if p.Rank() == 1 {
			await(ctx, s, 0)
		} else {
			limited, cancel := soon(ctx)
			defer cancel()
			err := g.Commit(limited)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for rank 1") {
				return fmt.Errorf("without rank 1: %v, want the deadline and rank 1", err)
			}
			if err := g.Add(1); !errors.Is(err, gaspi.ErrInUse) {
				return fmt.Errorf("a change of a group that is being committed: %v", err)
			}
			quiet(ctx)
			if p.Rank() == 0 {
				tell(p, s, 1, 0)
			}
		}
		ok(g.Commit(ctx))
		ok(g.Commit(ctx)) // once more does nothing
		return p.Barrier(ctx, g)
	})
}

// Members that mean different groups wait for each other. The two sets have the same size and the same exclusive or of their ranks,
// which is all that GPI-2 compares.
func TestCommitOfDifferentRanksIsNotMistakenForOne(t *testing.T) {
	bubble(t, 5, func(ctx context.Context, p *gaspi.Proc) error {
		ranks := []gaspi.Rank{4, 1, 2}
		if p.Rank() == 0 || p.Rank() == 3 {
			ranks = []gaspi.Rank{4, 0, 3}
		}
		g := must(p.NewGroup(ranks...))
		limited, cancel := soon(ctx)
		defer cancel()
		err := g.Commit(limited)
		quiet(ctx) // the others wait for rank 4 as long as it is there,
		quiet(ctx) // and somewhat longer
		if p.Rank() == 4 || p.Rank() == 1 || p.Rank() == 2 {
			return err // these agree
		}
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for rank 4") {
			return fmt.Errorf("got %v, want the deadline and rank 4", err)
		}
		return nil
	})
}

// Ranks 0 and 1 have different ideas of who is alive, as after a death that
// rank 1 has learned of first: rank 0 commits a group that rank 1 does not, gives
// it up, and commits the one that rank 1 has been waiting in all the time.
func TestCommitAfterOneThatWasGivenUp(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		ranks := []gaspi.Rank{0, 1}
		if p.Rank() == 0 {
			g := must(p.NewGroup(0, 1, 2))
			limited, cancel := soon(ctx)
			defer cancel()
			if err := g.Commit(limited); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "committing a group of other ranks") {
				return fmt.Errorf("commit that the others do not: %v, want the deadline, and that rank 1 commits another", err)
			}
			ok(g.Delete())
		}
		if p.Rank() == 2 {
			quiet(ctx)
			quiet(ctx)
			quiet(ctx)
			return nil
		}
		g := must(p.NewGroup(ranks...))
		ok(g.Commit(ctx))
		x := []int32{1}
		ok(gaspi.AllReduce(ctx, g, x, x, gaspi.Sum))
		if x[0] != 2 {
			return fmt.Errorf("sum %d, want 2", x[0])
		}
		return p.Barrier(ctx, g)
	})
}

// Rank 0 gives a group up and makes another of the same ranks, in another place.
// Its record of the first must not be taken for one of the second.
func TestCommitOfTheSameRanksAfterOneThatWasGivenUp(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		if p.Rank() == 0 {
			g := must(p.NewGroup(0, 1))
			limited, cancel := soon(ctx)
			defer cancel()
			if err := g.Commit(limited); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("commit alone: %v", err)
			}
			ok(g.Delete())
			must(p.NewGroup(0)) // takes the place of the first
			tell(p, s, 1, 0)
			quiet(ctx) // rank 1 commits, and finds nothing of the first
		} else {
			await(ctx, s, 0)
		}
		g := must(p.NewGroup(0, 1))
		ok(g.Commit(ctx))
		return p.Barrier(ctx, g)
	})
}

// Goal: to give a commit up takes answers of those members alone that were told of it: others may be slow to reach, or be
// stopped.
// Method: each of 40 ranks in turn commits a group of all, which the others do not, deletes it, and counts those it has a
// way to.
func TestCommitGivenUpAsksThoseThatWereTold(t *testing.T) {
	bubble(t, 40, func(ctx context.Context, p *gaspi.Proc) error {
		g := must(p.NewGroup(p.World().Ranks()...))
		for r := range gaspi.Rank(p.Size()) {
			ok(p.Barrier(ctx, p.World()))
			if r != p.Rank() {
				continue
			}
			limited, cancel := soon(ctx)
			defer cancel()
			if err := g.Commit(limited); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("commit alone: %v", err)
			}
			before := p.Contacts()
			ok(g.Delete())
			if n := p.Contacts(); n != before {
				t.Errorf("rank %d has a way to %d ranks after Commit, to %d after Delete", r, before, n)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// Goal: the place of a group whose Commit was given up is not used again where another member has heard where the group
// lies, since that may still write there, and is free where none has, or has died.
// Method: rank 0 commits a group with ranks 1 and 2, of which rank 1 has begun the same meanwhile, one with rank 2, which has
// not, and one with rank 3, which has died. It gives each up.
func TestPlaceOfACommitGivenUp(t *testing.T) {
	mortals(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		first := []gaspi.Rank{0, 1, 2}
		for r := gaspi.Rank(1); p.Rank() == 0 && r < 4; r++ {
			limited, cancel := soon(ctx)
			defer cancel()
			ranks := first
			if r > 1 {
				ranks = []gaspi.Rank{0, r}
			}
			g := must(p.NewGroup(ranks...))
			if err := g.Commit(limited); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("commit with rank %d: %v", r, err)
			}
			tell(p, s, r, 0)
			quiet(ctx)
			place := g.String()
			ok(g.Delete())
			if next, want := must(p.NewGroup()), r != 1; (next.String() == place) != want {
				t.Errorf("a group that was being committed with rank %d has given back its place: %t, want %t", r, !want, want)
			}
		}
		switch p.Rank() {
		case 1:
			await(ctx, s, 0)
			limited, cancel := soon(ctx)
			defer cancel()
			g := must(p.NewGroup(first...))
			if err := g.Commit(limited); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a commit that rank 0 does not go on with: %v", err)
			}
		case 3:
			await(ctx, s, 0)
			return errDies
		}
		for range 10 { // until rank 0 has come to its end
			quiet(ctx)
		}
		return nil
	})
}
