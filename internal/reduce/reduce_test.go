package reduce

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type celsius float32

type rank int

func TestIntoByHand(t *testing.T) {
	t.Run("defined float type", func(t *testing.T) {
		dst := make([]celsius, 3)
		Into(Sum, dst, []celsius{1, 2, -3}, []celsius{0.5, -2, -0.25})
		expect(t, dst, []celsius{1.5, 0, -3.25})
	})
	t.Run("defined int type", func(t *testing.T) {
		dst := make([]rank, 3)
		Into(Max, dst, []rank{1, math.MinInt, -3}, []rank{0, math.MaxInt, -2})
		expect(t, dst, []rank{1, math.MaxInt, -2})
	})
	t.Run("uint orders without sign", func(t *testing.T) {
		dst := make([]uint, 5)
		Into(Min, dst, []uint{1, 1, 1, 1, 1}, []uint{math.MaxUint, 0, 2, 1 << 63, 1<<63 - 1})
		expect(t, dst, []uint{1, 0, 1, 1, 1})
	})
	t.Run("integers wrap", func(t *testing.T) {
		dst := make([]int8, 2)
		Into(Sum, dst, []int8{127, -128}, []int8{1, -1})
		expect(t, dst, []int8{-128, 127})
	})
	t.Run("bits", func(t *testing.T) {
		dst := []uint16{0xF0F0}
		Into(Xor, dst, dst, []uint16{0xFF00})
		expect(t, dst, []uint16{0x0FF0})
	})
	t.Run("NaN and zeros", func(t *testing.T) {
		dst, negative := make([]float64, 3), math.Copysign(0, -1)
		Into(Min, dst, []float64{0, 1, math.Inf(-1)}, []float64{negative, math.NaN(), math.Float64frombits(0xFFF0000000000001)})
		expect(t, Of[uint64](BytesOf(dst)), []uint64{1 << 63, nan64, nan64})
	})
	t.Run("empty", func(t *testing.T) {
		Into[float32](Sum, nil, nil, []float32{})
	})
}

func expect[T Number](t *testing.T, got, want []T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result differs (-want +got):\n%s", diff)
	}
}

func TestIntoRefuses(t *testing.T) {
	x := make([]float64, 100)
	n := make([]int32, 4)
	tests := []struct {
		name, want string
		call       func()
	}{
		{"short operand", "reduce.Into: dst has 3 elements, a has 4 and b has 3; all three must have the same length",
			func() { Into(Sum, n[:3], n, n[:3]) }},
		{"bits of floats", "reduce.Into: xor is not defined for float64; And, Or and Xor take integers",
			func() { Into(Xor, x, x, x) }},
		{"no operation", "reduce.Into: Op(10) is not an operation; use one of Sum to MaxLoc",
			func() { Into(Op(10), n, n, n) }},
		{"dst ahead of a", "reduce.Into: dst partly overlaps an operand; it must be the same slice or separate memory",
			func() { Into(Sum, x[1:51], x[:50], x[50:]) }},
		{"dst behind b by one", "reduce.Into: dst partly overlaps an operand; it must be the same slice or separate memory",
			func() { Into(Sum, x[1:3], x[50:52], x[2:4]) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if diff := cmp.Diff(tt.want, fmt.Sprint(recover())); diff != "" {
					t.Errorf("panic differs (-want +got):\n%s", diff)
				}
			}()
			tt.call()
		})
	}
}

func TestIntoAcceptsNeighbours(t *testing.T) {
	x := make([]int32, 96)
	for i := range x {
		x[i] = int32(i)
	}
	// dst touches both operands without sharing an element, and they overlap.
	Into(Sum, x[32:64], x[:32], x[64:])
	Into(Sum, x[:32], x[48:80], x[49:81])
	if x[40] != 8+72 || x[0] != 16+80+17+81 || x[31] != 79+80 {
		t.Errorf("x[40]=%d, x[0]=%d, x[31]=%d, want 80, 194, 159", x[40], x[0], x[31])
	}
}

func TestSupports(t *testing.T) {
	for op := range Op(9) {
		if got, want := Supports[celsius](op), op <= Max; got != want {
			t.Errorf("Supports[celsius](%v) = %v, want %v", op, got, want)
		}
		if got, want := Supports[uint8](op), op <= Xor; got != want {
			t.Errorf("Supports[uint8](%v) = %v, want %v", op, got, want)
		}
	}
}

func TestOpString(t *testing.T) {
	var got []string
	for op := range Op(numOps + 2) {
		got = append(got, op.String())
	}
	if diff := cmp.Diff([]string{"sum", "prod", "min", "max", "and", "or", "xor", "minloc", "maxloc", "average", "Op(10)"}, got); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
}

// kindsOf is the kind of T, found by either way.
func kindsOf[T Element]() [2]kind { return [2]kind{kindOf[T](), kindFor(reflect.TypeFor[T]())} }

func TestKindOf(t *testing.T) {
	type mine BFloat16
	type wave complex64
	for _, c := range []struct {
		name string
		got  [2]kind
		want kind
	}{
		{"int", kindsOf[int](), kindInt64},
		{"uint", kindsOf[uint](), kindUint64},
		{"rank", kindsOf[rank](), kindInt64},
		{"celsius", kindsOf[celsius](), kindFloat32},
		{"defined from BFloat16", kindsOf[mine](), kindUint16},
		{"wave", kindsOf[wave](), kindComplex64},
	} {
		if c.got != [2]kind{c.want, c.want} {
			t.Errorf("kinds of %s are %v, want %d", c.name, c.got, c.want)
		}
	}
	for want, s := range subjects() {
		if s.kind != kind(want) {
			t.Errorf("kind of %s is %d, want %d", s.name, s.kind, want)
		}
	}
	if n := len(subjects()); n != numKinds {
		t.Errorf("%d kinds are tested, want %d", n, numKinds)
	}
}

// TestIntoAllocatesNothing uses arrays that are on the stack unless Into lets the
// compiler believe that it keeps them.
func TestIntoAllocatesNothing(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		var dst, a, b [100]float32
		Into(Sum, dst[:], a[:], b[:])
		Into(Sum, dst[:3], a[:3], b[:3])
		var i, j [10]uint64
		Into(Prod, i[:], i[:], j[:])
	})
	if allocs != 0 {
		t.Errorf("%v allocations per run, want 0", allocs)
	}
}
