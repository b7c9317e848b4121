package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// exact checks that contributions combined in any order and any grouping give the
// same bits.
func exact[T any](t *testing.T, name string, e Elements[T]) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for _, parts := range []int{1, 2, 3, 16, 33, 99} {
		for index := range 200 {
			at := Place{Seed: 5, Round: 1, Index: index}
			want := e.Folded(at, 0, parts, parts)
			var left []T
			for part := range parts {
				at.Part = part
				left = append(left, e.In(at, parts))
			}
			for len(left) > 1 {
				i, j := random.IntN(len(left)), random.IntN(len(left)-1)
				if j >= i {
					j++
				}
				left[i] = e.Fold(left[i], left[j])
				left = append(left[:j], left[j+1:]...)
			}
			if !e.Same(left[0], want) {
				t.Fatalf("%s of %d: %v in one order, %v in another", name, parts, want, left[0])
			}
		}
	}
}

func TestEveryOrderGivesTheSameBits(t *testing.T) {
	for op := reduce.Sum; op <= reduce.Xor; op++ {
		exact(t, "int8 "+op.String(), Integers[int8](op))
		exact(t, "uint64 "+op.String(), Integers[uint64](op))
	}
	for op := reduce.Sum; op <= reduce.Max; op++ {
		exact(t, "float64 "+op.String(), Float64s(op))
		exact(t, "float32 "+op.String(), Float32s(op))
		exact(t, "float16 "+op.String(), Float16s(op))
		exact(t, "bfloat16 "+op.String(), BFloat16s(op))
	}
	for op := reduce.Sum; op <= reduce.Prod; op++ {
		exact(t, "complex64 "+op.String(), Complex64s(op))
		exact(t, "complex128 "+op.String(), Complex128s(op))
	}
	for op := reduce.MinLoc; op <= reduce.MaxLoc; op++ {
		exact(t, "loc of int32 "+op.String(), Locs[int32](op))
		exact(t, "loc of float64 "+op.String(), Locs[float64](op))
	}
}

// TestOrderIsSeen proves that elements which do not commute tell orders apart.
func TestOrderIsSeen(t *testing.T) {
	seen(t, "matrices", Matrices())
	seen(t, "permutations", Permutations())
	seen(t, "runs", Runs())
}

func seen[T any](t *testing.T, name string, e Elements[T]) {
	t.Helper()
	differ := 0
	for index := range 100 {
		a := e.In(Place{Index: index}, 2)
		b := e.In(Place{Index: index, Part: 1}, 2)
		c := e.In(Place{Index: index, Part: 2}, 3)
		if !e.Same(e.Fold(e.Fold(a, b), c), e.Fold(a, e.Fold(b, c))) {
			t.Fatalf("%s: the operation is not associative", name)
		}
		if !e.Same(e.Fold(a, b), e.Fold(b, a)) {
			differ++
		}
	}
	if differ < 80 {
		t.Errorf("%s: only %d of 100 pairs tell which came first", name, differ)
	}
}

// TestHalfFloatsAgainstPackageReduce compares two readings of the formats.
func TestHalfFloatsAgainstPackageReduce(t *testing.T) {
	for bits := range 1 << 16 {
		for _, c := range []struct {
			name string
			of   half
			want float32
		}{
			{"float16", half{10, 15}, reduce.Float16(bits).Float32()},
			{"bfloat16", half{7, 127}, reduce.BFloat16(bits).Float32()},
		} {
			got := c.of.value(uint16(bits))
			if math.IsNaN(got) && math.IsNaN(float64(c.want)) {
				continue
			}
			if math.Float64bits(got) != math.Float64bits(float64(c.want)) {
				t.Fatalf("%s %#x is %v here and %v there", c.name, bits, got, c.want)
			}
		}
	}
}

// TestInputsDiffer proves that a stale, a swapped or a foreign element is seen.
func TestInputsDiffer(t *testing.T) {
	e := Integers[uint64](reduce.Sum)
	seen := make(map[uint64]Place)
	for round := range 5 {
		for part := range 40 {
			for index := range 100 {
				at := Place{Seed: 9, Round: round, Part: part, Index: index}
				v := e.In(at, 40)
				if other, ok := seen[v]; ok {
					t.Fatalf("%+v and %+v have the same value", at, other)
				}
				seen[v] = at
			}
		}
	}
}
