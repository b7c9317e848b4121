package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
