package reduce

import (
	"math"
	"testing"
)

type celsius float32

func TestIntoByHand(t *testing.T) {
	t.Run("sum of a defined float type", func(t *testing.T) {
		dst := make([]celsius, 2)
		Into(Sum, dst, []celsius{1, 2}, []celsius{0.5, -2})
		if dst[0] != 1.5 || dst[1] != 0 {
			t.Errorf("got %v, want [1.5 0]", dst)
		}
	})
	t.Run("int8 wraps", func(t *testing.T) {
		dst := make([]int8, 1)
		Into(Sum, dst, []int8{127}, []int8{1})
		if dst[0] != -128 {
			t.Errorf("got %v, want -128", dst)
		}
	})
	t.Run("min of zeros and NaN", func(t *testing.T) {
		dst := make([]float64, 2)
		Into(Min, dst, []float64{0, 1}, []float64{math.Copysign(0, -1), math.NaN()})
		if !math.Signbit(dst[0]) || math.Float64bits(dst[1]) != nan64 {
			t.Errorf("got %v, want [-0 NaN]", dst)
		}
	})
}
