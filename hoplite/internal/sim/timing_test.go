package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/shape"
)

// link has B x L = 100 bytes: 100 MB/s and 1 us. Only ratios count.
func link(ranks int, sizeOverBL, chunk int64) TimedRun {
	return TimedRun{Ranks: ranks, Size: 100 * sizeOverBL, Chunk: chunk, Bandwidth: 1e8, Latency: time.Microsecond}
}

func (r TimedRun) wire() time.Duration { return time.Duration(float64(r.Size) / r.Bandwidth * 1e9) }

// TestBroadcastBound compares broadcasts with S/B + (n-1)L, and with scatter and ring
// allgather, 2(n-1)/n S/B, the best static schedule.
func TestBroadcastBound(t *testing.T) {
	for _, n := range []int{2, 4, 7, 16} {
		for _, ratio := range []int64{100, 640} {
			r := link(n, ratio, 50)
			got, err := Broadcast(r)
			if err != nil {
				t.Fatal(err)
			}
			bound := r.wire() + time.Duration(n-1)*r.Latency
			static := time.Duration(2 * float64(n-1) / float64(n) * float64(r.wire()))
			t.Logf("%2d ranks, S/BL %d: %v, bound %v (%.3f), static %.2fx", n, ratio, got.Total, bound,
				float64(got.Total)/float64(bound), float64(static)/float64(got.Total))
			if ratio == 640 && got.Total > bound*110/100 {
				t.Errorf("%d ranks: %v, more than 10 %% above %v", n, got.Total, bound)
			}
		}
	}
}

// TestReduceBound compares reductions with the chain's S/B + (n-1)L.
func TestReduceBound(t *testing.T) {
	for _, n := range []int{2, 4, 7, 16} {
		for _, ratio := range []int64{1, 4, 16, 100, 640} {
			var times string
			var auto time.Duration
			best := time.Hour
			for _, shape := range []shape.Shape{shape.Chain, shape.Grid, shape.Tree, shape.Auto} {
				r := link(n, ratio, 50)
				r.Shape = shape
				got, err := Reduction(r)
				if err != nil {
					t.Fatal(err)
				}
				times += fmt.Sprintf(" %8v", got.Total)
				if auto = got.Total; auto < best {
					best = auto
				}
			}
			r := link(n, ratio, 50)
			bound := r.wire() + time.Duration(n-1)*r.Latency
			t.Logf("%2d ranks, S/BL %4d: chain, grid, tree, auto%s; chain's bound %v (%.3f)", n, ratio, times, bound, float64(auto)/float64(bound))
			if ratio == 640 && auto > bound*115/100 {
				t.Errorf("%d ranks: %v, more than 15 %% above %v", n, auto, bound)
			}
			if auto > best*125/100 {
				t.Errorf("%d ranks, S/BL %d: the shape that was chosen takes %v, another %v", n, ratio, auto, best)
			}
		}
	}
}

// TestArrivals is Fig. 7: ranks arrive one after the other, and after the last arrival one
// transfer remains.
func TestArrivals(t *testing.T) {
	for _, percent := range []int64{6, 12, 25, 40, 60} {
		r := link(16, 640, 50)
		r.Interval = r.wire() * time.Duration(percent) / 100
		for name, f := range map[string]func(TimedRun) (Time, error){"broadcast": Broadcast, "reduce": Reduction} {
			got, err := f(r)
			if err != nil {
				t.Fatal(err)
			}
			ratio := float64(got.Last) / float64(r.wire())
			t.Logf("interval %2d %% of S/B, %s: %v after the last arrival, %.3f S/B", percent, name, got.Last, ratio)
			if ratio > 1.15 {
				t.Errorf("interval %d %%, %s: %.3f S/B after the last arrival", percent, name, ratio)
			}
		}
	}
}
