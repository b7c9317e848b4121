package reduce

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// TestKernelsAgainstOracle covers every remainder of the unrolled loops, every
// alignment of the three slices and every way in which dst may be an operand.
func TestKernelsAgainstOracle(t *testing.T) {
	aliases := []string{"apart", "dst is a", "dst is b", "all one"}
	step := 1
	if simd.Instrumented || testing.Short() {
		step = 7 // the oracle is ten times slower under a sanitizer
	}
	eachKernel(t, func(t *testing.T, s subject, l simd.Level, op Op) {
		r := rand.New(rand.NewPCG(1, uint64(op)))
		// Five of the widest vectors, and at least one round of what is unrolled.
		for n := 0; n <= max(5*64/s.size, 70); n += step {
			checkOnce(t, r, s, l, op, n, aliases[n%len(aliases)])
			if t.Failed() {
				return
			}
		}
		for _, alias := range aliases {
			for n := 0; n <= 40; n += 3 * step {
				checkOnce(t, r, s, l, op, n, alias)
			}
			checkOnce(t, r, s, l, op, 650, alias)
		}
	})
}

// checkOnce runs one kernel on random data between canaries, through into and
// as a Kernel.
func checkOnce(t *testing.T, r *rand.Rand, s subject, l simd.Level, op Op, n int, alias string) {
	t.Helper()
	guard := 64 * s.size
	size := n * s.size
	place := func() (whole, part []byte, at int) {
		whole = s.random(r, n+3*64)
		at = guard + r.IntN(64)*s.size
		return whole, whole[at : at+size : at+size], at
	}
	whole, dst, at := place()
	_, a, _ := place()
	_, b, _ := place()
	switch alias {
	case "dst is a":
		a = dst
	case "dst is b":
		b = dst
	case "all one":
		a, b = dst, dst
	}
	want := slices.Clone(whole)
	for i := 0; i < size; i += s.size {
		copy(want[at+i:], oracle(s.kind, op, a[i:i+s.size], b[i:i+s.size]))
	}
	before := slices.Clone(whole)
	oldA, oldB := slices.Clone(a), slices.Clone(b)
	for _, way := range []struct {
		name string
		run  func(dst, a, b []byte)
	}{
		{"into", func(dst, a, b []byte) { s.into(l, op, dst, a, b) }},
		{"kernel", kernelOf(l, s.kind, op)},
	} {
		copy(whole, before)
		way.run(dst, a, b)
		if bytes.Equal(whole, want) {
			continue
		}
		for i := 0; i < len(whole); i += s.size {
			got, want := whole[i:i+s.size], want[i:i+s.size]
			if bytes.Equal(got, want) {
				continue
			}
			if i < at || i >= at+size {
				t.Errorf("%s n=%d %s: element %d, outside dst, was changed from %s to %s",
					way.name, n, alias, (i-at)/s.size, hex(want), hex(got))
			} else {
				t.Errorf("%s n=%d %s: element %d: %s %v %s gives %s, want %s", way.name, n, alias, (i-at)/s.size,
					hex(oldA[i-at:i-at+s.size]), op, hex(oldB[i-at:i-at+s.size]), hex(got), hex(want))
			}
			return
		}
	}
}

// TestSpecialPairs combines every special value with every other, in both orders,
// and holds the results to the oracle and, bit for bit, to each other.
func TestSpecialPairs(t *testing.T) {
	eachKernel(t, func(t *testing.T, s subject, l simd.Level, op Op) {
		n := len(s.specials) * len(s.specials) * s.size
		a, b := aligned(n)[:0], aligned(n)[:0]
		for _, x := range s.specials {
			for _, y := range s.specials {
				a, b = append(a, x...), append(b, y...)
			}
		}
		ab, ba := aligned(n), aligned(n)
		s.into(l, op, ab, a, b)
		s.into(l, op, ba, b, a)
		for i := 0; i < n; i += s.size {
			x, y := a[i:i+s.size], b[i:i+s.size]
			want := oracle(s.kind, op, x, y)
			if !bytes.Equal(ab[i:i+s.size], want) || !bytes.Equal(ba[i:i+s.size], want) {
				t.Errorf("%s %v %s: %s one way round, %s the other, want %s",
					hex(x), op, hex(y), hex(ab[i:i+s.size]), hex(ba[i:i+s.size]), hex(want))
			}
		}
	})
}

// TestEveryPairHasVectors holds that no type falls back to the loops unnoticed.
func TestEveryPairHasVectors(t *testing.T) {
	for _, l := range levels()[1:] {
		for _, s := range subjects() {
			for _, op := range s.ops() {
				dst, a, b := aligned(64), aligned(64), aligned(64)
				want := true
				switch {
				case s.kind >= kindLocInt32:
					want = false
				case op == Prod && (s.kind == kindInt8 || s.kind == kindUint8):
					want = false // no processor multiplies bytes
				case op == Prod && (s.kind == kindInt64 || s.kind == kindUint64):
					want = l == simd.AVX512
				}
				p := makePair(s.kind, op)
				if got := vector(l, p, dst, a, b); got != want {
					t.Errorf("%v, %s, %v: vector kernel %v, want %v", l, s.name, op, got, want)
				}
				if got := find(l, p) != nil; got != want {
					t.Errorf("%v, %s, %v: found vector kernel %v, want %v", l, s.name, op, got, want)
				}
			}
		}
	}
}
