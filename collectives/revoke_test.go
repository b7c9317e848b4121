package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// errDies is what ranks return that die on purpose.
var errDies = errors.New("dies on purpose")

// mortals runs ranks in a bubble, some of which die.
func mortals(t *testing.T, n int, rank func(ctx context.Context, p *gaspi.Proc) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		err := gaspi.Local(t.Context(), n, gaspi.Config{Spin: -1, Yield: -1, KeepGoing: true}, rank)
		many, _ := err.(interface{ Unwrap() []error })
		if err != nil {
			for _, e := range many.Unwrap() {
				if !errors.Is(e, errDies) {
					t.Error(e)
				}
			}
		}
	})
}

func namesRank(err error, r gaspi.Rank) bool {
	gone, ok := errors.AsType[*gaspi.RankError](err)
	return ok && gone.Rank == r && errors.Is(err, gaspi.ErrRankDead)
}

// Goal: Split gives teams as MPI_Comm_split does, with any colours and keys.
func TestSplit(t *testing.T) {
	const n = 7
	for _, c := range []struct {
		name  string
		color func(r int) int
		key   func(r int) int
		want  [][]gaspi.Rank // of each rank; nil for none
	}{
		{"one", func(int) int { return 5 }, func(r int) int { return r }, [][]gaspi.Rank{{0, 1, 2, 3, 4, 5, 6}}},
		{"backwards", func(int) int { return -3 }, func(r int) int { return -r }, [][]gaspi.Rank{{6, 5, 4, 3, 2, 1, 0}}},
		{"equal keys", func(r int) int { return r % 2 }, func(r int) int { return 0 }, [][]gaspi.Rank{{0, 2, 4, 6}, {1, 3, 5}}},
		{"some in none", func(r int) int {
			if r%3 == 0 {
				return collectives.Undefined
			}
			return r / 4
		}, func(r int) int { return r * r % 5 }, [][]gaspi.Rank{{1, 2}, {5, 4}}},
		{"each alone", func(r int) int { return r }, func(int) int { return 1 }, [][]gaspi.Rank{{0}, {1}, {2}, {3}, {4}, {5}, {6}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mortals(t, n, func(ctx context.Context, p *gaspi.Proc) error {
				all, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
				if err != nil {
					return err
				}
				r := int(p.Rank())
				part, err := all.Split(ctx, c.color(r), c.key(r))
				if err != nil {
					return err
				}
				i := slices.IndexFunc(c.want, func(ranks []gaspi.Rank) bool { return slices.Contains(ranks, p.Rank()) })
				if (part == nil) != (i < 0) {
					return fmt.Errorf("team %v, want one: %v", part, i >= 0)
				}
				if part != nil {
					if !slices.Equal(part.Ranks(), c.want[i]) {
						return fmt.Errorf("team of %v, want %v", part.Ranks(), c.want[i])
					}
					sum := []int{r}
					if err := collectives.AllReduce(ctx, part, sum, collectives.Sum); err != nil {
						return err
					}
					for _, o := range c.want[i] {
						sum[0] -= int(o)
					}
					if sum[0] != 0 {
						return fmt.Errorf("a sum is off by %d", sum[0])
					}
				}
				if err := collectives.Barrier(ctx, all); err != nil {
					return err
				}
				if part != nil {
					if err := part.Close(); err != nil {
						return err
					}
				}
				return all.Close()
			})
		})
	}
}

