package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// together calls f once for each of n in a goroutine of its own, in a random order, and
// returns the first error.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for _, i := range rand.Perm(n) {
		all.Go(func() {
			defer func() {
				if bug := recover(); bug != nil {
					errs[i] = fmt.Errorf("goroutine %d: %v", i, bug)
				}
			}()
			errs[i] = f(i)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Each rank creates the same segments over the world, each in a goroutine of its own.
func TestGASPIConcurrentCreateSegmentInAnyOrder(t *testing.T) {
	for _, n := range []int{2, 3, 18} {
		bubble(t, n, func(ctx context.Context, p *gaspi.Proc) error {
			next := (p.Rank() + 1) % gaspi.Rank(n)
			for range 10 {
				var segs [7]*gaspi.Segment
				ok(together(len(segs), func(i int) (err error) {
					segs[i], err = p.CreateSegment(ctx, gaspi.SegmentID(i), uint64(8+8*i))
					return err
				}))
				for i, s := range segs {
					value := gaspi.Value(100 + i)
					ok(p.MustQueue(0).Notify(s.At(next, 0), gaspi.Notification{ID: 0, Value: value}))
					ok(p.MustQueue(0).Wait(ctx))
					if got := await(ctx, s, 0); got != value || s.ID() != gaspi.SegmentID(i) {
						return fmt.Errorf("segment %d, of id %d, has %d; want %d", i, s.ID(), got, value)
					}
				}
				ok(p.Barrier(ctx, p.World()))
				for _, s := range segs {
					ok(s.Delete())
				}
			}
			return p.Barrier(ctx, p.World())
		})
	}
}

// The first member begins segment 3, and rank 1 calls for segment 5, which waits and says
// for what. The same call goes on when its turn has come.
func TestFirstMemberDecidesTheOrder(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			limited, cancel := soon(ctx)
			defer cancel()
			_, err := p.CreateSegment(limited, 5, 64)
			want := "waiting for its turn: rank 0 has begun the creation of segment 3 over the group, which no goroutine here has called"
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("got %v, want %q", err, want)
			}
		}
		must(p.CreateSegment(ctx, 3, 64))
		must(p.CreateSegment(ctx, 5, 64))
		return p.Barrier(ctx, p.World())
	})
}

// A creation that ended early holds up the next, which says so, and both can be finished.
func TestCreationWaitsForOneThatEndedEarly(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		control := must(p.CreateSegment(ctx, 7, 8))
		calls := []func(ctx context.Context) error{
			func(ctx context.Context) error { _, err := p.CreateSegment(ctx, 0, 64); return err },
			func(ctx context.Context) error { _, err := p.CreateSegment(ctx, gaspi.AnySegment, 64); return err },
			func(ctx context.Context) error { _, err := p.World().Dup(ctx, 4); return err },
		}
		said := []string{"segment_create of segment 0", "segment_create of AnySegment of 64 bytes with tag 0", "group_dup with tag 4"}
		for i, first := range calls {
			second := calls[(i+1)%len(calls)]
			if p.Rank() == 0 {
				limited, cancel := soon(ctx)
				if err := first(limited); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for rank 1") {
					return fmt.Errorf("%s alone: %v, want the deadline, and rank 1", said[i], err)
				}
				cancel()
				limited, cancel = soon(ctx)
				err := second(limited)
				cancel()
				want := "waiting for " + said[i] + ", which ended early on this group and is to be finished first"
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, gaspi.ErrInUse) || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("got %v, want the deadline, ErrInUse, and %q", err, want)
				}
				tell(p, control, 1, 0)
			} else {
				await(ctx, control, 0)
			}
			ok(together(2, func(k int) error { return []func(context.Context) error{first, second}[k](ctx) }))
			for _, id := range p.Segments() {
				if id != 7 {
					ok(p.DeleteSegment(id))
				}
			}
			ok(p.Barrier(ctx, p.World()))
		}
		return nil
	})
}

