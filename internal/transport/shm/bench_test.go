package shm

import (
	"bufio"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

const benchMost = 1 << 20

// targetRole has a bound segment 0 and a mapped segment 1 until its input ends.
func targetRole(t *testing.T, tr *Transport, in *bufio.Reader) {
	tr.WaitWith(notify.ProcessWait(0, defaultYield))
	bind(t, tr, 0, make([]byte, benchMost))
	mapped, err := segment.Create(benchMost, 8, waiting())
	if err != nil {
		t.Fatal(err)
	}
	expose(t, tr, 1, mapped)
	fmt.Println("ready")
	in.ReadString('\n')
}

// BenchmarkPut compares a bound segment of another process with a mapped one, in
// turns, so that their ratio means something on a noisy machine.
func BenchmarkPut(b *testing.B) {
	tr, children := processes(b, 2, "target")
	tr.WaitWith(notify.ProcessWait(0, defaultYield))
	children[1].hear(b)
	l := link(b, tr, 1)
	all := local(b, random(1, benchMost))
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
