package collectives_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestCounts makes calls of every way: like the last one, by a plan, started, and refused. Each that ended
// well is counted once, with the bytes of its vector.
func TestCounts(t *testing.T) {
	const quick = 100
	err := gaspi.Local(t.Context(), 4, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
		if err != nil {
			return err
		}
		x := make([]float64, 3)
		for range quick {
			if err := collectives.AllReduce(ctx, team, x, collectives.Sum); err != nil {
				return err
			}
		}
		plan, err := collectives.NewPlan(ctx, team, collectives.AllReduceTask(x, collectives.Sum))
		if err != nil {
			return err
		}
		for range 3 {
			if err := plan.Run(ctx); err != nil {
				return err
			}
		}
		h, err := plan.Start()
		if err != nil {
			return err
		}
		if err := h.Wait(ctx); err != nil {
			return err
		}
		large := make([]int32, 100_000)
		for range 2 {
			if _, err := collectives.Broadcast(ctx, team, 1, large); err != nil {
				return err
			}
		}
		if _, err := collectives.Broadcast(ctx, team, 9, large); err == nil {
			t.Error("a root that is none was taken")
		}
		if err := collectives.Barrier(ctx, team); err != nil {
			return err
		}
		sums := map[string]gaspi.CollectiveStats{}
		for _, s := range p.CollectiveStats() {
			if s.Algorithm == "" || s.Time < 0 || s.Calls > 0 && s.Bytes >= 400_000 && s.Time == 0 {
				t.Errorf("rank %d: %+v", p.Rank(), s)
			}
			sum := sums[s.Operation]
			sums[s.Operation] = gaspi.CollectiveStats{Calls: sum.Calls + s.Calls, Bytes: sum.Bytes + s.Bytes}
		}
		delete(sums, "gaspi.Barrier")
		delete(sums, "gaspi.AllReduce")
		want := map[string]gaspi.CollectiveStats{
			"allreduce": {Calls: quick + 4, Bytes: (quick + 4) * 24},
			"broadcast": {Calls: 2, Bytes: 800_000},
			"barrier":   {Calls: 1},
		}
		if d := cmp.Diff(want, sums); d != "" {
			t.Errorf("rank %d (-want +got):\n%s", p.Rank(), d)
		}
		if err := plan.Close(); err != nil {
			return err
		}
		return team.Close()
	})
	if err != nil {
		t.Error(err)
	}
}
