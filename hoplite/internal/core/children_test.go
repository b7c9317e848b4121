package core

import (
	"math/rand/v2"
	"testing"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/shape"
)

// Goal: a rank is never told of more inputs than a message has room for, and each source that is used is counted once,
// whatever shape the reduction has and wherever ranks have died whose sources others stand in for.
func TestInputsOfPositions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	links := shape.Links{Bandwidth: 1e9, Latency: 1e-3}
	for _, as := range []shape.Shape{shape.Auto, shape.Chain, shape.Grid, shape.Tree} {
		for count := range 40 {
			for range 20 {
				r := &reduction{count: count, plan: shape.New(as, links, count, 100)}
				filled := rng.IntN(count + 1)
				for i := range filled {
					source := i
					if rng.IntN(3) == 0 {
						source = -1
						r.local = append(r.local, i)
					}
					r.places = append(r.places, place{source: source})
				}
				for i := filled; i < count && rng.IntN(2) == 0; i++ {
					r.local = append(r.local, i)
				}
				r.closed = rng.IntN(4) == 0
				checkChildren(t, r)
			}
		}
	}
}

// checkChildren checks who sends to whom.
func checkChildren(t *testing.T, r *reduction) {
	t.Helper()
	lists := r.children()
	parents := map[int]int{}
	for pos, list := range lists {
		if pos < len(r.places) && len(list) > maxIns {
			t.Fatalf("position %d has the inputs %v; places %+v, plan %+v", pos, list, r.places, r.plan)
		}
		for _, q := range list {
			parents[q]++
		}
	}
	if r.usedCount() < r.count {
		return
	}
	for q, p := range r.places {
		if want := min(p.source, 0) + 1; parents[q] != want {
			t.Fatalf("position %d sends %d times, want %d: %v; places %+v, plan %+v", q, parents[q], want, lists, r.places, r.plan)
		}
	}
}

// Goal: another source stands in for one that died with its rank. In a grid of three rows the end of the second has
// two inputs, which no longer have anybody between them and the end of the third, which has one more.
func TestStandInForTheMiddle(t *testing.T) {
	const caller, others, dies = 0, 1, 2
	s := newScene(t, 3, Config{Capacity: 1 << 20, Inline: -1, Shape: shape.Grid})
	var ids []string
	for i := 0; len(ids) < 9; i++ {
		if id := idOf(caller, 3) + string(rune('a'+i)); ShardOf(id, 3) == caller {
			ids = append(ids, id)
		}
	}
	for i, id := range ids[:8] {
		rank := Rank(others)
		if i == 5 {
			rank = dies
		}
		s.at(rank, func(c *Core) { c.Put(CallID(i), id, 100, 0); c.Filled(CallID(i), 100) })
		s.rest()
	}
	s.at(caller, func(c *Core) { c.Reduce(20, "sum", ids, 8, 1) })
	s.rest()
	s.at(caller, func(c *Core) { c.Put(21, ids[8], 100, 0); c.Filled(21, 100) })
	s.rest()
	s.kill(dies)
	s.rest()
	for range 20 {
		s.land()
		s.rest()
	}
	if got := s.results[20]; got.Code != OK || len(got.Used) != 8 {
		t.Errorf("the reduction gave %+v, want a sum of 8", got)
	}
}
