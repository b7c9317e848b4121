package choice

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scaleOps are the operations whose choice is measured at scale.
var scaleOps = []schedule.Operation{
	schedule.AllReduce, schedule.Broadcast, schedule.Reduce, schedule.AllToAll, schedule.AllGather, schedule.ReduceScatter, schedule.Barrier,
}

// manyRanks is a chooser for so many ranks, as many of which share a host as said, and a call of
// them.
func manyRanks(ranks, onHost, cores int, op schedule.Operation, bytes int) (*Chooser, *Signature) {
	m := machine()
	m.Shared = price.Link{Latency: 105e-9, Put: 55e-9, Signal: 60e-9}
	m.Cores, m.Switch = cores, 1.2e-6
	c := &Signature{Call: schedule.Call{Op: op, Size: ranks, Count: bytes / 8, Line: 8, Nodes: make([]int, ranks)}, Element: 8}
	for r := range c.Nodes {
		c.Nodes[r] = r / onHost * onHost // hosts are called by their first ranks
	}
	if op == schedule.Barrier {
		c.Count = 0
	}
	c.InPlace = op == schedule.Broadcast || op == schedule.AllReduce
	return &Chooser{Machine: m, OneNode: onHost >= ranks}, c
}

// BenchmarkChoose measures what a rank pays for the first call of a shape: all candidates of a call.
// A team's first choice also finds out where its members are, which a later one is spared.
func BenchmarkChoose(b *testing.B) {
	for _, ranks := range []int{8, 64, 256, 4096, 65536} {
		for _, onHost := range []int{1, 16, 64, ranks} {
			if onHost > ranks || onHost == ranks && ranks > 256 {
				continue
			}
			for _, op := range scaleOps {
				for _, bytes := range []int{8, 1 << 20} {
					if op == schedule.Barrier && bytes > 8 {
						continue
					}
					b.Run(fmt.Sprintf("%v/%d/on-host=%d/bytes=%d", op, ranks, onHost, bytes), func(b *testing.B) {
						b.ReportAllocs()
						for b.Loop() {
							ch, c := manyRanks(ranks, onHost, 2, op, bytes)
							if _, err := ch.Choose(c); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		}
	}
}
