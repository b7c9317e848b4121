package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Mistakes of implementers of GASPI, in the words of a survey of GPI-2 and its users, each with
// the tests that exclude it here.
//
//	 1 a full queue: not issued, no fault        TestGASPIQueueFullIsNoFault, TestQueueFullAllocatesNothing
//	   lists all or nothing                      TestGASPIDifference11ListsAreAllOrNothing
//	   one entry for a write_notify              TestGASPIWriteNotifyTakesOneEntry, TestGASPIDifference1QueueHoldsItsDepth
//	 2 wait is local, flush is arrival           TestGASPINotifyShowsTheDataBeforeIt (its case with flush)
//	 3 notify is a fence for earlier writes      TestGASPINotifyShowsTheDataBeforeIt
//	 4 the flag after all bytes, never torn      TestResetAloneShowsTheData, TestProcessesSeeTheDataBehindTheFlag
//	 5 reset is one exchange                     TestGASPINotifyResetHandsOutEachValueOnce
//	 6 slots overwrite; 0 is refused             TestSlotKeepsLastValue, TestGASPIErrorNamesWhatIsWrong
//	 7 waitsome: none, no reset, no starvation   TestWaitSomeOfNothing, TestGASPINotifyWaitsomeNeitherResetsNorStarves,
//	                                             TestGASPITimeoutLetsWaitsGoOn
//	 8 a collective that timed out goes on       TestGASPIDifference19AllReduceKeepsItsFirstContribution,
//	                                             TestGASPIConcurrentBarrierAndAllReduce, TestCollectivesFinishByPollingAlone
//	 9 creation and commit go on                 TestGASPISegmentCreateIsResumed, TestGASPIGroupCommitIsResumed
//	   passive sends are withdrawn exactly       TestGASPIPassiveSendIsWithdrawnExactly, TestCloseWithdrawsPassiveMessages
//	10 an ended context tests once               TestCollectivesFinishByPollingAlone, TestEndedContextStillDoesItsPart
//	11 atomics share no lock, and are aligned    TestAtomicWhileBarrierBlocks, TestGASPIAtomicFetchAddUnderContention,
//	                                             TestUnalignedAtomicIsRefused
//	12 ranks of groups are not ranks of the job  TestGASPIGroupRanksAreTheGroupsOwn, TestGASPIDifference2GroupsThatShareMembers
//	   deleting renumbers no other               TestGASPIGroupCreateAndDeleteRenumberNoOther
//	   other ranks are no match                  TestCommitOfDifferentRanksIsNotMistakenForOne
//	13 late writes go nowhere                    TestLateWriteNeverLandsInTheNewSegment
//	   registering tells nobody                  TestGASPISegmentRegisterLetsOneRankIn
//	14 bounds                                    TestGASPIErrInvLocOffPastTheEnd
//	15 a dead peer ends what needs it            TestGASPIDifference5DeadRankEndsWhatNeedsIt, TestGASPIDifference10OperationsWithADeadRankNameIt,
//	                                             TestSurvivorsFormAGroupAndGoOn, TestSurvivorsOfAKilledProcessGoOn
//	   and there is a way back                   TestGASPIStateVecGetAndReset
//	16 a time limit is no evidence of death      TestTimeLimitsMakeNobodyCorrupt
//	17 a wait is not prolonged by other posters  TestGASPIDifference8WaitIsNotProlonged
//	18 own rank and size 0                       TestGASPIDifference7SelfAndZeroSizeTakeNoEntry
//	19 the end does not hang                     TestCloseEndsWaitsUnderWay, TestLeavingRightAfterABarrierDisturbsNobody,
//	                                             TestGASPIDifference18RankThatLeftDisturbsNobody, TestJobsLeaveNoGoroutine
//	20 widths of types: of a C interface alone
//	21 the launcher                              package launcher's tests
//
// And what was measured on GPI-2 itself, beyond those: TestGASPIAllreduceElemMaxIsConfigurable,
// TestInitIsQuick, TestWaitingProcessUsesNoCore.