// All kinds of calls, made by testing alone, in two goroutines at a time.
func TestCallsOfSeveralGoroutinesFinishByPolling(t *testing.T) {
	ranktest.Local(t, 5, small, func(ctx context.Context, p *gaspi.Proc) error {
		return together(2, func(i int) error {
			tag := gaspi.Tag(i)
			for range 5 {
				var g *gaspi.Group
				ok(poll(func(ctx context.Context) (err error) { g, err = p.World().Dup(ctx, tag); return err }))
				var named, drawn *gaspi.Segment
				ok(poll(func(ctx context.Context) (err error) {
					named, err = p.CreateSegment(ctx, gaspi.SegmentID(i), 64)
					return err
				}))
				ok(poll(func(ctx context.Context) (err error) {
					drawn, err = p.CreateSegment(ctx, gaspi.AnySegment, 64, gaspi.WithTag(tag))
					return err
				}))
				ok(poll(func(ctx context.Context) error { return p.Barrier(ctx, g) }))
				ok(named.Delete())
				ok(drawn.Delete())
				ok(g.Delete())
			}
			return nil
		})
	})
}

// Rank 1 dies while goroutines of the others are in all kinds of calls, most of which
// have not had their turn. None is left waiting.
func TestDeathEndsAllThatWaitForTheirTurn(t *testing.T) {
	for name, victim := range map[string]gaspi.Rank{"the first": 0, "another": 1} {
		t.Run(name, func(t *testing.T) {
			mortals(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
				ok(p.Barrier(ctx, p.World()))
				if p.Rank() == victim {
					quiet(ctx)
					return errDies
				}
				return together(8, func(i int) (err error) {
					switch i % 4 {
					case 0:
						_, err = p.CreateSegment(ctx, gaspi.SegmentID(i), 64)
					case 1:
						_, err = p.CreateSegment(ctx, gaspi.AnySegment, 64, gaspi.WithTag(gaspi.Tag(i)))
					case 2:
						_, err = p.World().Dup(ctx, gaspi.Tag(i))
					case 3:
						err = must(p.NewGroup(0, 1, 2, 3)).Commit(ctx)
					}
					if !names(err, victim) {
						return fmt.Errorf("call %d: %v, want a RankError about rank %d", i, err, victim)
					}
					return nil
				})
			})
		})
	}
}

// A member that has left will not take part any more, also where another's call has the turn.
func TestLeavingEndsAllThatWaitForTheirTurn(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			return nil
		}
		defer quiet(ctx) // the other one hears of no end but that of rank 1
		return together(3, func(i int) error {
			if _, err := p.CreateSegment(ctx, gaspi.SegmentID(i), 64); !names(err, 1) {
				return fmt.Errorf("segment %d: %v, want a RankError about rank 1", i, err)
			}
			return nil
		})
	})
}

// Members agree on the highest id that is free on all of them, also where each has other ones.
func TestGASPIConcurrentAnySegmentIsFreeOnAllMembers(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		for _, id := range [][]gaspi.SegmentID{{7, 4}, {6, 1}, {5, 0}}[p.Rank()] {
			must(p.AllocSegment(id, 8))
		}
		first := must(p.CreateSegment(ctx, gaspi.AnySegment, 8))
		second := must(p.UseSegment(ctx, gaspi.AnySegment, make([]byte, 64)))
		if first.ID() != 3 || second.ID() != 2 {
			return fmt.Errorf("ids %d and %d, want 3 and 2", first.ID(), second.ID())
		}
		if _, err := p.CreateSegment(ctx, gaspi.AnySegment, 8); !errors.Is(err, gaspi.ErrTooMany) {
			return fmt.Errorf("with no id free on all members: %v, want ErrTooMany", err)
		}
		ok(p.Barrier(ctx, p.World()))
		ok(first.Delete())
		if s := must(p.CreateSegment(ctx, gaspi.AnySegment, 8)); s.ID() != 3 {
			return fmt.Errorf("id %d, want 3", s.ID())
		}
		return p.Barrier(ctx, p.World())
	})
}

