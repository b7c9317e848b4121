package shm

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// BenchmarkPut compares a bound segment with a mapped one, in turns, so that
// their ratio means something on a noisy machine.
func BenchmarkPut(b *testing.B) {
	ranks := join(b, 2)
	const most = 1 << 20
	bind(b, ranks[1], 0, make([]byte, most))
	mapped, err := segment.Create(most, 8, waiting())
	if err != nil {
		b.Fatal(err)
	}
	expose(b, ranks[1], 1, mapped)
	l := link(b, ranks[0], 1)
	all := local(b, make([]byte, most))
	for _, n := range []uint64{8, 4 << 10, 64 << 10, 1 << 20} {
		for id, kind := range []string{"bound", "mapped"} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				src, err := all.Sub(0, n)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(n))
				b.ReportAllocs()
				for b.Loop() {
					if err := l.Put(queue, transport.Addr{Segment: segment.ID(id)}, src); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
