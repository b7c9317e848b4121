package collectives_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// TestNamesOfCandidates has every candidate of every operation, plain and allocated, on
// one host and on two, of short and long vectors and blocks, also with a radix and of the
// algorithms that are used by name alone, chosen by the name that Explain prints: by the
// option Algorithm and by GASPI_COLL. The choice has that name again. Members choose alike
// (TestMembersPlanAlike), so that each takes a share of the calls.
func TestNamesOfCandidates(t *testing.T) {
	seed := seedOf(t)
	sizes := []int{1, 2, 4, 5}
	if testing.Short() { // nothing is concurrent in a choice, and each member prices all ways
		sizes = []int{2}
	}
	for _, ranks := range sizes {
		var all sync.Map // names, of all members
		ranktest.Local(t, ranks, small, func(ctx context.Context, p *gaspi.Proc) error {
			team, err := collectives.NewTeam(ctx, p.World(), collectives.Config{})
			if err != nil {
				return err
			}
			heap, err := collectives.Alloc[byte](ctx, team, 64<<20)
			if err != nil {
				return err
			}
			n := &namer{team: team, seed: seed, room: room{plain: make([]byte, 64<<20), heap: heap}, kinds: bothOf[float64](), named: &all}
			turn := 0
			for _, nodes := range [][]int{make([]int, ranks), vector(ranks, func(i int) int { return i % 2 })} {
				collectives.PretendHosts(team, nodes)
				for _, op := range schedule.Operations() {
					for _, count := range []int{0, 10, 100_000, 500_000} {
						for _, at := range []memory{plain, allocated} {
							for _, even := range []bool{true, false} {
								v := &view{op: op, count: count, memory: at, inPlace: count%3 == 1, vectors: 1}
								if op.Blockwise() {
									v.count = min(count, (2<<20)/ranks)
								}
								if op.Blockwise() && op != schedule.AllToAll && !even {
									v.lengths = slices.Repeat([]int{3}, ranks)
									v.lengths[ranks-1] = v.count
								}
								if turn++; turn%ranks != team.Rank() {
									continue
								}
								if err := n.all(ctx, v); err != nil {
									return fmt.Errorf("%v: %w", v, err)
								}
							}
						}
					}
				}
			}
			return p.Barrier(ctx, p.World())
		})
		named := 0
		all.Range(func(any, any) bool { named++; return true })
		if named < 100 && ranks > 1 {
			t.Errorf("%d names alone", named)
		}
	}
}

// A namer has calls explained to a member.
type namer struct {
	team  *collectives.Team
	seed  uint64
	room  room
	kinds bothKinds
	named *sync.Map
}

// names returns the names of the ways to do a call with options.
func (n *namer) names(ctx context.Context, v *view, opts ...collectives.Option) ([]string, error) {
	with := *v
	with.opts = opts
	n.room.own = rand.New(rand.NewPCG(n.seed, 1))
	k, err := n.kinds.task(ctx, n.team, &with, &n.room)
	if err != nil {
		return nil, err
	}
	return collectives.Names(n.team, k)
}

// all takes all candidates of a call by their names.
func (n *namer) all(ctx context.Context, v *view) error {
	sets := [][]collectives.Option{nil, {collectives.Radix(3)}, {collectives.Compress(collectives.Lossless())}, {collectives.Concurrency(3)}, {collectives.SegmentSize(1000), collectives.Concurrency(2)}}
	for _, a := range algorithms.For(v.op) {
		sets = append(sets, []collectives.Option{collectives.Algorithm(a.Name)})
	}
	for _, opts := range sets {
		names, err := n.names(ctx, v, opts...)
		if err != nil {
			continue // operations that know no compression
		}
		for _, name := range names {
			var coded []collectives.Option
			if a, err := algorithms.Lookup(v.op, bare(name)); err != nil {
				return err
			} else if a.Coded {
				coded = []collectives.Option{collectives.Compress(collectives.Lossless())}
			}
			if err := n.take(ctx, v, name, coded); err != nil {
				return err
			}
		}
	}
	return nil
}

// bare is a name without its parameters.
func bare(name string) string {
	name, _, _ = strings.Cut(name, " ")
	name, _, _ = strings.Cut(name, "/")
	if i := strings.LastIndexByte(name, 'x'); i >= 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		name = name[:i]
	}
	return name
}

// take checks what is chosen by a name.
func (n *namer) take(ctx context.Context, v *view, name string, opts []collectives.Option) error {
	n.named.Store(v.op.String()+":"+name, true)
	check := func(by string, opts []collectives.Option) error {
		names, err := n.names(ctx, v, opts...)
		if err != nil || len(names) != 1 || names[0] != name {
			return fmt.Errorf("%q by %s: chosen among %q, %w", name, by, names, err)
		}
		return nil
	}
	if err := check("the option", append([]collectives.Option{collectives.Algorithm(name)}, opts...)); err != nil {
		return err
	}
	if err := collectives.Force(n.team, v.op.String()+":"+name); err != nil {
		return err
	}
	if err := check("GASPI_COLL", opts); err != nil {
		return err
	}
	return collectives.Force(n.team, "")
}
