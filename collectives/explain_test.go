package collectives_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/model"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
)

// Goal: what Explain says is of one call, however many runs it was priced by.
func TestExplainIsOfOneCall(t *testing.T) {
	ranktest.Local(t, 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{Machine: &model.Machine{Call: 3}})
		if err != nil {
			return err
		}
		all, err := collectives.Explain(team, collectives.AllReduceTask(make([]float64, 1), collectives.Sum))
		if err != nil {
			return err
		}
		for _, c := range all {
			if c.Seconds != 3 {
				return fmt.Errorf("%s: %v s where a call takes 3 s and all else nothing", c.Algorithm, c.Seconds)
			}
		}
		if len(all) == 0 {
			return fmt.Errorf("no candidates")
		}
		return p.Barrier(ctx, p.World())
	})
}
