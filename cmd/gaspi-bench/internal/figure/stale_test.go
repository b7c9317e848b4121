package figure

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// quietLoop is a loop whose times one can say: a vector moves in 1 ms and is folded in
// half a one.
func quietLoop(ranks int) loop {
	return loop{
		ranks: ranks, iterations: 10, bytes: 1000, compute: 10 * time.Millisecond, slacks: []int{0, 4},
		machine: price.Machine{Bandwidth: 1e6, ReduceRate: 2e6},
	}
}

// Goal: where all ranks are alike, a call takes its steps, and slack saves what the links
// take.
func TestStaleSimQuiet(t *testing.T) {
	for _, ranks := range []int{2, 4, 8} {
		l := quietLoop(ranks)
		steps := math.Log2(float64(ranks))
		row := newStaleSim(&l, 0).run()
		if want := steps * 1.5e-3; math.Abs(row.call-want) > 1e-9 {
			t.Errorf("%d ranks: a call takes %v s, want %v", ranks, row.call, want)
		}
		if want := steps * 1e-3; math.Abs(row.wait-want) > 1e-9 {
			t.Errorf("%d ranks: it waits %v s, want %v", ranks, row.wait, want)
		}
		stale := newStaleSim(&l, 4).run()
		if stale.call >= row.call || stale.wait > row.wait/2 || stale.rate <= row.rate {
			t.Errorf("%d ranks: with slack a call takes %v s and waits %v; without %v and %v", ranks, stale.call, stale.wait, row.call, row.wait)
		}
	}
}

// Goal: no rank uses what is older than the slack allows, whatever the ranks do.
func TestStaleSimBound(t *testing.T) {
	for _, slack := range []int{0, 1, 3, 50} {
		l := quietLoop(16)
		l.spread, l.iterations = 1, 200
		s := newStaleSim(&l, slack)
		for s.queue.Len() > 0 {
			e := s.queue[0]
			r := &s.ranks[e.rank]
			step := r.step
			s.next()
			if step >= 0 && r.step != step && r.oldest < r.clock-slack {
				t.Fatalf("slack %d: rank %d has folded a contribution of call %d in call %d", slack, e.rank, r.oldest, r.clock)
			}
		}
		for i := range s.ranks {
			if s.ranks[i].clock != l.iterations || s.ranks[i].parked {
				t.Errorf("slack %d: rank %d ended after %d calls of %d", slack, i, s.ranks[i].clock, l.iterations)
			}
		}
	}
}

// Goal: the loop runs for real, and ends.
func TestRunLoop(t *testing.T) {
	l := loop{ranks: 4, iterations: 12, bytes: 4 * kib, compute: time.Millisecond, spread: 0.5, slacks: []int{0, 3}}
	r, err := runLoop(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range append(r.stale, r.ring, r.calm[0], r.calm[1]) {
		if row.call <= 0 || row.rate <= 0 || row.wait > row.call {
			t.Errorf("row %d is %+v", i, row)
		}
	}
}

// Goal: a host that could not carry the links casts doubt on the figure.
func TestRunKnowsLateness(t *testing.T) {
	l := loop{ranks: 2, iterations: 3, bytes: 4 * kib, slacks: []int{0}, link: "latency=100us,bandwidth=1GB/s"}
	_, late, err := l.run(t.Context(), l.staleStep(0))
	if err != nil || late.Delivered.Events == 0 {
		t.Errorf("%v, %v; want the events of two ranks", late, err)
	}
}

func TestReadFactors(t *testing.T) {
	const text = `{"format":"mfsgd/1","runs":[
		{"slack":0,"iterations":100,"seconds":10,"reached":true,"waiting_share":0.5,"mean":{"seconds":[0.1,0.2],"rmse":[null,0.9]}},
		{"slack":2,"iterations":103,"seconds":9.4,"reached":true,"waiting_share":0.2,"mean":{"seconds":[0.1,0.2],"rmse":[1,0.8]}},
		{"slack":64,"iterations":90,"seconds":20,"reached":false,"waiting_share":0,"mean":{"seconds":[],"rmse":[]}}]}`
	p := &Part{}
	if err := p.readFactors([]byte(text), Raw); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range p.Verdicts {
		got = append(got, v.Claim.Kind.Show(v.Number)+" "+v.Outcome.String())
	}
	want := "1.06x holds, 3 % holds, - not measured, - not measured"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
	if n := len(p.Charts[0].Panels[0].Curves[0].X); n != 1 {
		t.Errorf("%d points are drawn of the one that is known", n)
	}
	for _, bad := range []string{"", "{}", `{"runs":[{"slack":2},{"slack":0}]}`} {
		if err := (&Part{}).readFactors([]byte(bad), Raw); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
