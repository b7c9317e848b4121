package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/google/go-cmp/cmp"
)

// needOthers are calls of ranks 0 and 2 that need rank 1, which makes none of them.
var needOthers = []struct {
	name string
	call func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error
}{
	{"barrier", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error { return p.Barrier(ctx, p.World()) }},
	{"allreduce", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error {
		return gaspi.AllReduce(ctx, p.World(), []int32{1}, []int32{1}, gaspi.Sum)
	}},
	{"waitsome", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error {
		_, err := s.WaitSome(ctx, 0, 64)
		return err
	}},
	{"waitall", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error { return s.WaitAll(ctx, 0, 2) }},
	{"waituntil", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error {
		return s.WaitUntil(ctx, 0, gaspi.AtLeast, 2)
	}},
	{"passive send", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error {
		return p.PassiveSend(ctx, 1, must(s.Span(0, 8)))
	}},
	{"passive receive", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error {
		_, _, err := p.PassiveReceive(ctx, must(s.Span(0, 8)))
		return err
	}},
	{"group commit", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error {
		return must(p.NewGroup(0, 1, 2)).Commit(ctx)
	}},
	{"segment create", func(ctx context.Context, p *gaspi.Proc, s *gaspi.Segment) error {
		_, err := p.CreateSegment(ctx, 1, 64)
		return err
	}},
}

// GPI-2 times out for ever in a barrier with a dead rank and calls it healthy.
//
// In each case ranks 0 and 2 block in a call, and rank 1 dies when both sleep:
// each call must end with an error that names rank 1.
func TestGASPIDifference5DeadRankEndsWhatNeedsIt(t *testing.T) {
	for _, c := range needOthers {
		t.Run(c.name, func(t *testing.T) {
			mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
				s := must(p.CreateSegment(ctx, 0, 64))
				if p.Rank() == 1 {
					synctest.Wait()
					return errDies
				}
				err := c.call(ctx, p, s)
				if !names(err, 1) || !strings.Contains(err.Error(), errDies.Error()) {
					return fmt.Errorf("got %v, want a RankError about rank 1 and its reason", err)
				}
				if d := cmp.Diff([]gaspi.Health{gaspi.Healthy, gaspi.Corrupt, gaspi.Healthy}, p.State()); d != "" {
					return fmt.Errorf("state (-want +got):\n%s", d)
				}
				if why := p.Failure(1); why == nil || why.Rank != 1 {
					return fmt.Errorf("failure of rank 1: %v", why)
				}
				return nil
			})
		})
	}
}

// knowsOfDeath returns once this rank has learned that rank 1 is dead.
func knowsOfDeath(ctx context.Context, s *gaspi.Segment) {
	if _, err := s.WaitSome(ctx, 63, 1); !names(err, 1) {
		panic(fmt.Sprintf("a wait when rank 1 dies: %v", err))
	}
}

func TestGASPIDifference10OperationsWithADeadRankNameIt(t *testing.T) {
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 1 {
			synctest.Wait()
			return errDies
		}
		knowsOfDeath(ctx, s)
		q, src, n := p.MustQueue(0), must(s.Span(0, 8)), gaspi.Notification{ID: 1, Value: 1}
		list := []gaspi.Transfer{{Local: src, Remote: s.At(1, 0)}}
		_, addErr := p.FetchAdd(ctx, s.At(1, 0), 1)
		_, _, sizeErr := p.RemoteSize(1, 0)
		for name, err := range map[string]error{
			"write": q.Write(s.At(1, 0), src), "write_notify": q.WriteNotify(s.At(1, 0), src, n),
			"notify": q.Notify(s.At(1, 0), n), "read": q.Read(src, s.At(1, 0)),
			"read_notify": q.ReadNotify(src, s.At(1, 0), n), "write_list": q.WriteList(list),
			"read_list": q.ReadList(list), "write_list_notify": q.WriteListNotify(list, s.At(1, 0), n),
			"flush": q.Flush(ctx, 1), "fetch_add": addErr, "size": sizeErr, "ping": p.Ping(ctx, 1),
			"passive_send": p.PassiveSend(ctx, 1, src), "barrier": p.Barrier(ctx, p.World()),
			"allreduce": gaspi.AllReduce(ctx, p.World(), []int8{1}, []int8{1}, gaspi.Sum),
		} {
			if !names(err, 1) {
				t.Errorf("%s: got %v, want a RankError about rank 1", name, err)
			}
		}
		if _, mapped := s.Mapped(1, 0, 8); mapped {
			t.Error("memory of a dead rank is still offered")
		}
		// With those that live all goes on.
		other := 2 - p.Rank()
		ok(q.Wait(ctx))
		ok(q.Write(s.At(other, 8), src))
		ok(q.Flush(ctx, other))
		ok(p.Ping(ctx, other))
		quiet(ctx) // until the other has looked too
		return nil
	})
}

