package collectives_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

var errDied = errors.New("died of the test")

// untilDead runs an instance again and again until it fails, and returns nil if the
// error names the victim, a rank of the job. Few runs are needed: who can end one
// without the victim cannot end the next ones, since credits are missing.
func (m *member) untilDead(ctx context.Context, x *instance, victim gaspi.Rank) error {
	m.own.next, m.reached.next = 0, 0
	b, err := m.bind(ctx, x, 0)
	for runs := 0; err == nil; runs++ {
		if runs == 10 {
			err = collectives.Barrier(ctx, m.team)
			break
		}
		b.fill(runs)
		err = collectives.Do(ctx, m.team, b.call)
	}
	if err := names(err, victim); err != nil {
		return fmt.Errorf("%v: %w", x, err)
	}
	if err := names(collectives.Barrier(ctx, m.team), victim); err != nil {
		return fmt.Errorf("%v: a call after that: %w", x, err)
	}
	return nil
}

// names returns nil if err says that the victim is dead.
func names(err error, victim gaspi.Rank) error {
	var dead *gaspi.RankError
	if !errors.Is(err, gaspi.ErrRankDead) || !errors.As(err, &dead) || dead.Rank != victim {
		return fmt.Errorf("got %v, which does not say that rank %d is dead", err, victim)
	}
	return nil
}

// TestDeadRankIsNamed has a rank return with an error, before the first run of each
// operation or after some: all survivors get an error that names it.
func TestDeadRankIsNamed(t *testing.T) {
	const ranks, victim = 4, 2
	d := newDealer(1, 1<<10)
	for _, op := range schedule.Operations() {
		for i, a := range append(algorithms.For(op)[:1:1], algorithms.Algorithm{Op: op}) {
			x := d.draw(ranks, op, a.Name)
			warm := 2 * i
			if x.count == 0 {
				x.count = 5
			}
			t.Run(fmt.Sprintf("%v after %d", op, warm), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				cfg := small
				cfg.KeepGoing = true
				var seen sync.WaitGroup
				seen.Add(ranks - 1)
				err := gaspi.Local(ctx, ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
					return lose(ctx, p, x, warm, victim, &seen)
				})
				if err == nil || err.Error() != fmt.Sprintf("rank %d: %v", victim, errDied) {
					t.Error(err)
				}
			})
		}
	}
}

// TestFirstUseAfterDeath makes the first call of its shape when a member is known to be
// dead, with every algorithm: memory of the dead that an algorithm would address is no
// reason of its own.
func TestFirstUseAfterDeath(t *testing.T) {
	const ranks, victim = 4, 2
	d := newDealer(1, 1<<10)
	for _, op := range schedule.Operations() {
		for _, a := range algorithms.For(op) {
			x := d.draw(ranks, op, a.Name)
			t.Run(fmt.Sprintf("%v %s", op, a.Name), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				cfg := small
				cfg.KeepGoing = true
				var made, seen sync.WaitGroup // the victim dies when all have their memory; nobody leaves before all have seen it
				made.Add(ranks)
				seen.Add(ranks - 1)
				err := gaspi.Local(ctx, ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
					m, err := newMember(ctx, p.World(), collectives.Config{})
					made.Done()
					made.Wait()
					if p.Rank() == victim {
						return cmp.Or(err, errDied)
					}
					defer seen.Wait()
					defer seen.Done()
					if err == nil {
						err = names(p.Barrier(ctx, p.World()), victim) // which ends when the death is known
					}
					if err == nil {
						err = m.untilDead(ctx, x, victim)
					}
					return err
				})
				if err == nil || err.Error() != fmt.Sprintf("rank %d: %v", victim, errDied) {
					t.Error(err)
				}
			})
		}
	}
}

// lose is one rank's part: the victim dies after some runs, and the others stay
// until all have seen it, so that nobody names one of them. Others may still be at a
// run, or have no memory yet, when the victim is done with its own part.
func lose(ctx context.Context, p *gaspi.Proc, x *instance, warm int, victim gaspi.Rank, seen *sync.WaitGroup) error {
	m, err := newMember(ctx, p.World(), collectives.Config{})
	for i := 0; i < warm && err == nil; i++ {
		err = m.run(ctx, x, func(error) {})
	}
	if p.Rank() == victim {
		return cmp.Or(err, errDied)
	}
	defer seen.Wait()
	defer seen.Done()
	if err != nil {
		return names(err, victim)
	}
	return m.untilDead(ctx, x, victim)
}

// TestResetNeedsAllMembers says who is missing.
func TestResetNeedsAllMembers(t *testing.T) {
	cfg := small
	cfg.KeepGoing = true
	var made sync.WaitGroup // rank 1 dies when both have a team
	made.Add(2)
	err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		made.Done()
		made.Wait()
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			return errDied
		}
		if err := names(collectives.Barrier(ctx, team), 1); err != nil {
			return err
		}
		if err := names(team.Reset(ctx), 1); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "rank 1: ") || strings.Contains(err.Error(), "rank 0") {
		t.Error(err)
	}
}

// TestTestNamesDeadRank has a rank return with an error while the others ask handles of
// operations with it whether they have ended, and never wait.
func TestTestNamesDeadRank(t *testing.T) {
	const ranks, victim = 3, 1
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cfg := small
	cfg.KeepGoing = true
	var seen sync.WaitGroup
	seen.Add(ranks - 1)
	err := gaspi.Local(ctx, ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if p.Rank() == victim {
			return cmp.Or(err, collectives.Barrier(ctx, team), errDied)
		}
		defer seen.Wait()
		defer seen.Done()
		if err == nil {
			err = collectives.Barrier(ctx, team)
		}
		if err != nil {
			return names(err, victim)
		}
		h, err := collectives.Start(ctx, team, collectives.AllReduceTask(make([]int32, 5), collectives.Sum))
		for done := false; !done && err == nil && ctx.Err() == nil; {
			done, err = h.Test()
		}
		return names(err, victim)
	})
	if err == nil || err.Error() != fmt.Sprintf("rank %d: %v", victim, errDied) {
		t.Error(err)
	}
}
