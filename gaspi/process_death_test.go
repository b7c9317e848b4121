//go:build !race

package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// One rank of four is killed by signal 9 while the others wait: each learns who
// it was, in every kind of call, and the three go on as a group.
func TestSurvivorsOfAKilledProcessGoOn(t *testing.T) {
	o := ranktest.Run(t, launcher.Config{Ranks: 4, OnFailure: launcher.Continue}, "victim")
	for _, r := range o.Ranks {
		if want := r.Rank == 2; r.Failed() != want || want && r.Signal != syscall.SIGKILL {
			t.Errorf("rank %d: status %d, signal %v", r.Rank, r.Status, r.Signal)
		}
	}
	if n := strings.Count(o.Stdout, "went on"); n != 3 || o.ExitCode != 128+9 {
		t.Errorf("%d of 3 survivors went on, exit code %d\n%s", n, o.ExitCode, o.Output)
	}
}

func playVictim(ctx context.Context, p *gaspi.Proc) error {
	const victim = 2
	s := must(p.CreateSegment(ctx, 0, 64))
	ok(p.Barrier(ctx, p.World()))
	if p.Rank() == victim {
		for _, r := range []gaspi.Rank{0, 1, 3} {
			await(ctx, s, gaspi.NotificationID(r)) // they are about to wait
		}
		ok(syscall.Kill(os.Getpid(), syscall.SIGKILL))
		select {}
	}
	tell(p, s, victim, gaspi.NotificationID(p.Rank()))
	if _, err := s.WaitSome(ctx, 8, 8); !names(err, victim) || !strings.Contains(err.Error(), "killed") {
		return fmt.Errorf("waitsome: %v, want a RankError about rank %d, killed", err, victim)
	}
	if state := p.State(); state[victim] != gaspi.Corrupt || state[0] != gaspi.Healthy {
		return fmt.Errorf("state %v", state)
	}
	src := must(s.Span(0, 8))
	for name, err := range map[string]error{
		"barrier":   p.Barrier(ctx, p.World()),
		"allreduce": gaspi.AllReduce(ctx, p.World(), []int32{1}, []int32{1}, gaspi.Sum),
		"write":     p.MustQueue(0).Write(s.At(victim, 0), src),
		"passive":   p.PassiveSend(ctx, victim, src),
		"ping":      p.Ping(ctx, victim),
	} {
		if !names(err, victim) {
			return fmt.Errorf("%s: %v, want a RankError about rank %d", name, err, victim)
		}
	}
	ok(p.ResetState())
	alive := must(p.NewGroup(0, 1, 3))
	ok(alive.Commit(ctx))
	for range 50 {
		x := []int64{1}
		ok(gaspi.AllReduce(ctx, alive, x, x, gaspi.Sum))
		if x[0] != 3 {
			return fmt.Errorf("sum %d of 3 survivors", x[0])
		}
		ok(p.Barrier(ctx, alive))
	}
	more := must(p.CreateSegment(ctx, 1, 64, gaspi.Over(alive)))
	next := map[gaspi.Rank]gaspi.Rank{0: 1, 1: 3, 3: 0}[p.Rank()]
	tell(p, more, next, 5)
	await(ctx, more, 5)
	ok(p.Ping(ctx, next))
	if !healthy(p) {
		return fmt.Errorf("state %v at the end", p.State())
	}
	fmt.Println("went on")
	return p.Barrier(ctx, alive)
}

// Eight ranks on few cores: collectives, time limits and resumption among
// processes that the system interrupts anywhere.
func TestOversubscribedProcesses(t *testing.T) { eachCount(t, "oversubscribed", 8) }

func playOversubscribed(ctx context.Context, p *gaspi.Proc) error {
	for round := range int64(100) {
		x := []int64{round}
		err := gaspi.AllReduce(ended(), p.World(), x, x, gaspi.Sum)
		for errors.Is(err, context.Canceled) { // tested once too early: go on with it
			x[0] = -1 // what was given counts, not this
			err = gaspi.AllReduce(ctx, p.World(), x, x, gaspi.Sum)
		}
		if ok(err); x[0] != round*int64(p.Size()) {
			return fmt.Errorf("round %d: sum %d", round, x[0])
		}
		if err := p.Barrier(ended(), p.World()); err != nil {
			ok(p.Barrier(ctx, p.World()))
		}
	}
	return nil
}

// The hot calls allocate nothing towards another process either.
func TestProcessesAllocateNothing(t *testing.T) {
	ranktest.Succeeds(t, launcher.Config{Ranks: 2}, "allocations")
}

func playAllocations(ctx context.Context, p *gaspi.Proc) error {
	s := must(p.CreateSegment(ctx, 0, 4096))
	if p.Rank() == 0 {
		src, q := must(s.Span(0, 64)), p.MustQueue(0)
		n := gaspi.Notification{ID: 5, Value: 1}
		for name, call := range map[string]func(){
			"write":        func() { ok(q.Write(s.At(1, 64), src)); ok(q.Wait(ctx)) },
			"write_notify": func() { ok(q.WriteNotify(s.At(1, 64), src, n)); ok(q.Wait(ctx)) },
			"notify":       func() { ok(q.Notify(s.At(1, 0), n)); ok(q.Wait(ctx)) },
			"read":         func() { ok(q.Read(src, s.At(1, 64))); ok(q.Wait(ctx)) },
			"fetch_add":    func() { must(p.FetchAdd(ctx, s.At(1, 0), 1)) },
		} {
			if allocs := testing.AllocsPerRun(200, call); allocs != 0 {
				return fmt.Errorf("%s: %v allocations", name, allocs)
			}
		}
	}
	return p.Barrier(ctx, p.World())
}
