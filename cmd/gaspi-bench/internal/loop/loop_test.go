package loop

import (
	"math"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// quietLoop is a loop whose times one can say: a vector moves in 1 ms and is folded in
// half a one.
func quietLoop(ranks int) Loop {
	return Loop{
		Ranks: ranks, Iterations: 10, Bytes: 1000, Compute: 10 * time.Millisecond, Slacks: []int{0, 4},
		Machine: price.Machine{Bandwidth: 1e6, ReduceRate: 2e6},
	}
}

// Goal: where all ranks are alike, a call takes its steps, and slack saves what the links
// take.
func TestStaleSimQuiet(t *testing.T) {
	for _, ranks := range []int{2, 4, 8} {
		l := quietLoop(ranks)
		steps := math.Log2(float64(ranks))
		row := newStaleSim(&l, 0).run()
		if want := steps * 1.5e-3; math.Abs(row.Call-want) > 1e-9 {
			t.Errorf("%d Ranks: a call takes %v s, want %v", ranks, row.Call, want)
		}
		if want := steps * 1e-3; math.Abs(row.Wait-want) > 1e-9 {
			t.Errorf("%d Ranks: it waits %v s, want %v", ranks, row.Wait, want)
		}
		stale := newStaleSim(&l, 4).run()
		if stale.Call >= row.Call || stale.Wait > row.Wait/2 || stale.Rate <= row.Rate {
			t.Errorf("%d Ranks: with slack a call takes %v s and waits %v; without %v and %v", ranks, stale.Call, stale.Wait, row.Call, row.Wait)
		}
	}
}

// Goal: no rank uses what is older than the slack allows, whatever the ranks do.
func TestStaleSimBound(t *testing.T) {
	for _, slack := range []int{0, 1, 3, 50} {
		l := quietLoop(16)
		l.Spread, l.Iterations = 1, 200
		s := newStaleSim(&l, slack)
		for len(s.queue) > 0 {
			e := s.queue[0]
			r := &s.ranks[e.rank]
			step := r.step
			s.next()
			if step >= 0 && r.step != step && r.oldest < r.clock-slack {
				t.Fatalf("slack %d: rank %d has folded a contribution of call %d in call %d", slack, e.rank, r.oldest, r.clock)
			}
		}
		for i := range s.ranks {
			if s.ranks[i].clock != l.Iterations || s.ranks[i].parked {
				t.Errorf("slack %d: rank %d ended after %d calls of %d", slack, i, s.ranks[i].clock, l.Iterations)
			}
		}
	}
}

// Goal: the loop runs for real, and ends.
func TestRunLoop(t *testing.T) {
	l := Loop{Ranks: 4, Iterations: 12, Bytes: 4096, Compute: time.Millisecond, Spread: 0.5, Slacks: []int{0, 3}}
	r, err := Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range append(r.Stale, r.Ring, r.Calm[0], r.Calm[1]) {
		if row.Call <= 0 || row.Rate <= 0 || row.Wait > row.Call {
			t.Errorf("row %d is %+v", i, row)
		}
	}
}

// Goal: rows that were measured before a run fails stay, and the others are no numbers.
func TestRunKeepsRows(t *testing.T) {
	l := Loop{Ranks: 2, Iterations: 3, Bytes: 4096, Slacks: []int{0, -1}} // there is no such slack
	r, err := Run(t.Context(), l)
	if err == nil || r.Stale[0].Rate <= 0 {
		t.Fatalf("%v, first row %+v", err, r.Stale[0])
	}
	for i, row := range []Row{r.Stale[1], r.Ring, r.Calm[0], r.Calm[1]} {
		if !math.IsNaN(row.Call) || !math.IsNaN(row.Wait) || !math.IsNaN(row.Rate) {
			t.Errorf("row %d is %+v", i, row)
		}
	}
}

// Goal: a host that could not carry the links casts doubt on the figure.
func TestRunKnowsLateness(t *testing.T) {
	l := Loop{Ranks: 2, Iterations: 3, Bytes: 4096, Slacks: []int{0}, Link: "latency=100us,bandwidth=1GB/s"}
	_, late, err := l.run(t.Context(), l.staleStep(0))
	if err != nil || late.Delivered.Events == 0 {
		t.Errorf("%v, %v; want the events of two ranks", late, err)
	}
}
