package collectives_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An eagerCall is a rooted call through eager memory, for one member.
type eagerCall struct {
	name  string
	first bool // the root sends, and the others receive
	make  func(team *collectives.Team, root, round int) (collectives.Task, func() error)
}

// digits writes ranks one behind the other, so that a fold in another order has another result.
func digits(dst, a, b []uint64) {
	for i := range dst {
		scale := uint64(1)
		for scale <= b[i] {
			scale *= 10
		}
		dst[i] = a[i]*scale + b[i]
	}
}

// eagerCalls are calls whose results every member can check.
func eagerCalls() []eagerCall {
	const n = 3
	value := func(round, rank, i int) int64 { return int64(round*10000 + rank*100 + i) }
	return []eagerCall{
		{"broadcast", true, func(team *collectives.Team, root, round int) (collectives.Task, func() error) {
			buf := vector(n, func(i int) int64 { return value(round, team.Rank(), i) })
			return collectives.BroadcastTask(root, buf, collectives.Algorithm("eager")), func() error {
				return matches("broadcast", buf, func(i int) int64 { return value(round, root, i) })
			}
		}},
		{"scatter", true, func(team *collectives.Team, root, round int) (collectives.Task, func() error) {
			var src []int64
			dst := make([]int64, n)
			if team.Rank() == root {
				src = vector(n*team.Size(), func(i int) int64 { return value(round, root, i) })
			}
			return collectives.ScatterTask(team, root, dst, src, collectives.Algorithm("binomial")), func() error {
				return matches("scatter", dst, func(i int) int64 { return value(round, root, team.Rank()*n+i) })
			}
		}},
		{"reduce", false, func(team *collectives.Team, root, round int) (collectives.Task, func() error) {
			buf := vector(n, func(i int) int64 { return value(round, team.Rank(), i) })
			return collectives.ReduceTask(root, buf, collectives.Sum, collectives.Algorithm("eager")), func() error {
				return matches("reduce", buf, func(i int) (sum int64) {
					if team.Rank() != root {
						return value(round, team.Rank(), i)
					}
					for r := range team.Size() {
						sum += value(round, r, i)
					}
					return sum
				})
			}
		}},
		{"reduce by a function", false, func(team *collectives.Team, root, round int) (collectives.Task, func() error) {
			buf := []uint64{uint64(team.Rank() + 1)}
			return collectives.ReduceFuncTask(root, buf, digits, true, collectives.Algorithm("eager")), func() error {
				return matches("reduce by a function", buf, func(int) (all uint64) {
					if team.Rank() != root {
						return uint64(team.Rank() + 1)
					}
					for r := range team.Size() {
						all = all*10 + uint64(r+1)
					}
					return all
				})
			}
		}},
		{"gather", false, func(team *collectives.Team, root, round int) (collectives.Task, func() error) {
			src := vector(n, func(i int) int64 { return value(round, team.Rank(), i) })
			var dst []int64
			if team.Rank() == root {
				dst = make([]int64, n*team.Size())
			}
			return collectives.GatherTask(team, root, dst, src, collectives.Algorithm("eager")), func() error {
				return matches("gather", dst, func(i int) int64 { return value(round, i/n, i%n) })
			}
		}},
	}
}

// ways are the ways to call a task.
func ways() map[string]func(ctx context.Context, team *collectives.Team, task collectives.Task) error {
	return map[string]func(ctx context.Context, team *collectives.Team, task collectives.Task) error{
		"single call": collectives.Do,
		"started": func(ctx context.Context, team *collectives.Team, task collectives.Task) error {
			h, err := collectives.Start(ctx, team, task)
			if err != nil {
				return err
			}
			return h.Wait(ctx)
		},
	}
}

// eagerRuns is fewer runs than those after which a member that only sends waits for a credit.
const eagerRuns = 160

// TestSendersRunAhead has members that only send make many calls before the others make the
// first of them, in each way to call. Then the team is closed with the last calls on their way.
func TestSendersRunAhead(t *testing.T) {
	for _, c := range eagerCalls() {
		for name, way := range ways() {
			for _, progress := range []collectives.Progress{collectives.Caller, collectives.Background} {
				t.Run(fmt.Sprintf("%s, %s, %v", c.name, name, progress), func(t *testing.T) {
					t.Parallel()
					const ranks = 3
					var ahead sync.WaitGroup
					ahead.Add(1)
					if !c.first {
						ahead.Add(1)
					}
					onTeam(t, ranks, collectives.Config{Progress: progress}, func(ctx context.Context, team *collectives.Team) error {
						const root = 1
						round := func(i int) error {
							task, check := c.make(team, root, i)
							return cmp.Or(way(ctx, team, task), check())
						}
						if err := round(0); err != nil { // with it the members agree
							return err
						}
						sends := (team.Rank() == root) == c.first
						if !sends {
							ahead.Wait()
						}
						for i := range eagerRuns {
							if err := round(i + 1); err != nil {
								return err
							}
						}
						if sends {
							ahead.Done()
						}
						return nil
					})
				})
			}
		}
	}
}