// Goal: a rank that dies ends the calls of all teams of the grid, by name, also at members
// that are in no team with it and wait for one that has given up; unless the teams are
// independent, of whom only those fail that had the dead rank.
func TestSplitTeamsEndTogether(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		dead          gaspi.Rank
		independent   bool
	}{{2, 2, 3, false}, {2, 2, 0, false}, {3, 2, 1, false}, {3, 3, 4, false}, {2, 2, 3, true}} {
		t.Run(fmt.Sprintf("%dx%d, rank %d, independent %v", c.rows, c.columns, c.dead, c.independent), func(t *testing.T) {
			var survivors sync.WaitGroup // all that have not given up yet; each is in it before the teams are made
			mortals(t, c.rows*c.columns, func(ctx context.Context, p *gaspi.Proc) error {
				if p.Rank() != c.dead {
					survivors.Add(1)
				}
				all, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Independent: c.independent})
				if err != nil {
					return err
				}
				r := int(p.Rank())
				row, err := all.Split(ctx, r/c.columns, r)
				if err != nil {
					return err
				}
				column, err := all.Split(ctx, r%c.columns, r)
				if err != nil {
					return err
				}
				x := make([]int64, 100)
				teams := []*collectives.Team{row, column}
				for i := 0; ; i++ {
					if i == 10 && p.Rank() == c.dead {
						return errDies
					}
					limited, cancel := context.WithTimeout(ctx, time.Second)
					err := collectives.AllReduce(limited, teams[i%2], x, collectives.Sum)
					cancel()
					switch beside := !slices.Contains(row.Ranks(), c.dead) && !slices.Contains(column.Ranks(), c.dead); {
					case err == nil && i < 20:
					case c.independent && beside && errors.Is(err, context.DeadlineExceeded):
						survivors.Done()
						return nil
					case !namesRank(err, c.dead):
						return fmt.Errorf("call %d: %v, want an error that names rank %d", i, err, c.dead)
					default:
						if c.independent { // those that wait in vain must not see this rank leave
							survivors.Done()
							survivors.Wait()
							return nil
						}
						if err := collectives.Barrier(ctx, teams[(i+1)%2]); !namesRank(err, c.dead) || !errors.Is(err, gaspi.ErrRevoked) {
							return fmt.Errorf("a call of the other team: %v", err)
						}
						return nil
					}
				}
			})
		})
	}
}

// Goal: Team.Revoke ends a call of another member, and what comes later on all of them;
// Agree goes on, and Shrink makes a team that works, in the order of the first.
func TestTeamRevokeAgreeShrink(t *testing.T) {
	mortals(t, 5, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Order: []gaspi.Rank{4, 0, 3, 1, 2}})
		if err != nil {
			return err
		}
		x := []float32{1}
		if err := collectives.AllReduce(ctx, team, x, collectives.Sum); err != nil || x[0] != 5 {
			return fmt.Errorf("before: %v, %v", x, err)
		}
		if p.Rank() == 3 {
			synctest.Wait()
			if err := team.Revoke(errDies); err != nil {
				return err
			}
		}
		if err := collectives.AllReduce(ctx, team, x, collectives.Sum); !errors.Is(err, gaspi.ErrRevoked) {
			return fmt.Errorf("under way: %v, want ErrRevoked", err)
		}
		if err := collectives.Barrier(ctx, team); !errors.Is(err, gaspi.ErrRevoked) {
			return fmt.Errorf("later: %v, want ErrRevoked", err)
		}
		if err := team.Reset(ctx); !errors.Is(err, gaspi.ErrRevoked) {
			return fmt.Errorf("Reset: %v, want ErrRevoked", err)
		}
		if flags, err := team.Agree(ctx, 8|uint32(p.Rank())); flags != 8 || err != nil {
			return fmt.Errorf("agreement on %d, %v", flags, err)
		}
		if p.Rank() == 0 {
			return errDies
		}
		next, err := team.Shrink(ctx)
		if err != nil {
			return err
		}
		if want := []gaspi.Rank{4, 3, 1, 2}; !slices.Equal(next.Ranks(), want) {
			return fmt.Errorf("shrunk to %v, want %v", next.Ranks(), want)
		}
		x[0] = 1
		if err := collectives.AllReduce(ctx, next, x, collectives.Sum); err != nil || x[0] != 4 {
			return fmt.Errorf("afterwards: %v, %v", x, err)
		}
		return nil
	})
}
