package choice

import (
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: formulas know what ranks do meanwhile: smaller blocks of ranks send while the largest one halves, ports take in what
// others send, a root's copies go on while others read, messages come while a root gives credits for others, the holder of
// a short block sends while the root hears from a long one, and no rank goes on before what it passes on has left.
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
		{"shared memory", schedule.Gather, "flat", 19, 4 << 10, false, 0.95, 1.03},
		{"shared memory", schedule.Gather, "flat", 128, 16 << 10, true, 0.98, 1.03},
		{"a host each", schedule.Gather, "flat", 8, 4 << 10, false, 0.98, 1.02},
		{"a host each", schedule.Gather, "flat", 40, 8, false, 0.98, 1.02},
		{"a host each", schedule.Gather, "flat", 40, 16 << 10, false, 0.98, 1.02},
		{"four on a host", schedule.Gather, "flat", 12, 4 << 10, false, 0.95, 1.05},
		{"hosts of many sizes", schedule.Gather, "flat", 20, 4 << 10, false, 0.95, 1.07},
		{"a slow network", schedule.Gather, "flat", 19, 4 << 10, false, 0.97, 1.02},
		{"a slow network", schedule.Gather, "flat", 9, 16 << 10, false, 0.98, 1.02},
		{"a host each", schedule.Gather, "flat/16384x2", 9, 512 << 10, true, 0.98, 1.02},
		{"a host each", schedule.Gather, "flat/16384x2", 18, 512 << 10, true, 0.97, 1.06},
		{"four on a host", schedule.Gather, "flat/16384x2", 18, 512 << 10, true, 0.98, 1.05},
		{"a slow network", schedule.Gather, "flat/16384x2", 24, 512 << 10, true, 0.98, 1.05},
		{"hosts of many sizes", schedule.Gather, "binomial", 20, 16 << 10, true, 0.95, 1.05},
		{"two cores", schedule.Scatter, "flat", 16, 16 << 10, true, 0.95, 1.02},
		{"sockets", schedule.Scatter, "flat", 24, 16 << 10, true, 0.97, 1.08},
		{"sockets", schedule.Scatter, "flat", 40, 64 << 10, true, 0.93, 1.02},
		{"a host each", schedule.Reduce, "eager", 18, 8, false, 0.98, 1.02},
		{"a host each", schedule.Reduce, "eager", 20, 1 << 10, false, 0.97, 1.03},
		{"four on a host", schedule.Reduce, "eager", 18, 4 << 10, false, 0.94, 1.03},
		{"hosts of many sizes", schedule.Reduce, "eager", 22, 1 << 10, false, 0.97, 1.05},
		{"a slow network", schedule.Reduce, "eager", 18, 4 << 10, false, 0.97, 1.03},
		{"a slow network", schedule.Reduce, "eager", 25, 4 << 10, false, 0.97, 1.03},
		{"a slow network", schedule.Reduce, "eager", 30, 4 << 10, false, 0.93, 1.03},
		{"two cores", schedule.Reduce, "eager radix 2", 25, 128 << 10, true, 0.97, 1.07},
		{"sockets", schedule.Reduce, "eager radix 2", 25, 128 << 10, false, 0.95, 1.03},
		{"sockets", schedule.Reduce, "eager radix 4", 8, 128 << 10, false, 0.98, 1.06},
		{"four on a host", schedule.Gather, "flat", 8, 4 << 10, false, 0.97, 1.05},
		{"hosts of many sizes", schedule.Gather, "flat", 16, 128 << 10, true, 0.98, 1.07},
		{"two cores", schedule.Broadcast, "flat", 4, 64 << 10, true, 0.95, 1.06},
		{"sockets", schedule.Broadcast, "flat", 24, 64 << 10, true, 0.98, 1.12},
		{"sockets", schedule.Reduce, "binomial", 20, 128 << 10, false, 0.97, 1.06},
	} {
		s := settings()[slices.IndexFunc(settings(), func(s setting) bool { return s.name == test.setting })]
		ch, c := s.call(test.op, test.ranks, test.bytes, test.plain)
		compared := false
		algorithm := test.name
		if strings.ContainsAny(algorithm, " /") { // a variant among all: an algorithm that is named has one radix
			algorithm = ""
		}
		each(t, ch, &c, algorithm, func(v Variant, got, want float64) {
			if !strings.HasPrefix(v.String(), test.name) {
				return
			}
			compared = true
			if got < test.least*want || got > test.most*want {
				t.Errorf("%s: %v of %d bytes by %v, %d ranks: %.3g s by its formula, %.3g s by simulation", s.name, test.op, test.bytes, v, test.ranks, got, want)
			}
		})
		if !compared {
			t.Errorf("%s: no candidates of %v by %s", s.name, test.op, test.name)
		}
	}
}
