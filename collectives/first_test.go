package collectives_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// firstCalls are calls on vectors or blocks of n elements.
var firstCalls = map[string]func(ctx context.Context, t *collectives.Team, n int) error{
	"allreduce": func(ctx context.Context, t *collectives.Team, n int) error {
		return collectives.AllReduce(ctx, t, make([]float64, n), collectives.Sum)
	},
	"broadcast": func(ctx context.Context, t *collectives.Team, n int) error {
		_, err := collectives.Broadcast(ctx, t, 0, make([]float64, n))
		return err
	},
	"alltoall": func(ctx context.Context, t *collectives.Team, n int) error {
		return collectives.AllToAll(ctx, t, make([]float64, n*t.Size()), make([]float64, n*t.Size()))
	},
}

// Goal: the first call of a shape takes few messages and allocations: one message to each other member at most, and
// those of an agreement; and allocations whose number hardly grows with the members.
// Method: members make the call with more and more elements; the last of these counts, when connections are made.
func TestFirstCallsAreCheap(t *testing.T) {
	const agreement, allocations = 16, 400
	for name, call := range firstCalls {
		perRank := make(map[int]uint64)
		for _, ranks := range []int{32, 128} {
			ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
				team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
				if err != nil {
					return err
				}
				collectives.SetPatience(team, time.Hour)
				var sent, made uint64
				for n := 2; n < 6; n++ {
					sentBefore, madeBefore, err := spent(ctx, p)
					if err != nil {
						return err
					}
					if err := call(ctx, team, n); err != nil {
						return err
					}
					if sent, made, err = spent(ctx, p); err != nil {
						return err
					}
					sent, made = sent-sentBefore, made-madeBefore
				}
				if sent > uint64(ranks+agreement) {
					t.Errorf("%s: rank %d of %d sends %d messages in a first call", name, p.Rank(), ranks, sent)
				}
				if p.Rank() == 0 {
					perRank[ranks] = made / uint64(ranks)
				}
				return errors.Join(team.Close(), p.Barrier(ctx, p.World()))
			})
		}
		t.Logf("%s: allocations of a rank by ranks: %v", name, perRank)
		if few, many := perRank[32], perRank[128]; many > allocations || 2*many > 3*few {
			t.Errorf("%s: a first call takes %d allocations at each of 32 ranks and %d at each of 128, want %d at most and half as many again", name, few, many, allocations)
		}
	}
}

// spent returns how many messages a rank has sent, and at rank 0 how many allocations all have made. Others do nothing
// meanwhile.
func spent(ctx context.Context, p *gaspi.Proc) (messages, allocations uint64, err error) {
	stats := p.Stats()
	if err := p.Barrier(ctx, p.World()); err != nil {
		return 0, 0, err
	}
	var m runtime.MemStats
	if p.Rank() == 0 {
		runtime.ReadMemStats(&m)
	}
	return stats.Writes + stats.Notifies, m.Mallocs, p.Barrier(ctx, p.World())
}