// A call whose context has ended is what the standard calls GASPI_TEST: it does
// what can be done without waiting.
func TestEndedContextStillDoesItsPart(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 1 {
			// Its signal is sent at this one call, so that rank 0 can leave.
			if err := p.Barrier(ended(), p.World()); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("barrier of rank 1 alone: %v", err)
			}
			tell(p, s, 0, 0)
			await(ctx, s, 1)
			ok(p.Barrier(ended(), p.World())) // what it waited for is there
			await(ctx, s, 2)
			return nil
		}
		await(ctx, s, 0)
		ok(p.Barrier(ended(), p.World()))
		tell(p, s, 1, 1)
		if err := p.MustQueue(0).Wait(ended()); err != nil {
			return fmt.Errorf("wait on a queue where all is done: %v", err)
		}
		if _, err := p.FetchAdd(ended(), s.At(1, 0), 1); err != nil {
			return fmt.Errorf("atomic that need not wait: %v", err)
		}
		tell(p, s, 1, 2)
		return nil
	})
}

func TestTimeLimitsMakeNobodyCorrupt(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 1 {
			await(ctx, s, 0)
			return nil
		}
		span, x := must(s.Span(0, 8)), []int8{1}
		for name, call := range map[string]func(ctx context.Context) error{
			"barrier":   func(ctx context.Context) error { return p.Barrier(ctx, p.World()) },
			"allreduce": func(ctx context.Context) error { return gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum) },
			"waitsome":  func(ctx context.Context) error { _, err := s.WaitSome(ctx, 1, 4); return err },
			"send":      func(ctx context.Context) error { return p.PassiveSend(ctx, 1, span) },
			"receive":   func(ctx context.Context) error { _, _, err := p.PassiveReceive(ctx, span); return err },
			"create":    func(ctx context.Context) error { _, err := p.CreateSegment(ctx, 2, 8); return err },
		} {
			limited, cancel := soon(ctx)
			if err := call(limited); !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("%s alone: %v, want the deadline", name, err)
			}
			cancel()
			if !healthy(p) {
				return fmt.Errorf("state %v after %s ran out of time", p.State(), name)
			}
		}
		ok(p.Ping(ctx, 1))
		tell(p, s, 1, 0)
		return nil
	})
}

// Others post without pause while one waits, again and again: the wait ends.
func TestGASPIDifference8WaitIsNotProlonged(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		q, src := p.MustQueue(0), must(s.Span(0, 8))
		var over atomic.Bool
		var posters sync.WaitGroup
		if p.Rank() == 0 {
			for i := range uint64(3) {
				posters.Go(func() {
					for !over.Load() {
						if err := q.Write(s.At(1, 8+8*i), src); err != nil && err != gaspi.ErrQueueFull {
							t.Error(err)
							return
						}
					}
				})
			}
			for range 2000 {
				ok(q.Wait(ctx))
			}
			over.Store(true)
			posters.Wait()
			ok(q.Wait(ctx))
			if q.Size() != 0 {
				return fmt.Errorf("%d entries at the end", q.Size())
			}
		}
		return p.Barrier(ctx, p.World())
	})
}

// Goroutines of one rank use everything at once; calls of different kinds must
// not wait for each other.
func TestGASPIConcurrentLocalAndOneSidedCalls(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		other := 1 - p.Rank()
		g := must(p.NewGroup(0, 1))
		ok(g.Commit(ctx))
		if p.Rank() == 1 {
			synctest.Wait() // all calls of rank 0 sleep
		}
		calls := []func() error{
			func() error { return p.Barrier(ctx, p.World()) },
			func() error { return p.Barrier(ctx, g) },
			func() error { x := []int8{1}; return gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum) },
			func() error { x := []int8{1}; return gaspi.AllReduce(ctx, g, x, x, gaspi.Sum) },
			func() error { return p.PassiveSend(ctx, other, must(s.Span(0, 8))) },
			func() error { _, _, err := p.PassiveReceive(ctx, must(s.Span(8, 8))); return err },
			func() error { _, err := p.CreateSegment(ctx, 1, 8); return err },
			func() error { _, err := s.WaitSome(ctx, 9, 1); return err },
			func() error { return p.MustQueue(0).Notify(s.At(other, 0), gaspi.Notification{ID: 9, Value: 1}) },
			func() error { _, err := p.FetchAdd(ctx, s.At(other, 16), 1); return err },
		}
		errs := make(chan error)
		for _, call := range calls {
			go func() { errs <- call() }()
		}
		for range calls {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		return p.Barrier(ctx, p.World())
	})
}
