package collectives_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// TestHosts runs what can run where not all ranks share memory, on ranks that are
// taken for those of several hosts: even, uneven and mixed.
func TestHosts(t *testing.T) {
	for _, nodes := range [][]int{{0, 0, 1, 1}, {0, 0, 0, 1, 1, 2}, {0, 1, 0, 1, 0}, {0, 1, 2}, {0, 0, 0, 0, 1}, {0, 0, 1, 1, 2, 2, 3, 3}} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			all := acrossHosts(len(nodes))
			reports := &reporter{log: func(err error) { t.Error(err) }}
			ranktest.Local(t, len(nodes), small, func(ctx context.Context, p *gaspi.Proc) error {
				m, err := newMember(ctx, p.World(), collectives.Config{})
				if err != nil {
					return err
				}
				collectives.PretendHosts(m.team, nodes)
				for i, x := range all {
					if err := m.run(ctx, x, func(err error) { reports.report(withCase(i, err)) }); err != nil {
						return withCase(i, err)
					}
				}
				err = collectives.AllReduce(ctx, m.team, make([]int32, 4), collectives.Sum, collectives.Algorithm("direct"))
				if !errors.Is(err, gaspi.ErrNotSupported) || !strings.Contains(err.Error(), "direct is for ranks that share memory") {
					return fmt.Errorf("direct across hosts: got %v", err)
				}
				return m.close(ctx)
			})
		})
	}
}

// acrossHosts is instances of the algorithms for several hosts, and of the choices.
func acrossHosts(ranks int) []*instance {
	d := newDealer(uint64(ranks), 1<<16)
	draws := 20
	if testing.Short() {
		draws = 5
	}
	var all []*instance
	for _, a := range algorithms.All() {
		switch {
		case a.Hosts:
			for range draws {
				all = append(all, d.draw(ranks, a.Op, a.Name))
			}
		case !a.Shares:
			all = append(all, d.draw(ranks, a.Op, a.Name))
		}
	}
	for _, op := range schedule.Operations() {
		all = append(all, d.draw(ranks, op, ""))
	}
	return all
}
