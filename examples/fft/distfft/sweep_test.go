package distfft

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkSweep transforms what one of two ranks has of a grid of 128x128x128, step by
// step, without exchanges.
func BenchmarkSweep(b *testing.B) {
	l := newLayout(Config{Grid: Grid{NX: 128, NY: 128, NZ: 128}, P: 2, Q: 1}, false)
	s, err := newSteps[float64](l, 0, false)
	if err != nil {
		b.Fatal(err)
	}
	s.worker.breathe = func(time.Time) error { return nil }
	n := 2 * 64 * 128 * 128
	src, dst := make([]float64, n), make([]float64, n)
	for i := range src {
		src[i] = float64(i % 100)
	}
	whole := func(mem []float64, points, inner int) lines[float64] {
		return lines[float64]{inner, []part[float64]{{points, mem}}}
	}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"z", func() error {
			return s.worker.rows(whole(dst, 128, 1), 0, whole(src, 128, 1), 0, 64*128, complexLines, false, 1)
		}},
		{"y", func() error { return s.alongY(whole(dst, 128, 128), whole(src, 128, 128), false) }},
		{"x", func() error { return s.alongX(whole(dst, 128, 64*128), whole(src, 128, 64*128), false) }},
		{"zy", func() error { return s.planes(whole(dst, 128, 128), whole(src, 128, 1)) }},
	} {
		b.Run(step.name, func(b *testing.B) {
			s.worker.times = Times{}
			for b.Loop() {
				if err := step.run(); err != nil {
					b.Fatal(err)
				}
			}
			per := func(name string, t float64) { b.ReportMetric(t/float64(b.N)/1e6, fmt.Sprintf("ms-%s/op", name)) }
			per("local", float64(s.worker.times.Local))
			per("pack", float64(s.worker.times.Pack))
		})
	}
}
