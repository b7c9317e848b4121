package serial

import (
	"math"
	"math/cmplx"
	"testing"
)

// TestForward compares with the definition.
func TestForward(t *testing.T) {
	size := [3]int{2, 3, 5}
	grid := make([]complex128, 30)
	for i := range grid {
		grid[i] = complex(float64(i*i%7), float64(i%4)-1.5)
	}
	got := append([]complex128(nil), grid...)
	Forward(size, got)
	for k, v := range got {
		var want complex128
		for i, x := range grid {
			turns := 0.0
			a, b := i, k
			for axis := 2; axis >= 0; axis-- {
				n := size[axis]
				turns += float64((a%n)*(b%n)) / float64(n)
				a, b = a/n, b/n
			}
			want += x * cmplx.Exp(complex(0, -2*math.Pi*turns))
		}
		if cmplx.Abs(v-want) > 1e-12 {
			t.Errorf("number %d is %v, want %v", k, v, want)
		}
	}
}
