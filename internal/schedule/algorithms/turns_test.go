package algorithms

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// Goal: formulas know how often ranks that share cores give them away.
// Method: what a longer turn adds to calls of short vectors, by formula and by simulation, of algorithms in which all ranks
// meet, exchange something in rounds, go around a ring, or pass something along a tree.
func TestTurns(t *testing.T) {
	for _, test := range []struct {
		op    schedule.Operation
		name  string
		radix int
		most  float64 // times that one may say of the other
		ranks []int   // nil: 16, 48 and 64
	}{
		{schedule.AllReduce, "direct", 0, 1.03, nil},
		{schedule.AllReduce, "dissemination", 0, 1.06, nil},
		{schedule.AllReduce, "doubling", 0, 1.02, nil},
		{schedule.AllReduce, "double-tree", 0, 1.1, nil},
		{schedule.Broadcast, "direct", 0, 1.1, nil},
		{schedule.Broadcast, "flat", 0, 1.05, nil},
		{schedule.Broadcast, "eager", 0, 1.2, nil},
		{schedule.Reduce, "eager", 2, 1.2, nil},
		{schedule.Gather, "eager", 0, 1.25, nil},
		{schedule.AllToAll, "flip", 0, 1.02, nil},
		{schedule.AllToAll, "bruck", 2, 1.2, nil},
		{schedule.AllToAll, "bruck", 4, 1.2, nil},
		{schedule.AllGather, "bruck", 2, 1.05, nil},
		{schedule.AllGather, "bruck", 4, 1.1, []int{17, 20, 24}},
		{schedule.AllGather, "bruck", 16, 1.12, []int{17, 20, 24, 33}},
		{schedule.AllReduce, "ring", 0, 1.1, nil},
		{schedule.ReduceScatter, "halving", 0, 1.15, nil},
		{schedule.ReduceScatter, "ring", 0, 1.25, nil},
		{schedule.Barrier, "all-to-one", 0, 1.05, nil},
	} {
		if test.ranks == nil {
			test.ranks = []int{16, 48, 64}
		}
		for _, ranks := range test.ranks {
			a, err := Lookup(test.op, test.name)
			if err != nil {
				t.Fatal(err)
			}
			c := schedule.Call{Op: test.op, Size: ranks, Count: 128, Radix: test.radix, Line: 8}
			shorter, bySimulation := turns(t, &c, a, 4e-6)
			longer, all := turns(t, &c, a, 6e-6)
			got, want := longer-shorter, all-bySimulation
			if ratio := max(got/want, want/got); !(ratio <= test.most) {
				t.Errorf("%v by %s, radix %d, %d ranks: %.3g s more by its formula, %.3g s by simulation", test.op, test.name, test.radix, ranks, got, want)
			}
		}
	}
}

// turns is the time of a call of ranks that share two cores, of which a turn takes so long, by formula and by simulation.
func turns(t *testing.T, c *schedule.Call, a Algorithm, turn float64) (formula, simulation float64) {
	t.Helper()
	m := price.Machine{
		Shared: price.Link{Latency: 105e-9, Put: 55e-9, Signal: 60e-9}, Await: 4e-9, Step: 65e-9, ReduceRate: 24e9, CopyRate: 30e9,
		Cores: 2, Switch: turn, RanksPerNode: c.Size,
	}
	s, err := price.NewTopology(&m, c.Size, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	build := func(r int) *schedule.Schedule { return schedule.Build(c, r, a.Emit) }
	res, err := price.Run(&m, c, build, price.Load{Element: 8, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	w := price.Segments{Count: 1, AtOnce: 1, Element: 8, Vectors: float64(c.Count)}
	return price.Estimate(&m, s, a.Formula(s, c), w), res.Makespan / 2
}
