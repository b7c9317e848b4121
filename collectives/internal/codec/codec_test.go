package codec

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// opaque are elements of which nothing is known but the size.
func opaque(size int) Element { return Element{Size: size} }

var (
	float32s  = Element{4, Float32}
	float64s  = Element{8, Float64}
	float16s  = Element{2, Float16}
	bfloat16s = Element{2, BFloat16}
)

// numbers are the kinds of elements that can be coded with loss.
func numbers() map[string]Element {
	return map[string]Element{"float32": float32s, "float64": float64s, "float16": float16s, "bfloat16": bfloat16s}
}

// made is a vector of elements nearest to what f says.
func made(e Element, n int, f func(i int) float64) []byte {
	all := make([]float64, n)
	for i := range all {
		all[i] = f(i)
	}
	mem := make([]byte, n*e.Size)
	e.store(mem, all)
	return mem
}

func values(e Element, mem []byte) []float64 {
	all := make([]float64, len(mem)/e.Size)
	e.load(all, mem)
	return all
}

func coder(t testing.TB, m Method, e Element) *Coder {
	t.Helper()
	c, err := NewCoder(m, e)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// there and back: the form of src, and what becomes of it. The form is cut to its
// length, and guarded on both sides.
func thereAndBack(t testing.TB, c *Coder, src []byte, lost []float64) (form, back []byte) {
	t.Helper()
	const guard = 0xa5
	room := bytes.Repeat([]byte{guard}, len(src)+HeaderSize+8)
	kept := bytes.Clone(src)
	n := c.Encode(room[:len(src)+HeaderSize], src, lost)
	if !bytes.Equal(src, kept) {
		t.Fatal("encoding changed its source")
	}
	if i := slices.IndexFunc(room[len(src)+HeaderSize:], func(b byte) bool { return b != guard }); i >= 0 {
		t.Fatal("encoding wrote behind its room")
	}
	if got, err := Length(room); err != nil || got != n {
		t.Fatalf("the form has %d bytes; its header says %d, %v", n, got, err)
	}
	back = bytes.Repeat([]byte{guard}, len(src))
	if err := c.Decode(back, room); err != nil {
		t.Fatal(err)
	}
	return room[:n], back
}

func TestLosslessGivesBackTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sources := map[string]func(i int) byte{
		"zeros": func(int) byte { return 0 },
		"noise": func(int) byte { return byte(rng.Uint32()) },
		"slow":  func(i int) byte { return byte(i / 700) },
		"mixed": func(i int) byte { return byte(rng.Uint32()) * byte(i>>16&1) },
	}
	for name, at := range sources {
		for _, size := range []int{1, 2, 3, 4, 5, 8, 12, 16, 24, 100, 70000} {
			for _, count := range []int{0, 1, 7, 1000, 20000} {
				if count*size > 1<<18 {
					continue
				}
				src := make([]byte, count*size)
				for i := range src {
					src[i] = at(i)
				}
				form, back := thereAndBack(t, coder(t, Lossless(), opaque(size)), src, nil)
				if !bytes.Equal(src, back) {
					t.Fatalf("%s, %d elements of %d bytes: they differ", name, count, size)
				}
				if name == "zeros" && len(src) > 1000 && len(form) > len(src)/4 {
					t.Errorf("%d zeros of %d bytes need %d bytes", count, size, len(form))
				}
			}
		}
	}
}

// odd are numbers that are hard to keep.
func odd() []float64 {
	return []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, -0.5, 1e-3, math.Pi, 1e9, -1e9, 1 << 29, 1 << 30, 1<<30 + 1, -1 << 31, 1 << 40,
		math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64, math.MaxFloat32,
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat32, 1e-310, 1e-40, 65504, 65505,
	}
}

// differ returns how got breaks the promise of a bound, or nil.
func differ(want, got, bound float64) error {
	if math.Float64bits(want) == math.Float64bits(got) || math.IsNaN(want) && math.IsNaN(got) || near(want, got, bound) {
		return nil
	}
	return fmt.Errorf("%v became %v, farther away than %v", want, got, bound)
}

func TestErrorBoundHoldsForEveryElement(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sources := map[string]func(i int) float64{
		"odd":    func(i int) float64 { return odd()[(i*i+i/7)%len(odd())] },
		"rarely": func(i int) float64 { return []float64{math.Sin(float64(i) / 50), math.NaN()}[(i%200)/199] },
		"smooth": func(i int) float64 { return math.Sin(float64(i) / 300) },
		"normal": func(int) float64 { return rng.NormFloat64() },
		"scales": func(int) float64 { return rng.NormFloat64() * math.Pow(10, 80*rng.Float64()-40) },
		"bits":   func(int) float64 { return math.Float64frombits(rng.Uint64()) },
		"ties":   func(i int) float64 { return float64(i%17) - 0.5 },
	}
	for kind, e := range numbers() {
		for name, at := range sources {
			for _, bound := range []float64{1, 0.5, 1e-3, 0.1, 1e-7, 1e-300, math.SmallestNonzeroFloat64, 1e30, math.MaxFloat64} {
				for _, n := range []int{0, 1, 65, 400} {
					src := made(e, n, at)
					_, back := thereAndBack(t, coder(t, ErrorBound(bound), e), src, nil)
					got := values(e, back)
					for i, want := range values(e, src) {
						if err := differ(want, got[i], bound); err != nil {
							t.Fatalf("%s %s, bound %v, element %d of %d: %v", kind, name, bound, i, n, err)
						}
					}
				}
			}
		}
	}
}

