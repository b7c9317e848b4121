package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// errStops is why members revoke groups.
var errStops = errors.New("wants no more")

// Goal: a revocation ends calls of other members that are under way, and each that comes
// later, without an end of any rank; groups beside it, and what is made anew, go on.
func TestGASPIRevokeEndsCallsOfAllMembers(t *testing.T) {
	sizes := []int{3, 40}
	if testing.Short() {
		sizes = []int{3, 9}
	}
	for _, c := range needOthers {
		if c.name == "passive send" || c.name == "passive receive" || c.name == "group commit" {
			continue // they are not over the group
		}
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s of %d", c.name, n), func(t *testing.T) {
				bubble(t, n, func(ctx context.Context, p *gaspi.Proc) error {
					other := must(p.World().Dup(ctx, 0))
					s := must(p.CreateSegment(ctx, 0, 64))
					if p.Rank() == 1 {
						synctest.Wait()
						ok(p.World().Revoke(errStops))
						if err := p.Barrier(ctx, p.World()); !errors.Is(err, errStops) {
							return fmt.Errorf("its own barrier: %v, want the cause", err)
						}
					} else if err := c.call(ctx, p, s); !errors.Is(err, gaspi.ErrRevoked) || errors.Is(err, gaspi.ErrRankDead) {
						return fmt.Errorf("under way: %v, want ErrRevoked", err)
					}
					for _, later := range needOthers[:2] {
						if err := later.call(ctx, p, s); !errors.Is(err, gaspi.ErrRevoked) {
							return fmt.Errorf("%s, later: %v, want ErrRevoked", later.name, err)
						}
					}
					if got := must(p.World().Agree(ctx, 6|uint32(p.Rank())&1)); got != 6 {
						return fmt.Errorf("agreement on %d, want 6", got)
					}
					next := must(p.World().Shrink(ctx))
					if !slices.Equal(next.Ranks(), p.World().Ranks()) {
						return fmt.Errorf("shrunk to %v", next.Ranks())
					}
					ok(p.Barrier(ctx, next))
					return p.Barrier(ctx, other)
				})
			})
		}
	}
}

// Goal: the error names the rank because of which a group was revoked, at members that know
// nothing of it, and also for groups that are revoked with it.
func TestRevocationNamesTheRank(t *testing.T) {
	mortals(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		living := must(p.NewGroup(0, 1, 2))
		if p.Rank() == 3 {
			return errDies
		}
		ok(living.Commit(ctx))
		pair := must(p.NewGroup(0, 1))
		if p.Rank() < 2 {
			ok(pair.RevokeWith(living))
			ok(pair.Commit(ctx))
		}
		switch p.Rank() {
		case 0:
			if err := p.Barrier(ctx, pair); !names(err, 3) || !errors.Is(err, gaspi.ErrRevoked) {
				return fmt.Errorf("the pair: %v", err)
			}
		case 1:
			if err := p.Barrier(ctx, living); !names(err, 3) || !errors.Is(err, gaspi.ErrRevoked) {
				return fmt.Errorf("the group: %v", err)
			}
		case 2:
			synctest.Wait()
			ok(living.Revoke(fmt.Errorf("because of: %w", &gaspi.RankError{Rank: 3, Reason: "it died"})))
		}
		if err := living.Revoked(); !names(err, 3) {
			return fmt.Errorf("revoked by: %v", err)
		}
		return nil
	})
}

// Goal: a rank that another member has lost is not told that itself is gone.
func TestRevocationDoesNotNameItsReader(t *testing.T) {
	bubble(t, 20, func(ctx context.Context, p *gaspi.Proc) error {
		const revoker, lost = 3, 17
		if p.Rank() == revoker {
			ok(p.World().Revoke(&gaspi.RankError{Rank: lost, Reason: "its connection broke"}))
		}
		err := p.Barrier(ctx, p.World())
		gone, named := errors.AsType[*gaspi.RankError](err)
		if !errors.Is(err, gaspi.ErrRevoked) || !errors.Is(err, gaspi.ErrRankDead) || named == (p.Rank() == lost) || named && gone.Rank != lost {
			return fmt.Errorf("rank %d: %w", p.Rank(), err)
		}
		return nil
	})
}

// Goal: members that wait in a barrier learn of a revocation because of a rank that has left by now
// as a revocation, not as the leaving of that rank, by which another barrier ended.
func TestRevocationBecauseOfARankThatLeft(t *testing.T) {
	bubble(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		g := must(p.NewGroup(0, 1, 2))
		if p.Rank() == 3 {
			return nil
		}
		ok(g.Commit(ctx))
		barrier := func() error {
			if err := p.Barrier(ctx, g); !errors.Is(err, gaspi.ErrRevoked) || !names(err, 3) {
				return fmt.Errorf("barrier of rank %d: %v, want a revocation because of rank 3", p.Rank(), err)
			}
			return nil
		}
		switch p.Rank() {
		case 1:
			ended := make(chan error)
			go func() { ended <- barrier() }()
			quiet(ctx) // rank 3 has left, ranks 0 and 1 wait for rank 2
			g.BeginRevocation(p.Failure(3))
			return <-ended
		case 2:
			quiet(ctx)
			quiet(ctx) // rank 0 has heard all that the barrier of rank 1 told
			ok(g.Revoke(p.Failure(3)))
		}
		return barrier()
	})
}