func TestGASPIStateVecGetAndReset(t *testing.T) {
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 1 {
			synctest.Wait()
			return errDies
		}
		knowsOfDeath(ctx, s)
		if _, err := s.WaitSome(ctx, 0, 8); !names(err, 1) {
			return fmt.Errorf("a second wait: %v; it should end until the state is reset", err)
		}
		ok(p.ResetState())
		if !healthy(p) {
			return fmt.Errorf("state after a reset: %v", p.State())
		}
		if p.Rank() == 0 {
			limited, cancel := soon(ctx)
			defer cancel()
			if _, err := s.WaitSome(limited, 0, 8); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a wait after the reset: %v, want the deadline", err)
			}
			tell(p, s, 2, 3)
			await(ctx, s, 4)
		} else {
			await(ctx, s, 3)
			tell(p, s, 0, 4)
		}
		// The rank is still dead, and corrupt again when somebody needs it.
		if err := p.Barrier(ctx, p.World()); !names(err, 1) || p.State()[1] != gaspi.Corrupt {
			return fmt.Errorf("barrier of all after a reset: %v, state %v", err, p.State())
		}
		ok(p.ResetState(1))
		if !healthy(p) {
			return fmt.Errorf("state after a reset of rank 1: %v", p.State())
		}
		if err := p.ResetState(3); !errors.Is(err, gaspi.ErrBadRank) {
			return fmt.Errorf("reset of rank 3 of 3: %v", err)
		}
		// An operation to a rank that has left makes it corrupt: neither leaves before both have looked.
		tell(p, s, 2-p.Rank(), 5)
		await(ctx, s, 5)
		return nil
	})
}

// A call that a death has ended early cannot be finished: another call of the group ends
// with the death too, and does not ask for the first one.
func TestOtherCallsOfAGroupEndAfterADeath(t *testing.T) {
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			synctest.Wait()
			return errDies
		}
		_, first := p.CreateSegment(ctx, 0, 64)
		_, second := p.UseSegment(ctx, 1, make([]byte, 64))
		x, y := []int64{1}, []float32{1, 2}
		third := gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum)
		for name, err := range map[string]error{
			"create": first, "use": second, "allreduce": third, "another allreduce": gaspi.AllReduce(ctx, p.World(), y, y, gaspi.Sum),
		} {
			if !names(err, 1) {
				t.Errorf("%s: got %v, want a RankError about rank 1", name, err)
			}
		}
		quiet(ctx) // until the other has looked too
		return nil
	})
}

// Rank 1 begins to commit with rank 2, which dies. Rank 0 already knows, and
// commits without it: rank 1 must not wait for rank 0 to join its group.
func TestCommitEndsWhenAnyMemberDies(t *testing.T) {
	mortals(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		switch p.Rank() {
		case 2:
			synctest.Wait() // rank 1 waits for the record of rank 0, which comes first
			return errDies
		case 1:
			if err := must(p.NewGroup(0, 1, 2)).Commit(ctx); !names(err, 2) {
				return fmt.Errorf("commit with a rank that died: %v, want a RankError about rank 2", err)
			}
		case 0:
			quiet(ctx)
		}
		alive := must(p.NewGroup(0, 1))
		ok(alive.Commit(ctx))
		return p.Barrier(ctx, alive)
	})
}

