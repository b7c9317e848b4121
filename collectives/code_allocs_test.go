//go:build !race

package collectives

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestCodingAllocatesNothing tests what a plan that compresses does beside what others
// do. Not under the race detector, where sync.Pool, which s2 keeps its tables in,
// forgets things at random.
func TestCodingAllocatesNothing(t *testing.T) {
	cfg := gaspi.Config{Segments: 64, Groups: 4, Notifications: 64, PassiveMax: 64}
	err := gaspi.Local(t.Context(), 2, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		team, err := NewTeam(ctx, p.World(), Config{})
		if err != nil {
			return err
		}
		for _, how := range []Compression{Lossless(), ErrorBound(1e-3), TopK(0.1)} {
			plan, err := PlanAllReduce(ctx, team, make([]float64, 5000), Sum, Compress(how))
			if err == nil {
				err = plan.Run(ctx)
			}
			if err != nil {
				return err
			}
			r, coded, put := &plan.run, 0, 0
			again := func() {
				r.bind(&plan.task)
				for i := range plan.prog.lanes[0] {
					switch in := &plan.prog.lanes[0][i]; {
					case in.kind == schedule.Encode || in.kind == schedule.Decode:
						coded++
						err = errors.Join(err, r.code(in))
					case in.coded:
						put++
						_, e := form(in.src[0])
						err = errors.Join(err, e)
					}
				}
			}
			if p.Rank() == 0 { // the other one waits
				if n := testing.AllocsPerRun(20, again); n >= 1 || coded != 21*5 || put != 21*2 {
					err = errors.Join(err, fmt.Errorf("%v: %v allocations for %d codings and %d puts", how, n, coded, put))
				}
			}
			if err := errors.Join(err, p.Barrier(ctx, p.World())); err != nil {
				return err
			}
		}
		return team.Close()
	})
	if err != nil {
		t.Error(err)
	}
}