// Goal: notifications of a revocation do not reach a later group in the same place.
func TestRevocationIsOfOneGroup(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		for i := range 40 {
			g := must(p.NewGroup(0, 1, 2))
			if i%2 == 1 {
				ok(g.Delete())
				g = must(p.World().Dup(ctx, 0))
			} else {
				ok(g.Commit(ctx))
			}
			ok(p.Barrier(ctx, g))
			ok(p.Barrier(ctx, p.World()))
			ok(g.Delete())
			if int(p.Rank()) == i%3 {
				if err := g.Revoke(errStops); !errors.Is(err, gaspi.ErrClosed) {
					return fmt.Errorf("revocation of a deleted group: %v", err)
				}
			}
		}
		return nil
	})
}

// Goal: members that are alive agree, whoever dies, and also when an Agree ended early.
func TestGASPIAgreeWithoutTheDead(t *testing.T) {
	for n := 2; n <= 7; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			mortals(t, n, func(ctx context.Context, p *gaspi.Proc) error {
				got, err := p.World().Agree(ended(), 3)
				if errors.Is(err, context.Canceled) { // not at a member that comes last, to which all others have spoken
					if _, err := p.World().Shrink(ctx); !errors.Is(err, gaspi.ErrInUse) {
						return fmt.Errorf("Shrink before that has ended: %v", err)
					}
					got, err = p.World().Agree(ctx, 1)
				}
				if err != nil || got != 3 {
					return fmt.Errorf("agreement on %d, %v, want 3", got, err)
				}
				if int(p.Rank()) == n/2 {
					return errDies
				}
				if got := must(p.World().Agree(ctx, ^(uint32(1)<<p.Rank())&0xff)); got&^(1<<(n/2)) != 0xff&^(1<<n-1) {
					return fmt.Errorf("agreement on %#x", got)
				}
				g := must(p.World().Shrink(ctx))
				if g.Size() != n-1 || slices.Contains(g.Ranks(), gaspi.Rank(n/2)) {
					return fmt.Errorf("shrunk to %v", g.Ranks())
				}
				return p.Barrier(ctx, g)
			})
		})
	}
}

// Goal: bad arguments are refused.
func TestAgreeRefuses(t *testing.T) {
	bubble(t, 1, func(ctx context.Context, p *gaspi.Proc) error {
		if _, err := p.World().Agree(ctx, 1<<31); !errors.Is(err, gaspi.ErrOutOfRange) {
			return fmt.Errorf("flags that are too large: %v", err)
		}
		g := must(p.NewGroup(0))
		if _, err := g.Agree(ctx, 1); err == nil {
			return errors.New("Agree of a group that is not committed")
		}
		if err := g.Revoke(nil); err == nil {
			return errors.New("Revoke of a group that is not committed")
		}
		ok(g.RevokeWith(p.World()))
		ok(p.World().Revoke(nil))
		if err := g.Commit(ctx); !errors.Is(err, gaspi.ErrRevoked) {
			return fmt.Errorf("Commit of a group that was revoked before: %v", err)
		}
		return nil
	})
}

// Goal: groups that are revoked with another one are revoked when Revoke returns, also if
// a goroutine that has begun the same revocation is not that far: directly, through a third
// group, and where two groups are revoked with each other.
func TestRevokeReturnsWhenAllAreRevoked(t *testing.T) {
	bubble(t, 1, func(ctx context.Context, p *gaspi.Proc) error {
		var groups [4]*gaspi.Group
		for i := range groups {
			groups[i] = must(p.World().Dup(ctx, 0))
		}
		for _, with := range [][2]int{{1, 0}, {2, 1}, {1, 2}, {0, 2}} {
			ok(groups[with[0]].RevokeWith(groups[with[1]]))
		}
		groups[0].BeginRevocation(errStops)
		ok(groups[0].Revoke(nil))
		for i, g := range groups[:3] {
			if err := g.Revoked(); !errors.Is(err, errStops) {
				return fmt.Errorf("group %d after Revoke: %v, want the cause", i, err)
			}
		}
		return p.Barrier(ctx, groups[3])
	})
}

// Goal: a connection may break long before the launcher notices that a host is dead, and says
// so: members agree without the ranks of that host all the same.
func TestAgreeWhenTheLauncherIsLate(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, g *gaspi.Group) error{
		"agree":  func(ctx context.Context, g *gaspi.Group) error { _, err := g.Agree(ctx, 1); return err },
		"shrink": func(ctx context.Context, g *gaspi.Group) error { _, err := g.Shrink(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			mortals(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
				ok(p.Barrier(ctx, p.World()))
				if p.Rank() == 1 {
					time.Sleep(boot.DefaultHeartbeat) // sleep: in the time of the bubble
					return errDies
				}
				p.LoseLink(1, "no answer")
				for p.Failure(1) == nil {
					quiet(ctx)
				}
				if err := call(ctx, p.World()); err != nil {
					return fmt.Errorf("%v, although nobody is lost but rank 1, which is dead", err)
				}
				return p.Barrier(ctx, must(p.World().Shrink(ctx)))
			})
		})
	}
}

