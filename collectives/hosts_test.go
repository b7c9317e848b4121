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

// TestEagerMemoryIsOfWhoSharesMemory has members say how many broadcasts of 24 KiB a root may be ahead of them:
// more where not all members share memory, and fewer where the team has little of it.
func TestEagerMemoryIsOfWhoSharesMemory(t *testing.T) {
	for _, c := range []struct {
		nodes []int
		cfg   collectives.Config
		want  int
	}{
		{[]int{0, 0, 0}, collectives.Config{}, 8},
		{[]int{0, 1, 2}, collectives.Config{}, 32},
		{[]int{0, 0, 2}, collectives.Config{}, 32},
		{[]int{0, 1, 2}, collectives.Config{Scratch: 64 * 4 * 24 << 10}, 4},
		{[]int{0, 0, 0}, collectives.Config{Scratch: 64 * 4 * 24 << 10}, 4},
	} {
		onTeam(t, len(c.nodes), c.cfg, func(ctx context.Context, team *collectives.Team) error {
			if c.nodes[2] > 0 {
				collectives.PretendHosts(team, c.nodes)
			}
			call := collectives.BroadcastTask(0, make([]byte, 24<<10), collectives.Algorithm("eager"))
			if got := collectives.Ahead(team, call); got != c.want {
				t.Errorf("nodes %v, %d bytes of scratch: rank %d counts %d copies, want %d", c.nodes, c.cfg.Scratch, team.Rank(), got, c.want)
			}
			return collectives.Do(ctx, team, call)
		})
	}
}