// A failure of one member to make memory is an error on all, and leaves nothing behind.
func TestAnySegmentFailsTogether(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		size := uint64(64)
		if p.Rank() == 1 {
			size = 1 << 62
		}
		_, err := p.CreateSegment(ctx, gaspi.AnySegment, size)
		if err == nil || p.Rank() != 1 && (!errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), "rank 1 cannot take part")) {
			return fmt.Errorf("got %v", err)
		}
		if ids := p.Segments(); len(ids) > 0 {
			return fmt.Errorf("segments %v are left", ids)
		}
		if s := must(p.CreateSegment(ctx, gaspi.AnySegment, 64)); s.ID() != 7 {
			return fmt.Errorf("id %d, want 7", s.ID())
		}
		return p.Barrier(ctx, p.World())
	})
}

// Calls over a group and calls over its copies do not match each other.
func TestGASPIDupIsAGroupOfItsOwn(t *testing.T) {
	for _, n := range []int{1, 2, 5, 17} {
		bubble(t, n, func(ctx context.Context, p *gaspi.Proc) error {
			var groups [5]*gaspi.Group
			ok(together(len(groups), func(i int) (err error) { groups[i], err = p.World().Dup(ctx, gaspi.Tag(i)); return err }))
			ok(together(len(groups), func(i int) error {
				g := groups[i]
				for round := range 20 {
					x := []int64{int64(i), int64(p.Rank())}
					ok(gaspi.AllReduce(ctx, g, x, x, gaspi.Sum))
					if x[0] != int64(n*i) || x[1] != int64(n*(n-1)/2) || !slices.Equal(g.Ranks(), p.World().Ranks()) {
						return fmt.Errorf("copy %d, round %d: sums %v over %v", i, round, x, g.Ranks())
					}
					ok(p.Barrier(ctx, g))
				}
				ok(g.Delete())
				return nil
			}))
			return p.Barrier(ctx, p.World())
		})
	}
}

// One member without a free place is an error on all.
func TestDupFailsTogether(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		var full []*gaspi.Group
		for p.Rank() == 2 && len(full) < 7 {
			full = append(full, must(p.NewGroup()))
		}
		if _, err := p.World().Dup(ctx, 0); !errors.Is(err, gaspi.ErrTooMany) || !strings.Contains(err.Error(), "group number of the 8 of Config.Groups is free on all members") {
			return fmt.Errorf("got %v, want ErrTooMany", err)
		}
		if len(full) > 0 {
			ok(full[3].Delete())
		}
		ok(p.Barrier(ctx, must(p.World().Dup(ctx, 0))))
		if _, err := p.World().Dup(ctx, 1<<28); !errors.Is(err, gaspi.ErrOutOfRange) {
			return fmt.Errorf("a tag of 1<<28: %v, want ErrOutOfRange", err)
		}
		return nil
	})
}

