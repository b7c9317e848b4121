package algorithms

import (
	"math"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// linkOf is the model of hosts with such a link between them that code at a rate.
func linkOf(bandwidth, rate, ratio float64) *price.Machine {
	return &price.Machine{
		Call: 50e-9, Await: 10e-9, Step: 15e-9, Network: price.Link{Latency: 5e-6, Put: 1e-6, Signal: 1e-6},
		Bandwidth: bandwidth, ReduceRate: 20e9, CopyRate: 12e9, CodeRate: rate, CodeRatio: ratio,
	}
}

// soonest is the least time, in seconds, in which an algorithm does a call of
// float32 on 16 MiB at 4 ranks, in one piece or in some number of segments.
func soonest(t *testing.T, m *price.Machine, op schedule.Operation, name string) float64 {
	t.Helper()
	a, err := Lookup(op, name)
	if err != nil {
		t.Fatal(err)
	}
	c := schedule.Call{Op: op, Size: 4, Count: 4 << 20, Line: 16}
	least := math.Inf(1)
	for _, segments := range []int{1, 4, 16} {
		s, err := price.PredictSegments(m, &c, schedule.Segmentation{Concurrency: segments}, a.Emit, price.Load{Element: 4, Runs: 2})
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, s)
	}
	return least
}

// TestWhereCodingPays finds the bandwidth of a link below which coding is faster than
// the best that sends vectors as they are, and compares it with what is to be
// expected: a rank codes three times its vector in an allreduce, and sends it twice if
// it does not. If forms are as long as vectors, coding never pays; if coding overlaps
// sending, it pays where it is faster than sending.
//
// docs/decisions/0006-compression.md has the figures that it logs.
func TestWhereCodingPays(t *testing.T) {
	for _, x := range []struct {
		name        string
		rate, ratio float64 // bytes per second of coding, and the length of forms
	}{
		{"lossless, smooth", 0.78e9, 0.60},
		{"lossless, noisy", 0.89e9, 0.69},
		{"lossless, random", 2.9e9, 1},
		{"error bound 0.001, smooth", 0.55e9, 0.05},
		{"error bound 0.001, noisy", 0.59e9, 0.09},
		{"error bound 0.001, random", 0.45e9, 0.38},
		{"top 0.01", 0.69e9, 0.013},
	} {
		for _, y := range []struct {
			op            schedule.Operation
			coded, others string
		}{{schedule.AllReduce, "coded", "ring"}, {schedule.Broadcast, "coded-chain", "chain"}} {
			gain := func(bandwidth float64) float64 {
				m := linkOf(bandwidth, x.rate, x.ratio)
				return soonest(t, m, y.op, y.others) / soonest(t, m, y.op, y.coded)
			}
			low, high := 1e6, 1e11
			if gain(low) <= 1 {
				high = low
			}
			for high/low > 1.02 {
				if mid := math.Sqrt(low * high); gain(mid) > 1 {
					low = mid
				} else {
					high = mid
				}
			}
			t.Logf("%v, %s: below %.0f MB/s; %.1f times as fast at 125 MB/s, %.2f at 1250", y.op, x.name, low/1e6, gain(125e6), gain(1250e6))
			least, most := (1-x.ratio)*x.rate/3, x.rate
			if x.ratio == 1 {
				least, most = 0, 1e6
			}
			if low < least || low > most {
				t.Errorf("%v, %s: coding pays below %v B/s; want between %v and %v", y.op, x.name, low, least, most)
			}
		}
	}
}
