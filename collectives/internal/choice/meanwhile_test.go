package choice

import (
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: formulas know what ranks do meanwhile: smaller blocks of ranks send while the largest one halves, ports take in what
// others send, a root's copies go on while others read, and no rank goes on before what it passes on has left.
// Method: candidates between parts of what a simulation says.
func TestEstimatesOfWhatGoesOnMeanwhile(t *testing.T) {
	for _, test := range []struct {
		setting      string
		op           schedule.Operation
		name         string
		ranks, bytes int
		plain        bool
		least, most  float64
	}{
		{"shared memory", schedule.AllReduce, "halving", 19, 4 << 10, false, 0.97, 1.05},
		{"two cores", schedule.AllReduce, "halving", 33, 512, false, 0.9, 1.15},
		{"a host each", schedule.AllReduce, "halving", 25, 512, false, 0.95, 1.05},
		{"four on a host", schedule.AllReduce, "halving", 12, 32 << 10, false, 0.9, 1.1},
		{"four on a host", schedule.AllReduce, "halving", 6, 8, false, 0.8, 1.05},
		{"four on a host", schedule.AllReduce, "halving", 25, 64 << 10, false, 0.9, 1.15},
		{"shared memory", schedule.ReduceScatter, "blocks", 33, 64, false, 0.9, 1.05},
		{"two cores", schedule.ReduceScatter, "blocks", 15, 512, false, 0.9, 1.05},
		{"a host each", schedule.ReduceScatter, "blocks", 30, 32 << 10, false, 0.85, 1},
		{"a slow network", schedule.ReduceScatter, "blocks", 33, 64 << 10, false, 0.95, 1.1},
		{"four on a host", schedule.ReduceScatter, "ring", 24, 32 << 10, false, 0.98, 1.1},
		{"hosts of many sizes", schedule.ReduceScatter, "ring", 50, 4 << 10, false, 0.88, 1},
		{"hosts of many sizes", schedule.Reduce, "ring-gather", 24, 96 << 10, false, 0.95, 1.07},
		{"a slow network", schedule.Reduce, "binomial", 16, 8, false, 0.98, 1.02},
		{"shared memory", schedule.Reduce, "binomial", 48, 8, false, 0.98, 1.03},
		{"four on a host", schedule.AllGather, "flip", 24, 1 << 10, true, 0.95, 1.1},
		{"four on a host", schedule.AllGather, "ring", 12, 8, false, 0.88, 1},
		{"hosts of many sizes", schedule.AllGather, "ring", 12, 8, false, 0.88, 1},
		{"shared memory", schedule.Broadcast, "direct", 11, 256 << 10, true, 0.98, 1.03},
		{"hosts of many sizes", schedule.Scatter, "flat", 12, 1 << 20, false, 0.89, 1.05},
		{"four on a host", schedule.Scatter, "flat", 11, 1 << 20, false, 0.91, 1.04},
		{"shared memory", schedule.AllToAll, "direct", 12, 1 << 10, true, 0.97, 1.03},
		{"shared memory", schedule.AllToAll, "direct", 19, 1 << 10, true, 0.97, 1.03},
		{"four on a host", schedule.AllToAll, "direct", 12, 16 << 10, false, 0.97, 1.03},
		{"hosts of many sizes", schedule.AllToAll, "direct", 16, 16 << 10, false, 0.97, 1.03},
		{"hosts of many sizes", schedule.AllToAll, "direct", 40, 4 << 10, false, 0.97, 1.03},
		{"hosts of many sizes", schedule.AllToAll, "pairwise", 24, 16 << 10, false, 0.97, 1.03},
		{"shared memory", schedule.Scan, "doubling", 12, 4 << 10, false, 0.95, 1.03},
		{"shared memory", schedule.Scan, "doubling", 16, 4 << 10, true, 0.92, 1.03},
		{"a host each", schedule.Scan, "doubling", 16, 8, false, 0.95, 1.03},
		{"a host each", schedule.Scan, "doubling", 33, 4 << 10, false, 0.95, 1.05},
		{"four on a host", schedule.Scan, "doubling", 12, 8, false, 0.95, 1.05},
		{"hosts of many sizes", schedule.Scan, "doubling", 32, 8, false, 0.95, 1.05},
		{"a host each", schedule.ReduceScatter, "halving", 25, 1 << 10, true, 0.95, 1.07},
		{"a host each", schedule.ReduceScatter, "halving", 33, 1 << 10, false, 0.95, 1.07},
		{"shared memory", schedule.ReduceScatter, "halving", 9, 1 << 10, false, 0.95, 1.07},
	} {
		s := settings()[slices.IndexFunc(settings(), func(s setting) bool { return s.name == test.setting })]
		ch, c := s.call(test.op, test.ranks, test.bytes, test.plain)
		each(t, ch, &c, test.name, func(v Variant, got, want float64) {
			if got < test.least*want || got > test.most*want {
				t.Errorf("%s: %v of %d bytes by %v, %d ranks: %.3g s by its formula, %.3g s by simulation", s.name, test.op, test.bytes, v, test.ranks, got, want)
			}
		})
	}
}
