package price

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// TestWhatRanksDid checks all that a result says of ranks.
func TestWhatRanksDid(t *testing.T) {
	encode := schedule.Step{Kind: schedule.Encode, Dst: []schedule.Region{piece(1, 16)}, Src: []schedule.Region{piece(1, 8)}}
	decode := schedule.Step{Kind: schedule.Decode, Dst: []schedule.Region{piece(2, 8)}, Src: []schedule.Region{piece(2, 16)}}
	coded := put(2, 16, 2)
	coded.Src[0] = piece(1, 16)
	c, build := written(
		one(put(1, 8, 0), put(1, 4, schedule.NoSlot), signal(1, 1)),
		lanes{{await(0, 1), combine(1, 8, 3, 2), clone(1, 4), encode}, {await(1, 1), coded}},
		one(await(2, 1), decode),
	)
	m := Machine{
		Network: Link{Latency: 1, Put: 0.5, Signal: 0.5}, Bandwidth: 8,
		CopyRate: 8, ReduceRate: 8, CodeRate: 16, CodeRatio: 0.25,
	}
	res, err := Run(&m, c, build, Load{Element: 2})
	if err != nil {
		t.Fatal(err)
	}
	// Rank 0: puts leave at 1/2 to 2 1/2 and to 3 1/2, and are there a second later, with
	// the signal behind the second, which costs nothing.
	// Rank 1: the first lane goes on at 3 1/2, folds (4 + 2) and copies (1) to 10 1/2 and
	// encodes to 11 1/2; the second lane, ready at 4 1/2, then puts 32/4 bytes: from 12
	// on, there at 14. Rank 2 decodes for 1 s.
	want := Result{Makespan: 15, Steps: 2, Rounds: 2, Ranks: []Rank{
		{Finish: 3.5, Waiting: 2.5, Puts: 2, Signals: 1, Sent: 24},
		{Finish: 13, Waiting: 3.5 + 1, Steps: 1, Rounds: 1, Puts: 1, Sent: 8, Received: 24, Combined: 32, Copied: 16 + 8, Coded: 16},
		{Finish: 15, Waiting: 14, Steps: 2, Rounds: 2, Received: 8, Coded: 16},
	}}
	if d := cmp.Diff(want, res); d != "" {
		t.Errorf("result (-want +got):\n%s", d)
	}
}

// TestCostOfRing compares the counts of the ring below with what it is: 2(P-1)
// messages one after the other, each with 1/P of the vector.
func TestCostOfRing(t *testing.T) {
	for _, p := range []int{2, 3, 8, 17} {
		c := &schedule.Call{Op: schedule.AllReduce, Size: p, Count: 60 * p, Line: 1}
		got, err := Cost(c, rings)
		if err != nil {
			t.Fatal(err)
		}
		rounds := 2 * (p - 1)
		want := Counts{
			Steps: rounds, Rounds: rounds, Bandwidth: float64(60 * rounds), Arithmetic: float64(60 * (p - 1)),
			Sent: 60 * rounds, Received: 60 * rounds, Puts: rounds, Messages: rounds, Combined: 60 * (p - 1), Total: 60 * rounds * p,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d ranks (-want +got):\n%s", p, d)
		}
	}
}

// TestExposed checks that cutting the vector in four hides arithmetic that the
// whole vector exposes, by as much as one can say: see the steps of a ring.
func TestExposed(t *testing.T) {
	// Transfer and folding of a chunk take equally long and nothing else takes any.
	m := Machine{Bandwidth: 1, ReduceRate: 1}
	c := &schedule.Call{Op: schedule.AllReduce, Size: 4, Count: 16, Line: 1}
	for _, test := range []struct {
		lanes int
		want  float64
	}{
		{1, 12.0 / 36}, // 6 transfers of 4 s, 3 foldings of 4 s, none at the same time
		{4, 0},         // 6 transfers of 4 x 1 s, and a segment is folded while others are under way
	} {
		emit := schedule.Pipeline(schedule.Segmentation{Concurrency: test.lanes}, rings)
		p, err := Compile(c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) })
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Exposed(&m, Load{})
		if err != nil {
			t.Fatal(err)
		}
		if got != test.want {
			t.Errorf("%d lanes: %v of the time is arithmetic, want %v", test.lanes, got, test.want)
		}
	}
}

// TestSame checks that pricing again gives the same result, bit by bit.
func TestSame(t *testing.T) {
	c := &schedule.Call{Op: schedule.AllReduce, Size: 13, Count: 1000, Line: 16}
	emit := schedule.Pipeline(schedule.Segmentation{Size: 300, Concurrency: 2}, rings)
	m := edr
	m.RanksPerNode, m.Cores, m.Switch, m.Memory = 4, 2, 1e-6, 1e10
	build := func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) }
	l := Load{Element: 8, Runs: 3, Arrival: make([]float64, 13)}
	for r := range l.Arrival {
		l.Arrival[r] = float64(r*r%7) * 1e-6
	}
	first, err := Run(&m, c, build, l)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(&m, c, build, l)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("%v\nand then\n%v", first, again)
	}
}
