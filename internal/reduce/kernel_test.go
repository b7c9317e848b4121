package reduce

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKernelOfRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		call       func() (Kernel, error)
	}{
		{"bits of floats", "reduce: and is not defined for datatype.Float16; And, Or and Xor take integers",
			func() (Kernel, error) { return KernelOf[Float16](And) }},
		{"order of complex numbers", "reduce: min is not defined for complex128; complex numbers take Sum and Prod",
			func() (Kernel, error) { return KernelOf[complex128](Min) }},
		{"place without index", "reduce: maxloc is not defined for int32; MinLoc and MaxLoc take Loc",
			func() (Kernel, error) { return KernelOf[int32](MaxLoc) }},
		{"sum of places", "reduce: sum is not defined for datatype.Loc[float64]; Loc takes MinLoc and MaxLoc",
			func() (Kernel, error) { return KernelOf[Loc[float64]](Sum) }},
		{"no operation", "reduce: Op(10) is not an operation; use one of Sum to MaxLoc",
			func() (Kernel, error) { return KernelOf[int8](Op(10)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := c.call()
			if diff := cmp.Diff(c.want, fmt.Sprint(err)); diff != "" || k != nil {
				t.Errorf("kernel %v, error differs (-want +got):\n%s", k != nil, diff)
			}
		})
	}
}

// TestKernelPanics holds for kernels that combine small operands themselves and for
// those that do not, with few bytes and with many.
func TestKernelPanics(t *testing.T) {
	for _, c := range []struct {
		name      string
		dst, a, b func(mem []byte, n int) []byte
	}{
		{"short a", whole, short, whole},
		{"short b", whole, whole, short},
		{"part of an element", odd, odd, odd},
		{"dst misaligned", shifted, whole, whole},
		{"a misaligned", whole, shifted, whole},
		{"b misaligned", whole, whole, shifted},
	} {
		for _, s := range subjects() {
			if s.size == 1 && c.name[:5] != "short" {
				continue // bytes suit every address
			}
			for _, n := range []int{16, 160} {
				t.Run(fmt.Sprintf("%s/%s/%d", c.name, s.name, n), func(t *testing.T) {
					x, y, z := aligned(n+16), aligned(n+16), aligned(n+16)
					defer func() {
						if got := fmt.Sprint(recover()); !strings.Contains(got, "a kernel for") {
							t.Errorf("panic is %q, want one that names the operands", got)
						}
					}()
					kernelOf(best, s.kind, s.ops()[0])(c.dst(x, n), c.a(y, n), c.b(z, n))
				})
			}
		}
	}
}

func whole(mem []byte, n int) []byte   { return mem[:n] }
func short(mem []byte, n int) []byte   { return mem[:n-n/2] }
func odd(mem []byte, n int) []byte     { return mem[:n-1] }
func shifted(mem []byte, n int) []byte { return mem[1 : n+1] }

func TestKernelAllocatesNothing(t *testing.T) {
	for _, s := range subjects() {
		for _, op := range s.ops() {
			k := kernelOf(best, s.kind, op)
			for _, n := range []int{s.size, 16, 1024} {
				x, y := aligned(n), aligned(n)
				if allocs := testing.AllocsPerRun(10, func() { k(x, x, y) }); allocs != 0 {
					t.Errorf("%v of %d bytes of %s: %v allocations per run, want 0", op, n, s.name, allocs)
				}
			}
		}
	}
}

func TestLocByHand(t *testing.T) {
	nan, negative := float32(math.NaN()), float32(math.Copysign(0, -1))
	at := func(v float32, index int64) Loc[float32] { return Loc[float32]{Value: v, Index: index} }
	for _, c := range []struct {
		name     string
		a, b     Loc[float32]
		min, max Loc[float32]
	}{
		{"apart", at(1, 5), at(2, 4), at(1, 5), at(2, 4)},
		{"tie", at(1, 5), at(1, 4), at(1, 4), at(1, 4)},
		{"negative index", at(1, -1), at(1, 0), at(1, -1), at(1, -1)},
		{"zeros", at(negative, 9), at(0, 1), at(negative, 9), at(0, 1)},
		{"NaN wins", at(nan, 9), at(-3, 1), at(nan, 9), at(nan, 9)},
		{"two NaNs tie", at(nan, 9), at(-nan, 8), at(nan, 8), at(nan, 8)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dst, a, b := make([]Loc[float32], 1), []Loc[float32]{c.a}, []Loc[float32]{c.b}
			for op, want := range map[Op]Loc[float32]{MinLoc: c.min, MaxLoc: c.max} {
				BytesOf(dst)[5] = 0xEE // must not stay
				Into(op, dst, b, a)
				wantBytes := fmt.Sprintf("%08x00000000%016x", math.Float32bits(want.Value), uint64(want.Index))
				got := BytesOf(dst)
				gotBytes := hex(got[:4])[2:] + hex(got[4:8])[2:] + hex(got[8:])[2:]
				if gotBytes != wantBytes {
					t.Errorf("%v gives %s, want %s", op, gotBytes, wantBytes)
				}
			}
		})
	}
}

func TestComplexByHand(t *testing.T) {
	x, y := []complex128{3 + 4i, 1i}, []complex128{-1 + 2i, 1i}
	dst := make([]complex128, 2)
	Into(Prod, dst, x, y)
	if diff := cmp.Diff([]complex128{-11 + 2i, -1}, dst); diff != "" {
		t.Errorf("product differs (-want +got):\n%s", diff)
	}
	Into(Sum, dst, x, y)
	if diff := cmp.Diff([]complex128{2 + 6i, 2i}, dst); diff != "" {
		t.Errorf("sum differs (-want +got):\n%s", diff)
	}
}

func TestViews(t *testing.T) {
	type point struct {
		x, y int32
	}
	points := []point{{1, 2}, {3, 4}}
	mem := BytesOf(points)
	if len(mem) != 16 {
		t.Fatalf("%d bytes, want 16", len(mem))
	}
	Of[point](mem)[1].y = 7
	if points[1].y != 7 || len(Of[point](mem[:0])) != 0 || len(BytesOf[point](nil)) != 0 {
		t.Errorf("views do not alias: %v", points)
	}
	for _, c := range []struct {
		name string
		call func()
	}{
		{"misaligned", func() { Of[int32](mem[1:5]) }},
		{"part of an element", func() { Of[int64](mem[:12]) }},
		{"no size", func() { Of[struct{}](mem[:0]) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "reduce.Of: ") {
					t.Errorf("panic is %q", got)
				}
			}()
			c.call()
		})
	}
}

func TestPointerFree(t *testing.T) {
	type inner struct {
		A [3]Loc[float32]
		B complex64
	}
	for _, c := range []struct {
		of   reflect.Type
		want bool
	}{
		{reflect.TypeFor[inner](), true},
		{reflect.TypeFor[Float16](), true},
		{reflect.TypeFor[[0]*int](), true},
		{reflect.TypeFor[struct{}](), true},
		{reflect.TypeFor[bool](), true},
		{reflect.TypeFor[*int](), false},
		{reflect.TypeFor[[2]string](), false},
		{reflect.TypeFor[struct{ s []byte }](), false},
		{reflect.TypeFor[any](), false},
		{reflect.TypeFor[map[int]int](), false},
		{reflect.TypeFor[chan int](), false},
		{reflect.TypeFor[func()](), false},
		{reflect.TypeFor[uintptr](), false},
	} {
		if got := PointerFree(c.of); got != c.want {
			t.Errorf("PointerFree(%v) = %v, want %v", c.of, got, c.want)
		}
	}
}
