package choice

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

const (
	// socketHolds is about how many bytes the two ends of a connection hold while
	// nobody reads: what the system lets their buffers grow to.
	socketHolds = 2 << 20
	// floodedCaches is how often what lies in the sockets of a host has to fill
	// price.Machine.Cache before it is read from memory. With 4 ranks on one host, 12
	// blocks of 1 MiB at a time were as fast as 4; of 2 MiB, 9.3 ms instead of 8.2; of
	// 8 MiB, 38.8 ms instead of 30.3 in segments.
	floodedCaches = 2
)

// floods reports whether a variant of an all-to-all leaves more in the sockets of a host,
// at a time, than its caches hold. In other operations a rank sends to few at a time.
func (ch *Chooser) floods(c *Signature, at *price.Topology, v Variant) bool {
	if c.Op != schedule.AllToAll {
		return false
	}
	used := at.Connections
	if lanes, others := max(v.Segments.Concurrency, 1), c.Size-1; !v.Algorithm.Burst && lanes < others {
		used = used * lanes / others
	}
	blocks, block := c.Counts, 0 // the mean of them
	if blocks == nil {
		blocks = []int{c.Count}
	}
	for _, n := range blocks {
		block += min(v.Segments.UnderWay(n)*c.Element, socketHolds)
	}
	block /= len(blocks)
	return used*block > floodedCaches*ch.Machine.Cache
}
