package reduce

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// TestTwice holds both results to those of a scalar kernel, which others hold to the
// oracle: at every length up to some rounds of the widest loop and at one of more
// than a piece, every alignment, and every way in which results may be operands.
func TestTwice(t *testing.T) {
	step := 1
	if simd.Instrumented || testing.Short() {
		step = 7
	}
	eachKernel(t, func(t *testing.T, s subject, l simd.Level, op Op) {
		if s.kind == kindComplex64 {
			return // aligned as float32, of which it is made
		}
		r := rand.New(rand.NewPCG(5, uint64(op)))
		for n := 0; n <= 10*64/s.size+3; n += step {
			checkTwice(t, r, s, l, op, n, n%len(twiceAliases))
		}
		for alias := range twiceAliases {
			checkTwice(t, r, s, l, op, 300, alias)
		}
		checkTwice(t, r, s, l, op, twicePiece/s.size+77, int(op)%len(twiceAliases))
	})
}

// twiceAliases says which operand dst and back are: 0 none, 1 a, 2 b.
var twiceAliases = []struct{ dst, back int }{{0, 0}, {1, 2}, {2, 1}, {0, 1}, {0, 2}, {1, 0}, {2, 0}}

func checkTwice(t *testing.T, r *rand.Rand, s subject, l simd.Level, op Op, n, alias int) {
	t.Helper()
	var whole [4][]byte // dst, back, a, b
	var at [4]int
	for i := range whole {
		whole[i] = s.random(r, n+2*64)
		at[i] = (1 + r.IntN(64)) * s.size
	}
	part := func(i int) []byte { return whole[i][at[i] : at[i]+n*s.size : at[i]+n*s.size] }
	a, b := part(2), part(3)
	pick := func(own, operand int) int {
		if operand == 0 {
			return own
		}
		return 1 + operand
	}
	dst, back := pick(0, twiceAliases[alias].dst), pick(1, twiceAliases[alias].back)
	want := [4][]byte{}
	for i := range whole {
		want[i] = slices.Clone(whole[i])
	}
	sum := aligned(n * s.size)
	kernelOf(simd.Scalar, s.kind, op)(sum, a, b)
	copy(want[dst][at[dst]:], sum)
	copy(want[back][at[back]:], sum)
	twiceOf(l, s.kind, op)(part(dst), part(back), a, b)
	for i := range whole {
		if !bytes.Equal(whole[i], want[i]) {
			t.Fatalf("%d elements, dst and back as in %+v: vector %d of dst, back, a and b is wrong", n, twiceAliases[alias], i)
		}
	}
}

// TestTwiceRefuses holds that each of the four is looked at, before anything is
// written.
func TestTwiceRefuses(t *testing.T) {
	if _, err := TwiceOf[float32](Or); err == nil {
		t.Error("there is one of bits for floats")
	}
	twice, err := TwiceOf[int32](Sum)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"dst", "back", "a", "b"} {
		for _, c := range []struct {
			name string
			bad  func([]byte, int) []byte
		}{{"short", short}, {"misaligned", shifted}} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				var of [4][]byte
				for j := range of {
					of[j] = whole(aligned(160), 128)
				}
				of[i] = c.bad(bytes.Repeat([]byte{1}, 160), 128)
				defer func() {
					if got := fmt.Sprint(recover()); !strings.Contains(got, "a kernel for") {
						t.Errorf("panic is %q, want one that names the operands", got)
					}
					for j := range of {
						if j != i && !bytes.Equal(of[j], make([]byte, 128)) {
							t.Errorf("operand %d was written", j)
						}
					}
				}()
				twice(of[0], of[1], of[2], of[3])
			})
		}
	}
}

func TestTwiceAllocatesNothing(t *testing.T) {
	twice, err := TwiceOf[float64](Sum)
	if err != nil {
		t.Fatal(err)
	}
	dst, a, b := aligned(4096), aligned(4096), aligned(4096)
	if allocs := testing.AllocsPerRun(10, func() { twice(dst, b, a, b) }); allocs != 0 {
		t.Errorf("%v allocations per run, want 0", allocs)
	}
}
