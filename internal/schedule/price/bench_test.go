package price

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// rings is K rings of an allreduce, as many bytes in all whatever K is. It stands
// here because algorithms import this package.
func rings(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	right := (me + 1) % p
	chunk := func(i int) schedule.Range { return schedule.Chunk(c.Count, p, (i%p+p)%p) }
	arrived, slot := b.Scratch(c.Count+p), b.Slots(2*(p-1))
	for k := range 2 * (p - 1) {
		send, got := chunk(me-k), chunk(me-k-1)
		b.Put(arrived.At(right, 0, send.Len), b.Out(me, send.Off, send.Len), slot+k)
		b.Await(slot + k)
		if k < p-1 {
			b.Combine(b.Out(me, got.Off, got.Len), arrived.At(me, 0, got.Len), b.Out(me, got.Off, got.Len))
		}
	}
}

func BenchmarkRing(b *testing.B) {
	m := edr
	for _, size := range []int{4, 8, 16, 64} {
		for _, k := range []int{1, 4} {
			c := &schedule.Call{Op: schedule.AllReduce, Size: size, Count: 1 << 20, Line: 16}
			how := schedule.Segmentation{Concurrency: k}
			emit := schedule.Pipeline(how, rings)
			b.Run(fmt.Sprintf("predict/P%d/K%d", size, k), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := PredictSegments(&m, c, how, rings, Load{Element: 4}); err != nil {
						b.Fatal(err)
					}
				}
			})
			p, err := Compile(c, func(r int) *schedule.Schedule { return schedule.Build(c, r, emit) })
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("simulate/P%d/K%d", size, k), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := p.Time(&m, Load{Element: 4}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.ops)), "ns/step")
			})
		}
	}
}

// edr is the machine of the paper on pipelined allreduce: EDR at 100 Gb/s, 0.5 us.
var edr = Machine{
	Network: Link{Latency: 0.5e-6, Put: 0.1e-6, Signal: 0.1e-6}, Await: 0.1e-6,
	Bandwidth: 12.5e9, ReduceRate: 10e9, CopyRate: 20e9,
}
