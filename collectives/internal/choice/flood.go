package choice

import "github.com/gaspi-go/gaspi-go/internal/schedule"

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
func (ch *Chooser) floods(c *Signature, v Variant) bool {
	if c.Op != schedule.AllToAll {
		return false
	}
	used := connections(c.Nodes, ch.Hosts)
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

// connections is how many connections end on one host, at most: those to each of its
// ranks from all ranks of other nodes. Hosts are the nodes if hosts is nil.
func connections(nodes, hosts []int) int {
	if hosts == nil {
		hosts = nodes
	}
	onNode, onHost := make(map[int]int), make(map[int]int)
	for _, n := range nodes {
		onNode[n]++
	}
	most := 0
	for r, n := range nodes {
		onHost[hosts[r]] += len(nodes) - onNode[n]
		most = max(most, onHost[hosts[r]])
	}
	return most
}