func TestSurvivorsFormAGroupAndGoOn(t *testing.T) {
	const n = 5
	mortals(t, n, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 1 {
			synctest.Wait()
			return errDies
		}
		if err := p.Barrier(ctx, p.World()); !names(err, 1) {
			return fmt.Errorf("barrier: %v", err)
		}
		ok(p.ResetState())
		alive := must(p.NewGroup())
		for r := range gaspi.Rank(n) {
			if p.Failure(r) == nil {
				ok(alive.Add(r))
			}
		}
		ok(alive.Commit(ctx))
		for round := range int64(10) {
			x := []int64{round}
			ok(gaspi.AllReduce(ctx, alive, x, x, gaspi.Sum))
			if x[0] != (n-1)*round {
				return fmt.Errorf("round %d: sum %d of %d survivors", round, x[0], n-1)
			}
			ok(p.Barrier(ctx, alive))
		}
		more := must(p.CreateSegment(ctx, 1, 8, gaspi.Over(alive)))
		me, member := alive.Rank()
		next := alive.Ranks()[(me+1)%alive.Size()]
		ok(p.MustQueue(0).WriteNotify(more.At(next, 0), must(s.Span(0, 8)), gaspi.Notification{ID: 9, Value: 1}))
		await(ctx, more, 9)
		if !member || !healthy(p) {
			return fmt.Errorf("state %v", p.State())
		}
		return p.Barrier(ctx, alive)
	})
}

// A rank that returned nil has done its part. A rank that needs nothing of it must not notice;
// a rank that waits for it alone must not wait for ever.
func TestGASPIDifference18RankThatLeftDisturbsNobody(t *testing.T) {
	bubble(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		three := must(p.NewGroup(0, 1, 2))
		if p.Rank() < 3 {
			ok(three.Commit(ctx))
		}
		ok(p.Barrier(ctx, p.World()))
		if p.Rank() == 3 {
			return nil
		}
		quiet(ctx) // rank 3 has left, and all have learned of it
		next := (p.Rank() + 1) % 3
		for range 5 {
			ok(p.Barrier(ctx, three))
			ok(p.MustQueue(0).Notify(s.At(next, 0), gaspi.Notification{ID: 1, Value: 1}))
			await(ctx, s, 1)
			x := []int64{1}
			ok(gaspi.AllReduce(ctx, three, x, x, gaspi.Sum))
		}
		if !healthy(p) {
			return fmt.Errorf("state %v: rank 3 left, nothing is wrong", p.State())
		}
		if err := p.Barrier(ctx, p.World()); !names(err, 3) || !strings.Contains(err.Error(), "without an error") {
			return fmt.Errorf("barrier with a rank that left: %v, want a RankError about rank 3", err)
		}
		if err := p.PassiveSend(ctx, 3, must(s.Span(0, 8))); !names(err, 3) {
			return fmt.Errorf("passive message to a rank that left: %v, want a RankError about rank 3", err)
		}
		return p.Barrier(ctx, three)
	})
}

func TestLastRankDoesNotWaitForEver(t *testing.T) {
	bubble(t, 3, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() > 0 {
			tell(p, s, 0, gaspi.NotificationID(p.Rank()))
			return nil
		}
		synctest.Wait()
		await(ctx, s, 1) // what they posted before they left is not lost
		await(ctx, s, 2)
		if _, err := s.WaitSome(ctx, 0, 8); !names(err, 1) {
			return fmt.Errorf("got %v, want a RankError about rank 1", err)
		}
		// A program that knows it may wait for its own goroutines.
		ok(p.ResetState())
		var told sync.WaitGroup
		defer told.Wait() // it has not done with its queue when the notification is there
		told.Go(func() { tell(p, s, 0, 5) })
		_, err := s.WaitSome(ctx, 0, 8)
		return err
	})
}

