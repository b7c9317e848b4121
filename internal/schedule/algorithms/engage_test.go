package algorithms

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestEngage(t *testing.T) {
	for _, test := range []struct {
		size, root int
		fraction   float64
		want       []int
	}{
		{8, 0, 0.25, []int{0, 1}},
		{8, 0, 0.5, []int{0, 1, 2, 3}},
		{8, 0, 0.51, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{8, 6, 0.3, []int{0, 1, 6, 7}},
		{5, 3, 0.6, []int{0, 1, 3, 4}},
		{5, 3, 0.1, []int{3}},
		{1, 0, 1, []int{0}},
	} {
		var got []int
		for r, engaged := range Engage(test.size, test.root, test.fraction) {
			if engaged {
				got = append(got, r)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v of %d ranks, root %d: %v, want %v", test.fraction, test.size, test.root, got, test.want)
		}
	}
}

// At least the fraction engages, the root among them, and a reduction of those takes
// no more stages than the fraction asks for.
func TestEngageEnough(t *testing.T) {
	for size := 1; size <= 70; size++ {
		for _, fraction := range []float64{0.01, 0.25, 1. / 3, 0.5, 0.75, 0.99, 1} {
			root := size * 2 / 3
			engaged := Engage(size, root, fraction)
			n, want := 0, int(math.Ceil(fraction*float64(size)))
			for _, e := range engaged {
				if e {
					n++
				}
			}
			at := fmt.Sprintf("%v of %d ranks", fraction, size)
			if n < want || !engaged[root] {
				t.Errorf("%s: %d engage, the root: %v; want %d", at, n, engaged[root], want)
			}
			if log2up(n) != log2up(want) {
				t.Errorf("%s: %d engage and take %d stages, %d would take %d", at, n, log2up(n), want, log2up(want))
			}
		}
	}
}
