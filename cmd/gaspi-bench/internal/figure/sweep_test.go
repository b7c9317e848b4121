package figure

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// timesOf are times of two lines, a and b, on 8 ranks, in microseconds.
func timesOf(bytes []int, a, b []float64) *SweepTimes {
	t := NewTimes(Simulated, Grid{Ranks: []int{8}, Bytes: bytes, Large: mib}, "")
	for i, n := range bytes {
		for name, all := range map[string][]float64{"a": a, "b": b} {
			if !math.IsNaN(all[i]) {
				t.Set(Point{name, 8, n}, Timing{Seconds: all[i] * 1e-6})
			}
		}
	}
	return t
}

func TestFaster(t *testing.T) {
	nan := math.NaN()
	times := timesOf([]int{kib, mib, 4 * mib}, []float64{10, 1, 2}, []float64{5, 2, 16})
	for _, c := range []struct {
		name      string
		ranks     []int
		bytes     []int
		want      float64
		line, tha string
	}{
		{"one point", []int{8}, []int{kib}, 0.5, "a", "b"},
		{"the other way round", []int{8}, []int{kib}, 2, "b", "a"},
		{"a geometric mean", []int{8}, []int{mib, 4 * mib}, 4, "a", "b"},
		{"of large vectors", []int{8}, times.Grid.LargeBytes(), 4, "a", "b"},
		{"other ranks", []int{9}, []int{mib}, nan, "a", "b"},
		{"no such line", []int{8}, []int{mib}, nan, "a", "c"},
		{"no point", []int{8}, nil, nan, "a", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := times.Faster(c.line, c.tha, c.ranks, c.bytes)
			if math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestCrossover(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	bytes := []int{kib, 16 * kib, mib, 4 * mib}
	for _, c := range []struct {
		name string
		a, b []float64
		more float64
		want float64
	}{
		{"in the middle", []float64{2, 2, 1, 1}, []float64{1, 1, 2, 2}, 1, mib},
		{"from the start", []float64{1, 1, 1, 1}, []float64{2, 2, 2, 2}, 1, kib},
		{"never", []float64{2, 2, 2, 2}, []float64{1, 1, 1, 1}, 1, inf},
		{"not at the end", []float64{1, 1, 1, 2}, []float64{2, 2, 2, 1}, 1, inf},
		{"for good", []float64{1, 2, 1, 1}, []float64{2, 1, 2, 2}, 1, mib},
		{"by more than a little", []float64{1, 1, 1, 1}, []float64{1.01, 1.01, 1.01, 2}, 1.05, 4 * mib},
		{"equals", []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, 1, inf},
		{"a time is missing", []float64{1, 1, nan, 1}, []float64{2, 2, 2, 2}, 1, nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := timesOf(bytes, c.a, c.b).Crossover("a", []string{"b"}, 8, c.more)
			if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSlowdownAndTail(t *testing.T) {
	times := timesOf([]int{mib, 2 * mib}, []float64{10, 20}, []float64{10, 40})
	times.Set(Point{"a", 9, mib}, Timing{Seconds: 15e-6})
	times.Set(Point{"a", 9, 2 * mib}, Timing{Seconds: 30e-6})
	if got := times.slowdown("a", 8, 9); math.Abs(got-1.5) > 1e-9 {
		t.Errorf("slowdown %v, want 1.5", got)
	}
	if got := times.slowdown("b", 8, 9); !math.IsNaN(got) {
		t.Errorf("slowdown of what was not measured is %v", got)
	}
	if a, b := times.tail("a", 8), times.tail("b", 8); math.Abs(a-1) > 1e-9 || math.Abs(b-0.5) > 1e-9 {
		t.Errorf("throughput at the end is %v and %v of that before, want 1 and 0.5", a, b)
	}
}

func TestEverySecond(t *testing.T) {
	for _, c := range []struct{ all, want []int }{
		{nil, nil}, {[]int{1}, []int{1}}, {[]int{1, 2}, []int{2}}, {[]int{1, 2, 3}, []int{1, 3}}, {[]int{1, 2, 3, 4}, []int{2, 4}},
	} {
		if diff := cmp.Diff(c.want, everySecond(c.all)); diff != "" {
			t.Errorf("of %v (-want +got):\n%s", c.all, diff)
		}
	}
}