// Draws of groups that share members, of all but a few of the numbers there are.
func TestDrawsThatMeet(t *testing.T) {
	const n = 4
	ranktest.Local(t, n, small, func(ctx context.Context, p *gaspi.Proc) error {
		pair := func(a, b gaspi.Rank) *gaspi.Group {
			if p.Rank() != a && p.Rank() != b {
				return nil
			}
			g := must(p.NewGroup(a, b))
			ok(g.Commit(ctx))
			return g
		}
		groups := []*gaspi.Group{pair(0, 1), pair(1, 2), pair(2, 3), pair(0, 3), p.World()}
		for range 50 {
			ok(together(len(groups), func(i int) error {
				if groups[i] != nil {
					must(p.CreateSegment(ctx, gaspi.AnySegment, 8, gaspi.Over(groups[i])))
				}
				return nil
			}))
			ok(p.Barrier(ctx, p.World()))
			for _, id := range p.Segments() {
				ok(p.DeleteSegment(id))
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// Every group of two or more of the ranks, each committed in a goroutine of its own, in
// another order at each rank.
func TestGASPIConcurrentCommitInAnyOrder(t *testing.T) {
	const n = 4
	cfg := small
	cfg.Groups, cfg.Spin, cfg.Yield = 24, -1, -1
	err := gaspi.Local(t.Context(), n, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		for round := range 20 {
			err := together(1<<n, func(bits int) error {
				g := must(p.NewGroup())
				for r := range gaspi.Rank(n) {
					if bits>>r&1 == 1 {
						ok(g.Add(r))
					}
				}
				if _, member := g.Rank(); !member {
					return g.Delete()
				}
				ok(g.Commit(ctx))
				x := []int64{1 << p.Rank()}
				ok(gaspi.AllReduce(ctx, g, x, x, gaspi.Sum))
				if x[0] != int64(bits) {
					return fmt.Errorf("round %d: sum %b over %v", round, x[0], g.Ranks())
				}
				ok(p.Barrier(ctx, g))
				return g.Delete()
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Groups of equal ranks are committed one after the other.
func TestCommitsOfEqualRanksWait(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		control := must(p.CreateSegment(ctx, 7, 8))
		first, second := must(p.NewGroup(0, 1)), must(p.NewGroup(1, 0))
		if p.Rank() == 0 {
			for i, g := range []*gaspi.Group{first, second} {
				limited, cancel := soon(ctx)
				err := g.Commit(limited)
				cancel()
				want := []string{"rank 1 to commit the same ranks", "another group of the same ranks, whose Commit is to be finished first"}[i]
				if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for "+want) {
					return fmt.Errorf("commit %d alone: %v, want the deadline, and %q", i, err, want)
				}
			}
			tell(p, control, 1, 0)
		} else {
			await(ctx, control, 0)
		}
		ok(first.Commit(ctx))
		ok(second.Commit(ctx))
		return together(2, func(i int) error { return p.Barrier(ctx, []*gaspi.Group{first, second}[i]) })
	})
}

// The number of a group is not given to another while members may still write to its slots.
func TestDeleteOfAGroupWhoseBarrierEndedEarly(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		g := must(p.World().Dup(ctx, 0))
		if p.Rank() == 0 {
			limited, cancel := soon(ctx)
			defer cancel()
			if err := p.Barrier(limited, g); !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			ok(g.Delete())
		}
		next := must(p.World().Dup(ctx, 0))
		if g.String() == next.String() {
			return fmt.Errorf("%v was given again", g)
		}
		return p.Barrier(ctx, next)
	})
}

// One goroutine at a time is in a barrier of a group, or in a reduction.
func TestGASPIErrActiveCollOfASecondGoroutine(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		calls := []func() error{
			func() error { return p.Barrier(ctx, p.World()) },
			func() error { x := []int64{1}; return gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum) },
		}
		for i, call := range calls {
			if p.Rank() == 1 {
				quiet(ctx)
				ok(call())
				continue
			}
			inside := make(chan error, 1)
			go func() { inside <- call() }()
			limited, cancel := context.WithTimeout(ctx, 1)
			<-limited.Done() // it sleeps in the call
			cancel()
			if err := call(); !errors.Is(err, gaspi.ErrInUse) || !strings.Contains(err.Error(), "use a group for each, made by Dup") {
				return fmt.Errorf("call %d from a second goroutine: %v, want ErrInUse", i, err)
			}
			ok(<-inside)
		}
		return nil
	})
}

// A call can end early just as the turn becomes free. The first member has no parent to wait for.
func TestFreeTurnComesTooLate(t *testing.T) {
	ranktest.Local(t, 3, small, func(ctx context.Context, p *gaspi.Proc) error {
		want := "waiting for rank 0, to begin the call"
		if p.Rank() == 0 {
			want = "waiting for its turn, which another goroutine had"
		}
		if err := p.World().FailTurn(context.Canceled); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got %v, want %q", err, want)
		}
		return nil
	})
}