// Only ranks that a segment is registered with can write there, so only their
// end can be a reason to stop waiting.
func TestWaitsCareForThoseWhoCanWrite(t *testing.T) {
	mortals(t, 4, func(ctx context.Context, p *gaspi.Proc) error {
		two := must(p.NewGroup(0, 1))
		own := must(p.AllocSegment(1, 64))
		if p.Rank() > 1 {
			ok(p.Barrier(ctx, p.World()))
			if p.Rank() == 2 {
				synctest.Wait() // nobody is in the barrier any more
				return errDies
			}
			return nil
		}
		ok(two.Commit(ctx))
		s := must(p.CreateSegment(ctx, 0, 64, gaspi.Over(two)))
		ok(p.Barrier(ctx, p.World()))
		quiet(ctx) // rank 2 has died, rank 3 has left
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		for _, seg := range []*gaspi.Segment{s, own} {
			if _, err := seg.WaitSome(short, 0, 8); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("waiting where rank 2 cannot write: %v, want the end of the context", err)
			}
		}
		ok(p.Barrier(ctx, two))
		if p.Rank() == 1 {
			synctest.Wait()
			return errDies
		}
		if _, err := s.WaitSome(ctx, 0, 8); !names(err, 1) {
			return fmt.Errorf("got %v, want a RankError about rank 1", err)
		}
		return nil
	})
}

func TestGASPIProcKill(t *testing.T) {
	cfg := small
	cfg.Spin, cfg.Yield = -1, -1
	synctest.Test(t, func(t *testing.T) {
		err := gaspi.Local(t.Context(), 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
			s := must(p.CreateSegment(ctx, 0, 64))
			if p.Rank() == 1 {
				_, err := s.WaitSome(ctx, 0, 1)
				return err
			}
			if p.Rank() == 0 {
				synctest.Wait()
				for r, want := range map[gaspi.Rank]error{0: gaspi.ErrBadRank, 3: gaspi.ErrBadRank, -1: gaspi.ErrBadRank, 1: nil} {
					if err := p.Kill(ctx, r); !errors.Is(err, want) || (err == nil) != (want == nil) {
						t.Errorf("kill rank %d: %v, want %v", r, err, want)
					}
				}
				ok(p.Kill(ctx, 1)) // it is gone already
			}
			if err := p.Barrier(ctx, p.World()); !names(err, 1) || !strings.Contains(err.Error(), "killed") {
				t.Errorf("barrier with a rank that was killed: %v", err)
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "rank 1: killed") {
			t.Errorf("the job ended with %v, want to read that rank 1 was killed", err)
		}
	})
}

// Without KeepGoing a failure ends the job, also one that Kill brought about,
// and the job does not end as if nothing had been.
func TestGASPISpinKeepGoingAfterAFailure(t *testing.T) {
	for _, way := range []string{"error", "panic", "kill"} {
		t.Run(way, func(t *testing.T) {
			cfg := small
			cfg.KeepGoing, cfg.Spin, cfg.Yield = false, -1, -1
			synctest.Test(t, func(t *testing.T) {
				err := gaspi.Local(t.Context(), 4, cfg, func(ctx context.Context, p *gaspi.Proc) error {
					switch {
					case p.Rank() == 2 && way == "error":
						return errDies
					case p.Rank() == 2 && way == "panic":
						panic(errDies)
					case p.Rank() == 0 && way == "kill":
						ok(p.Kill(ctx, 2))
					}
					<-ctx.Done()
					if cause := context.Cause(ctx); p.Rank() != 2 && (cause == nil || !strings.Contains(cause.Error(), "rank 2")) {
						t.Errorf("rank %d: the cause is %v, want rank 2", p.Rank(), cause)
					}
					return ctx.Err()
				})
				if len(unjoin(err)) != 1 || !strings.HasPrefix(err.Error(), "rank 2: ") {
					t.Errorf("got %v, want the error of rank 2 alone", err)
				}
			})
		})
	}
}
