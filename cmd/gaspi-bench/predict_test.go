package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		candidate string
		want      collective
	}{
		{"ring", collective{algorithm: "ring"}},
		{"ringx8", collective{algorithm: "ring", segments: 8}},
		{"double-tree/4096", collective{algorithm: "double-tree", segmentSize: 4096 * 8}},
		{"ring/4096x4 staged", collective{algorithm: "ring", segmentSize: 4096 * 8, segments: 4}},
		{"ring radix 3", collective{algorithm: "ring"}},
	} {
		got := collective{dtype: dtype{size: 8}}
		if err := got.cut(c.candidate); err != nil {
			t.Errorf("%s: %v", c.candidate, err)
		}
		if got.algorithm != c.want.algorithm || got.segments != c.want.segments || got.segmentSize != c.want.segmentSize {
			t.Errorf("%s: %s in %d of %d bytes; want %s in %d of %d", c.candidate,
				got.algorithm, got.segments, got.segmentSize, c.want.algorithm, c.want.segments, c.want.segmentSize)
		}
	}
}

func TestPredictions(t *testing.T) {
	at := func(op string, bytes uint64, chosen bool, predicted, measured float64) pricedCall {
		return pricedCall{guess{bytes: bytes, predicted: predicted, measured: measured}, op, chosen}
	}
	for _, c := range []struct {
		name string
		all  []pricedCall
		want [3]int // foretold, chosen well, calls
	}{
		{"nothing", nil, [3]int{}},
		{"on the edges", []pricedCall{at("a", 8, true, 1.25, 1), at("a", 8, false, 0.75, 1), at("a", 8, false, 1.3, 1), at("a", 8, false, 0.7, 1)}, [3]int{2, 1, 1}},
		{"the choice is slower", []pricedCall{at("a", 8, true, 1, 1.2), at("a", 8, false, 1, 1)}, [3]int{2, 0, 1}},
		{"the choice is hardly slower", []pricedCall{at("a", 8, true, 1, 1.05), at("a", 8, false, 1, 1)}, [3]int{2, 1, 1}},
		{"calls differ by size and operation", []pricedCall{at("a", 8, true, 1, 1), at("a", 16, true, 1, 1), at("b", 16, true, 9, 1)}, [3]int{2, 3, 3}},
	} {
		right, well, calls := predictions(c.all)
		if d := cmp.Diff(c.want, [3]int{right, well, calls}); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