// TestEagerCallsOfAnyRoot draws calls of all sorts with roots that change from call to call, while
// nobody waits for anybody but in the calls, in teams with much memory and with little.
func TestEagerCallsOfAnyRoot(t *testing.T) {
	seed := seedOf(t)
	for _, cfg := range []collectives.Config{{}, {Slots: 300, Scratch: 32 << 10}} {
		for _, ranks := range []int{2, 5, 6} {
			t.Run(fmt.Sprintf("%d ranks, %d slots", ranks, cfg.Slots), func(t *testing.T) {
				t.Parallel()
				onTeam(t, ranks, cfg, func(ctx context.Context, team *collectives.Team) error {
					random := rand.New(rand.NewPCG(seed, uint64(ranks)))
					calls := eagerCalls()
					c, root := calls[0], 0
					for round := range 300 {
						if random.IntN(4) == 0 {
							c, root = calls[random.IntN(len(calls))], random.IntN(ranks)
						}
						task, check := c.make(team, root, round)
						if err := cmp.Or(collectives.Do(ctx, team, task), check()); err != nil {
							return fmt.Errorf("seed %d, round %d, %s of root %d: %w", seed, round, c.name, root, err)
						}
					}
					return nil
				})
			})
		}
	}
}

// TestSenderOfAnotherCall has a root make a call once more than the others, of a plan that all have
// agreed on. It waits for nobody; but the next call that is received says that it is another one.
func TestSenderOfAnotherCall(t *testing.T) {
	for _, c := range eagerCalls() {
		for _, more := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, the root calls more %v", c.name, more), func(t *testing.T) {
				t.Parallel()
				onTeam(t, 3, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
					call := func(root int) error {
						task, check := c.make(team, root, 0)
						return cmp.Or(collectives.Do(ctx, team, task), check())
					}
					for _, root := range []int{0, 1, 0, 1} {
						if err := call(root); err != nil {
							return err
						}
					}
					var err error
					if (team.Rank() == 0) == more {
						err = call(0)
					}
					for range 3 {
						if err == nil {
							err = call(1)
						}
					}
					for err == nil {
						err = collectives.Barrier(ctx, team)
					}
					if !errors.Is(err, gaspi.ErrMismatch) || !strings.Contains(err.Error(), "unusable until Reset") {
						return fmt.Errorf("got %v, want %v", err, gaspi.ErrMismatch)
					}
					if err := team.Reset(ctx); err != nil {
						return err
					}
					return call(0)
				})
			})
		}
	}
}

// TestDeathWhileOthersAreAhead has a member die that has made fewer calls than those who send to
// it. Their calls succeed as long as they need no credit, and then name it.
func TestDeathWhileOthersAreAhead(t *testing.T) {
	const ranks, victim, before = 3, 2, 2
	for _, c := range eagerCalls() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := 0
			if !c.first {
				root = victim
			}
			cfg := small
			cfg.KeepGoing = true
			var ahead, seen sync.WaitGroup
			ahead.Add(1)
			if !c.first {
				ahead.Add(1)
			}
			seen.Add(ranks - 1)
			err := gaspi.Local(t.Context(), ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
				team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
				call := func(i int) error {
					task, check := c.make(team, root, i)
					return cmp.Or(collectives.Do(ctx, team, task), check())
				}
				for i := 0; i < before && err == nil; i++ {
					err = call(i)
				}
				if p.Rank() == victim {
					ahead.Wait()
					return cmp.Or(err, errDied)
				}
				defer seen.Wait()
				defer seen.Done()
				sends := p.Rank() == 0 || !c.first
				for i := before; err == nil; i++ {
					if err = call(i); !sends {
						continue
					}
					if i < before+eagerRuns && err != nil {
						return fmt.Errorf("the member ended after %d calls: %w", i, err)
					}
					if i == before+eagerRuns {
						ahead.Done()
					}
				}
				return names(err, victim)
			})
			if err == nil || err.Error() != fmt.Sprintf("rank %d: %v", victim, errDied) {
				t.Error(err)
			}
		})
	}
}