func TestErrorBoundIsShort(t *testing.T) {
	src := made(float32s, 10000, func(i int) float64 { return math.Sin(float64(i) / 300) })
	form, _ := thereAndBack(t, coder(t, ErrorBound(1e-3), float32s), src, nil)
	if len(form) > len(src)/8 {
		t.Errorf("%d bytes became %d", len(src), len(form))
	}
	src = made(float32s, 10000, func(int) float64 { return 0 })
	if form, _ = thereAndBack(t, coder(t, ErrorBound(1e-3), float32s), src, nil); len(form) > 200 {
		t.Errorf("%d bytes of zeros became %d", len(src), len(form))
	}
}

func TestNearIsExact(t *testing.T) {
	up := math.Nextafter(1, 2)
	for _, c := range []struct {
		a, b, bound float64
		want        bool
	}{
		{3, 2, 1, true}, {2, 3, 1, true}, {up + 2, 2, 1, true},
		{1 << 53, -1, 1 << 53, false}, {-1 << 53, 1, 1 << 53, false}, {1 << 53, 1, 1 << 53, true}, {-1 << 53, -1, 1 << 53, true},
		{1, 1e-30, 1, true}, {1, -1e-30, 1, false}, {-1, 1e-30, 1, false}, {-1, -1e-30, 1, true},
		{math.NaN(), 1, 1, false}, {math.Inf(1), 1, 1e300, false}, {math.Inf(1), math.Inf(1), 1, false},
	} {
		if got := near(c.a, c.b, c.bound); got != c.want {
			t.Errorf("near(%v, %v, %v) is %v", c.a, c.b, c.bound, got)
		}
	}
}

func TestTopKKeepsTheLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for kind, e := range numbers() {
		for _, n := range []int{200, 1000, 5000} {
			for _, part := range []float64{1e-9, 0.01, 0.1, 0.3} {
				src := made(e, n, func(int) float64 { return rng.NormFloat64() })
				form, back := thereAndBack(t, coder(t, TopK(part), e), src, nil)
				want, got := values(e, src), values(e, back)
				k := max(1, int(math.Ceil(part*float64(n))))
				kept, smallest, largest := 0, math.Inf(1), 0.0
				for i, v := range got {
					switch {
					case v == 0:
						largest = max(largest, math.Abs(want[i]))
					case v != want[i]:
						t.Fatalf("%s: %v became %v", kind, want[i], v)
					default:
						kept++
						smallest = min(smallest, math.Abs(v))
					}
				}
				if kept != k || largest > smallest {
					t.Errorf("%s: of %d elements %d were kept, want %d; the smallest is %v, the largest left out %v", kind, n, kept, k, smallest, largest)
				}
				if most := HeaderSize + 8 + kept*(e.Size+2); len(form) > most {
					t.Errorf("%s: %d elements need %d bytes, want at most %d", kind, kept, len(form), most)
				}
			}
		}
	}
}

func TestTopKOfOddVectors(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	pad := make([]float64, 60)
	for _, c := range []struct {
		name       string
		part       float64
		have, want []float64
	}{
		{"all zero", 0.1, []float64{0, 0, 0}, []float64{0, 0, 0}},
		{"ties: the first", 2. / 64, []float64{1, -1, 1, 1}, []float64{1, -1, 0, 0}},
		{"infinities are the largest", 2. / 64, []float64{1e300, inf, 1, -inf}, []float64{0, inf, 0, -inf}},
		{"all infinities", 1. / 64, []float64{-inf, inf, 1, -inf}, []float64{-inf, inf, 0, -inf}},
		{"not a number", 1. / 64, []float64{1, nan, 3, 4}, []float64{0, nan, 0, 0}},
		{"short", 0.5, []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}},
	} {
		if c.name != "short" {
			c.have, c.want = slices.Concat(c.have, pad), slices.Concat(c.want, pad)
		}
		src := made(float64s, len(c.have), func(i int) float64 { return c.have[i] })
		_, back := thereAndBack(t, coder(t, TopK(c.part), float64s), src, nil)
		got := values(float64s, back)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v became %v, want %v", c.name, c.have, got, c.want)
		}
	}
}

func TestKthLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		n := 1 + rng.IntN(300)
		all := make([]float64, n)
		for i := range all {
			all[i] = float64(rng.IntN(1 + rng.IntN(100)))
		}
		sorted := slices.Sorted(slices.Values(all))
		k := 1 + rng.IntN(n)
		if got, want := kthLargest(slices.Clone(all), k), sorted[n-k]; got != want {
			t.Fatalf("the %d-th largest of %v is %v, not %v", k, all, want, got)
		}
	}
}

func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for w := range 33 {
		for _, n := range []int{0, 1, 7, 63, 64} {
			all := make([]uint32, n)
			for i := range all {
				all[i] = uint32(uint64(rng.Uint32()) & (1<<w - 1))
			}
			mem := make([]byte, packedBits(n, byte(w)))
			putBits(mem, all, w)
			got := make([]uint32, n)
			if getBits(got, mem, w); !slices.Equal(got, all) {
				t.Fatalf("%d numbers of %d bits: %v became %v", n, w, all, got)
			}
		}
	}
	for _, x := range []int32{0, 1, -1, math.MaxInt32, math.MinInt32} {
		if got := unfold(fold(x)); got != x {
			t.Errorf("%d became %d", x, got)
		}
	}
}

func TestWhatIsLostComesLater(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n, rounds = 300, 100
	for _, m := range []Method{ErrorBound(0.125), ErrorBound(1e-3), TopK(0.02)} {
		for kind, e := range map[string]Element{"float32": float32s, "float64": float64s, "float16": float16s} {
			c := coder(t, m, e)
			steady := values(e, made(e, n, func(int) float64 { return 3 * rng.Float64() }))
			given, got, lost := make([]float64, n), make([]float64, n), make([]float64, n)
			for range rounds {
				src := made(e, n, func(i int) float64 { return steady[i] * rng.Float64() })
				_, back := thereAndBack(t, c, src, lost)
				now, then := values(e, back), values(e, src)
				for i := range n {
					given[i] += then[i]
					got[i] += now[i]
					if m.kind == errorBound && !near(then[i], now[i], m.value) {
						t.Fatalf("%v, %s: %v became %v", m, kind, then[i], now[i])
					}
				}
			}
			for i := range n {
				if d := math.Abs(given[i] - got[i] - lost[i]); d > 1e-9 {
					t.Fatalf("%v, %s, element %d: given %v, got %v, and lost %v", m, kind, i, given[i], got[i], lost[i])
				}
				if limit := m.value / 2; m.kind == errorBound && math.Abs(lost[i]) > limit {
					t.Fatalf("%v, %s: lost %v, more than %v", m, kind, lost[i], limit)
				}
			}
		}
	}
}

func TestOddNumbersLeaveNoTrace(t *testing.T) {
	for _, m := range []Method{ErrorBound(0.5), TopK(0.05)} {
		lost := make([]float64, 300)
		c := coder(t, m, float64s)
		for round := range 5 {
			thereAndBack(t, c, made(float64s, 300, func(i int) float64 { return odd()[(i*7+round)%len(odd())] }), lost)
		}
		if i := slices.IndexFunc(lost, func(x float64) bool { return !finite(x) }); i >= 0 {
			t.Errorf("%v: what is lost of element %d is %v", m, i, lost[i])
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Method
		e    Element
	}{
		{"no elements", Lossless(), opaque(0)},
		{"bound of zero", ErrorBound(0), float32s},
		{"negative bound", ErrorBound(-1), float32s},
		{"no bound", ErrorBound(math.NaN()), float32s},
		{"endless bound", ErrorBound(math.Inf(1)), float32s},
		{"nothing to keep", TopK(0), float32s},
		{"more than all", TopK(1.5), float32s},
		{"no numbers", ErrorBound(1), opaque(8)},
		{"no numbers to compare", TopK(0.5), opaque(8)},
		{"wrong size", TopK(0.5), Element{4, Float64}},
	} {
		if _, err := NewCoder(c.m, c.e); err == nil {
			t.Errorf("%s was accepted", c.name)
		}
	}
}

// TestBoundHoldsWhereWhatWasLostIsRounded adds half of the bound to a number below a
// power of two, which rounds the sum up, and the multiple that is nearest to the sum lies
// another half above it: more than the bound away from the number.
func TestBoundHoldsWhereWhatWasLostIsRounded(t *testing.T) {
	const x, half, far = 9007199254559447, 8388972, 9007199271337392
	if far-x <= 2*half || far%(2*half) != 0 {
		t.Fatal("the numbers are not as described")
	}
	for _, sign := range []float64{1, -1} {
		lost := make([]float64, 64)
		for i := range lost {
			lost[i] = sign * half
		}
		_, back := thereAndBack(t, coder(t, ErrorBound(2*half), float64s), made(float64s, 64, func(int) float64 { return sign * x }), lost)
		if got := values(float64s, back)[0]; !near(got, sign*x, 2*half) {
			t.Errorf("%v became %v", sign*x, got)
		}
	}
}
