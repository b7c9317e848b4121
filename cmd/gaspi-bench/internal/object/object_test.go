package object

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
)

// Goal: the contents that stand for objects differ between ranks and operations, and sums
// of them are exact in float32.
func TestObjectValues(t *testing.T) {
	const ranks = 512
	for element := range 200 {
		for number := range 3 {
			sum, exact := float32(0), 0
			for r := range ranks {
				sum += sourceValue(r, element, number)
				exact += (r + 1) * pattern(element, number)
			}
			if int(sum) != exact || sum >= 1<<24 {
				t.Fatalf("the sum at element %d of operation %d is %v, want %d", element, number, sum, exact)
			}
			if sourceValue(1, element, number) == sourceValue(1, element, number+1) || sourceValue(1, element, number) == sourceValue(2, element, number) {
				t.Errorf("element %d does not tell operation %d or rank 1 from the next", element, number)
			}
		}
	}
}

func TestObjectsFor(t *testing.T) {
	for _, c := range []struct {
		time, one time.Duration
		want      int
	}{
		{time.Second, 0, measure.MaxBlocks},
		{time.Second, time.Millisecond, 1000},
		{time.Second, 100 * time.Millisecond, 15},
		{time.Second, 5 * time.Second, 3},
		{time.Second, 16 * time.Second, 0},
	} {
		if got := operationsFor(c.time, c.one); got != c.want {
			t.Errorf("%v for operations of %v: %d of them, want %d", c.time, c.one, got, c.want)
		}
	}
}

func TestObjectModel(t *testing.T) {
	for _, c := range []struct {
		kind   Pattern
		arrive bool
		want   float64 // of 4 ranks, transfers of 1 s and latencies of 0.1 s
	}{
		{RoundTrip, false, 2.2},
		{Broadcast, false, 1.3},
		{Broadcast, true, 1.1},
		{Gather, false, 3.1},
		{Reduce, false, 1.3},
		{Reduce, true, 1.1},
		{AllReduce, false, 2.1},
	} {
		if got := c.kind.model(4, 1, 0.1, c.arrive); math.Abs(got.seconds-c.want) > 1e-9 {
			t.Errorf("kind %d, arriving %v: %v, want %v", c.kind, c.arrive, got, c.want)
		}
	}
}

// Goal: the time on links alone is that of a chain only where neither a tree nor one rank that
// sends to all is faster.
func TestLinksAloneAreTheLeast(t *testing.T) {
	for _, c := range []struct {
		kind              Pattern
		n                 int
		transfer, latency float64
		want              linkTime
	}{
		{Broadcast, 16, 1, 0.001, linkTime{1.015, "S/B + (n-1) L"}},
		{Reduce, 16, 0.5, 1, linkTime{6, "log2(n) (S/B + L)"}},
		{Broadcast, 9, 0.5, 1, linkTime{5, "(n-1) S/B + L"}},
		{Broadcast, 16, 0.01, 1, linkTime{1.15, "(n-1) S/B + L"}},
		{Broadcast, 2, 1, 1, linkTime{2, "S/B + (n-1) L"}},
		{AllReduce, 16, 16, 0.01, linkTime{30.3, "2 (n-1)/n S/B + 2 (n-1) L"}},
		{AllReduce, 16, 1, 1, linkTime{8, "log2(n) (S/B + L)"}},
		{AllReduce, 6, 1, 1, linkTime{8, "(log2(n) + 2) (S/B + L), log2 rounded down"}},
	} {
		if got := c.kind.model(c.n, c.transfer, c.latency, false); math.Abs(got.seconds-c.want.seconds) > 1e-9 || got.formula != c.want.formula {
			t.Errorf("kind %d of %d ranks, S/B %v, L %v: %v, want %v", c.kind, c.n, c.transfer, c.latency, got, c.want)
		}
	}
}

func TestChainIsNoLimitWhereItIsBeaten(t *testing.T) {
	rows := func(n int, store, static, bare float64) []report.Row {
		return []report.Row{
			{Impl: report.ImplGaspi, N: n, P50US: store}, {Impl: report.ImplStatic, N: n, P50US: static}, {Impl: report.ImplLimit, N: n, P50US: bare},
		}
	}
	for _, c := range []struct {
		kind Pattern
		rows []report.Row
		want string
	}{
		{Broadcast, rows(4, 3, 2, 1), report.ImplLimit},
		{Broadcast, rows(4, 3, 1, 2), report.ImplChain},
		{AllReduce, rows(4, 1, 3, 2), report.ImplChain},
		{Broadcast, rows(2, 3, 1, 2), report.ImplLimit},
		{Gather, rows(4, 3, 1, 2), report.ImplLimit},
	} {
		if c.kind.nameChains(c.rows); c.rows[2].Impl != c.want {
			t.Errorf("kind %d, %d ranks: bare writes are called %s, want %s", c.kind, c.rows[2].N, c.rows[2].Impl, c.want)
		}
	}
}

// Goal: what the paths of all ranks do fits together: who is sent to waits for it, at the
// same place, and every path ends.
func TestRelayPaths(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		for kind := RoundTrip; kind <= AllReduce; kind++ {
			t.Run(fmt.Sprintf("kind %d, %d ranks", kind, n), func(t *testing.T) {
				r := pathsOf{ranks: n, size: 100, inbox: limit.Page, outbox: 10 * limit.Page}
				var all [][]hop
				ends, sources := 0, 0
				for me := range n {
					all = append(all, r.paths(kind, me))
				}
				for me, hops := range all {
					for _, h := range hops {
						if h.source {
							sources++
						}
						if h.ends {
							ends++
							continue
						}
						if !slices.ContainsFunc(all[h.next], func(x hop) bool { return !x.source && x.note == h.toNote && x.off == h.toOff }) {
							t.Errorf("rank %d sends to rank %d, which does not wait for it: %+v", me, h.next, h)
						}
					}
				}
				want := map[Pattern][2]int{Gather: {n - 1, n - 1}, RoundTrip: {1, 2}, AllReduce: {1, 2}}
				w, ok := want[kind]
				if !ok {
					w = [2]int{1, 1}
				}
				if sources != w[0] || ends != w[1] {
					t.Errorf("%d sources and %d ends, want %v", sources, ends, w)
				}
			})
		}
	}
}