// Goal: all members hear of the same two that have lost each other, and those hear of each
// other, whoever tells them: ranks 1 and 3, and 4 hears of it before they do.
func TestAgreementsNameThoseThatAreApart(t *testing.T) {
	bubble(t, 6, func(ctx context.Context, p *gaspi.Proc) error {
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 3 {
			p.LoseLink(1, "no answer")
		}
		if p.Rank() == 1 { // it comes when all others have told it
			time.Sleep(time.Hour) // sleep: in the time of the bubble
		}
		want := map[gaspi.Rank]gaspi.Rank{1: 3}[p.Rank()]
		if want == 0 {
			want = 1
		}
		if _, err := p.World().Agree(ctx, 1); !names(err, want) {
			return fmt.Errorf("%v, want an error that names rank %d", err, want)
		}
		time.Sleep(2 * time.Hour) // sleep: as long as rank 1 goes on
		return nil
	})
}

// Goal: members that have lost each other, and both live, cannot agree: all members hear
// so, and none waits for ever, in Agree and Shrink, now and later.
func TestAgreeWithoutALink(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, g *gaspi.Group) error{
		"agree":  func(ctx context.Context, g *gaspi.Group) error { _, err := g.Agree(ctx, 1); return err },
		"shrink": func(ctx context.Context, g *gaspi.Group) error { _, err := g.Shrink(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
				ok(p.Barrier(ctx, p.World()))
				if p.Rank() == 2 {
					p.LoseLink(1, "no answer")
					for p.Failure(1) == nil {
						quiet(ctx)
					}
				}
				if p.Rank() == 1 { // it comes when the others have given up
					time.Sleep(time.Minute) // sleep: in the time of the bubble
				}
				for range 2 {
					if err := call(ctx, p.World()); !names(err, 1) && !names(err, 2) && (p.Rank() != 1 || !errors.Is(err, gaspi.ErrRankDead)) {
						return fmt.Errorf("%v, want an error that names rank 1 or 2, or of rank 1 another", err)
					}
				}
				quiet(ctx) // others may not have looked at this rank's words yet
				return nil
			})
		})
	}
}

// Goal: Revoke of a group tells all its members also if the caller's group was revoked already,
// with another one that not all of them have named in RevokeWith.
func TestRevokeOfALinkedGroupIsTold(t *testing.T) {
	bubble(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		parent, g := must(p.World().Dup(ctx, 0)), must(p.World().Dup(ctx, 0))
		if p.Rank() < 2 {
			ok(g.RevokeWith(parent))
		}
		if p.Rank() == 3 {
			synctest.Wait()
			ok(parent.Revoke(nil))
		}
		if p.Rank() < 2 {
			if err := p.Barrier(ctx, g); !errors.Is(err, gaspi.ErrRevoked) {
				return fmt.Errorf("with the other group: %v, want ErrRevoked", err)
			}
			ok(g.Revoke(errStops))
		}
		quiet(ctx)
		if err := p.Barrier(ctx, g); !errors.Is(err, gaspi.ErrRevoked) {
			return fmt.Errorf("rank %d: %v, want ErrRevoked", p.Rank(), err)
		}
		return nil
	})
}

// Goal: wherever a Dup ends early at one member, whose group is then deleted, no later group gets
// a place there that others have a group in: they may write to it.
func TestDeleteAfterDupKeepsThePlaceOfOthers(t *testing.T) {
	for cutAt := range gaspi.Rank(3) {
		t.Run(fmt.Sprint("rank ", cutAt), func(t *testing.T) {
			cut := true
			for looks := 1; cut; looks++ {
				cut = false
				var theirs [3]string // by rank; places of one Dup are equal
				bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
					g := must(p.World().Dup(ctx, 0))
					limited := ctx
					if p.Rank() == cutAt {
						limited = ranktest.EndAfter(ctx, looks)
					}
					dup, err := g.Dup(limited, 0)
					if p.Rank() != cutAt {
						if err == nil {
							theirs[p.Rank()] = dup.String()
						}
						return p.Barrier(ctx, p.World())
					}
					cut = err != nil
					if cut {
						quiet(ctx)
						ok(g.Revoke(nil))
					}
					ok(g.Delete())
					ok(p.Barrier(ctx, p.World()))
					for later, err := p.NewGroup(0); cut && err == nil; later, err = p.NewGroup(0) {
						if slices.Contains(theirs[:], later.String()) {
							return fmt.Errorf("look %d: a new group has the place of %v, which another member has made", looks, later)
						}
					}
					return nil
				})
			}
		})
	}
}
