package reduce

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// levels returns the kernel sets that this machine can run.
func levels() []level {
	var all []level
	for l := levelScalar; l <= supported(); l++ {
		all = append(all, l)
	}
	return all
}

func ops[T Number]() []Op {
	var all []Op
	for op := range Op(numOps) {
		if Supports[T](op) {
			all = append(all, op)
		}
	}
	return all
}

// eachKernel runs f for every level and operation of one element type.
func eachKernel[T Number](t *testing.T, f func(t *testing.T, l level, op Op)) {
	for _, l := range levels() {
		for _, op := range ops[T]() {
			t.Run(fmt.Sprintf("%v/%v/%T", l, op, *new(T)), func(t *testing.T) { f(t, l, op) })
		}
	}
}

// random returns n values, a third of them special.
func random[T Number](r *rand.Rand, n int) []T {
	special := specials[T]()
	s := make([]T, n)
	for i := range s {
		switch {
		case r.IntN(3) == 0:
			s[i] = special[r.IntN(len(special))]
		case isFloat[T]():
			s[i] = T(r.NormFloat64() * 1000)
		default:
			s[i] = T(r.Uint64())
		}
	}
	return s
}

func TestKernelsAgainstOracle(t *testing.T) {
	againstOracle[int8](t)
	againstOracle[int16](t)
	againstOracle[int32](t)
	againstOracle[int64](t)
	againstOracle[uint8](t)
	againstOracle[uint16](t)
	againstOracle[uint32](t)
	againstOracle[uint64](t)
	againstOracle[float32](t)
	againstOracle[float64](t)
}

// againstOracle covers every remainder of the unrolled loops, every alignment of
// the three slices and every way in which dst may be an operand.
func againstOracle[T Number](t *testing.T) {
	aliases := []string{"apart", "dst is a", "dst is b", "all one"}
	step := 1
	if instrumented {
		step = 7 // the oracle is ten times slower under a sanitizer
	}
	eachKernel[T](t, func(t *testing.T, l level, op Op) {
		r := rand.New(rand.NewPCG(1, uint64(op)))
		for n := 0; n <= 130; n += step {
			for _, alias := range aliases {
				checkOnce[T](t, r, l, op, n, alias)
			}
			// Longer ones, so that bytes too get to several unrolled rounds.
			checkOnce[T](t, r, l, op, n*5, aliases[n%len(aliases)])
			if t.Failed() {
				return
			}
		}
	})
}

// checkOnce runs one kernel on random data between canaries.
func checkOnce[T Number](t *testing.T, r *rand.Rand, l level, op Op, n int, alias string) {
	const guard = 64
	place := func() (whole, part []T, at int) {
		whole = random[T](r, n+3*guard)
		at = guard + r.IntN(guard)
		return whole, whole[at : at+n : at+n], at
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
	want := append([]T(nil), whole...)
	for i := range n {
		want[at+i] = oracle(op, a[i], b[i])
	}
	oldA, oldB := append([]T(nil), a...), append([]T(nil), b...)

	into(l, op, dst, a, b)

	for i := range whole {
		if bits(whole[i]) == bits(want[i]) {
			continue
		}
		if i < at || i >= at+n {
			t.Errorf("n=%d %s: element %d, outside dst, was changed from %v to %v", n, alias, i-at, want[i], whole[i])
		} else {
			t.Errorf("n=%d %s: element %d: %v %v %v (%#x, %#x) gives %v (%#x), want %v (%#x)", n, alias, i-at,
				oldA[i-at], op, oldB[i-at], bits(oldA[i-at]), bits(oldB[i-at]), whole[i], bits(whole[i]), want[i], bits(want[i]))
		}
		return
	}
}

func TestSpecialPairs(t *testing.T) {
	specialPairs[int8](t)
	specialPairs[int16](t)
	specialPairs[int32](t)
	specialPairs[int64](t)
	specialPairs[uint8](t)
	specialPairs[uint16](t)
	specialPairs[uint32](t)
	specialPairs[uint64](t)
	specialPairs[float32](t)
	specialPairs[float64](t)
}

// specialPairs combines every special value with every other, in both orders, and
// holds the results to the oracle and, bit for bit, to each other.
func specialPairs[T Number](t *testing.T) {
	var a, b []T
	for _, x := range specials[T]() {
		for _, y := range specials[T]() {
			a, b = append(a, x), append(b, y)
		}
	}
	eachKernel[T](t, func(t *testing.T, l level, op Op) {
		ab, ba := make([]T, len(a)), make([]T, len(a))
		into(l, op, ab, a, b)
		into(l, op, ba, b, a)
		for i := range a {
			want := bits(oracle(op, a[i], b[i]))
			if bits(ab[i]) != want || bits(ba[i]) != want {
				t.Errorf("%#x %v %#x: %#x one way round, %#x the other, want %#x",
					bits(a[i]), op, bits(b[i]), bits(ab[i]), bits(ba[i]), want)
			}
		}
	})
}

// TestEveryPairHasVectors holds that no type falls back to the loops unnoticed.
func TestEveryPairHasVectors(t *testing.T) {
	for _, l := range levels()[1:] {
		for k := kindInt8; k <= kindFloat64; k++ {
			for op := range Op(numOps) {
				var dst, a, b [64]byte
				want := true
				switch {
				case op >= And && k >= kindFloat32:
					want = false
				case op == Prod && (k == kindInt8 || k == kindUint8):
					want = false // no processor multiplies bytes
				case op == Prod && (k == kindInt64 || k == kindUint64):
					want = l == levelAVX512
				}
				if got := vector(l, makePair(k, op), &dst[0], &a[0], &b[0], 64); got != want {
					t.Errorf("%v, kind %d, %v: vector kernel %v, want %v", l, k, op, got, want)
				}
			}
		}
	}
}
