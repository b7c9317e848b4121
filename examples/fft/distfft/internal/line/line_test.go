package line

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/gaspi-go/gaspi-go/internal/simd"
)

// TestForward compares lanes with an independent implementation: without codelets, and with those of each
// level that this processor has, in tiles that are shorter than a vector, whole vectors, and between.
func TestForward(t *testing.T) {
	for l := simd.Scalar; l <= simd.Supported(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			for n := 1; n <= 40; n++ {
				check(t, l, n, 3)
				check(t, l, n, 9)
			}
			for _, n := range []int{49, 60, 64, 77, 97, 101, 120, 121, 125, 128, 144, 210, 243, 256, 343, 500, 512, 1000, 1024} {
				for _, w := range []int{1, 2, 4, 7, 8, 16, 21} {
					check(t, l, n, w)
				}
			}
		})
	}
}

// check compares lines of length n in tiles of w lanes.
func check(t *testing.T, l simd.Level, n, w int) {
	t.Helper()
	in := random(n, w, uint64(n))
	if e := difference(t, l, float64(0), in, n, w); !(e < 4e-16*math.Log2(float64(n)+2)) {
		t.Errorf("%d numbers, %d lanes, float64: relative error %.2g", n, w, e)
	}
	if e := difference(t, l, float32(0), in, n, w); !(e < 3e-7*math.Log2(float64(n)+2)) {
		t.Errorf("%d numbers, %d lanes, float32: relative error %.2g", n, w, e)
	}
}

func random(n, w int, seed uint64) [][]complex128 {
	rng := rand.New(rand.NewPCG(seed, 1))
	lanes := make([][]complex128, w)
	for l := range lanes {
		lanes[l] = make([]complex128, n)
		for i := range lanes[l] {
			// Exact in float32, so that both precisions have the same input.
			lanes[l][i] = complex(float64(rng.IntN(2001)-1000)/1024, float64(rng.IntN(2001)-1000)/1024)
		}
	}
	return lanes
}

// difference is the largest error of a lane, relative to the size of the result. It fails if something is
// written between the rows, or to the input.
func difference[F Real](t *testing.T, l simd.Level, _ F, lanes [][]complex128, n, w int) float64 {
	t.Helper()
	p, err := newPlan[F](l, n)
	if err != nil {
		t.Fatal(err)
	}
	src, dst := rows[F](n, w), rows[F](n, w)
	for l, line := range lanes {
		for i, v := range line {
			src[i][2*l], src[i][2*l+1] = F(real(v)), F(imag(v))
		}
	}
	for _, row := range dst {
		copy(row[len(row):cap(row)], []F{1, 2})
	}
	input := make([][]F, n)
	for i, row := range src {
		input[i] = slices.Clone(row)
	}
	p.Forward(dst, src, w, p.NewWork(w))
	if !slices.EqualFunc(src, input, slices.Equal) {
		t.Errorf("%d numbers, %d lanes of %T: the input has changed", n, w, F(0))
	}
	for i, row := range dst {
		if gap := row[len(row):cap(row)]; gap[0] != 1 || gap[1] != 2 {
			t.Errorf("%d numbers, %d lanes of %T: %v is written behind row %d", n, w, F(0), gap, i)
		}
	}
	oracle := fourier.NewCmplxFFT(n)
	worst := 0.0
	for l, line := range lanes {
		want := oracle.Coefficients(nil, line)
		worst = max(worst, apart(dst, want, l))
	}
	return worst
}

// rows are n rows of w numbers, which are not one behind the other.
func rows[F Real](n, w int) [][]F {
	mem, all := make([]F, 2*n*(w+1)), make([][]F, n)
	for i := range all {
		all[i] = mem[2*i*(w+1) : 2*i*(w+1)+2*w : 2*(i+1)*(w+1)]
	}
	return all
}

// apart is the distance of lane l from want, relative to the length of want.
func apart[F Real](rows [][]F, want []complex128, l int) float64 {
	var d, size float64
	for i, v := range want {
		got := complex(float64(rows[i][2*l]), float64(rows[i][2*l+1]))
		d = math.Hypot(d, cmplx.Abs(got-v))
		size = math.Hypot(size, cmplx.Abs(v))
	}
	return d / size
}

func TestNewPlanRefuses(t *testing.T) {
	for _, n := range []int{0, -1} {
		if _, err := NewPlan[float64](n); err == nil {
			t.Errorf("%d was accepted", n)
		}
	}
}

func BenchmarkForward(b *testing.B) {
	for _, n := range []int{28, 60, 64, 97, 120, 128, 256} {
		b.Run(fmt.Sprintf("float64/%d", n), func(b *testing.B) { benchmark[float64](b, n, 8) })
		b.Run(fmt.Sprintf("float32/%d", n), func(b *testing.B) { benchmark[float32](b, n, 16) })
		b.Run(fmt.Sprintf("gonum/%d", n), func(b *testing.B) {
			f, line := fourier.NewCmplxFFT(n), random(n, 1, 1)[0]
			out := make([]complex128, n)
			for b.Loop() {
				f.Coefficients(out, line)
			}
			report(b, n, 1)
		})
	}
}

func benchmark[F Real](b *testing.B, n, w int) {
	p, err := NewPlan[F](n)
	if err != nil {
		b.Fatal(err)
	}
	src, dst, work := rows[F](n, w), rows[F](n, w), p.NewWork(w)
	b.ReportAllocs()
	for b.Loop() {
		p.Forward(dst, src, w, work)
	}
	report(b, n, w)
}

// report states the speed by the usual count of operations.
func report(b *testing.B, n, w int) {
	flop := 5 * float64(n) * math.Log2(float64(n)) * float64(w)
	b.ReportMetric(flop*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
