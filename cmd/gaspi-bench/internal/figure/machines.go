package figure

import "github.com/gaspi-go/gaspi-go/internal/schedule/price"

// The machines of the papers, as the model of package price takes them. Latencies and
// bandwidths are what the papers state; overheads are those of such networks; a rank
// folds as fast as its link moves bytes, which is what makes 28 to 37 % of a ring
// arithmetic (Fig. 4 of the paper on pipelined allreduce).

// edr is the cluster of "pipelined allreduce", Section 4.1: InfiniBand EDR, 100 Gb/s and
// 0.5 us, a rank per node.
func edr() price.Machine {
	return price.Machine{
		Network:   price.Link{Latency: 0.5e-6, Put: 0.2e-6, Signal: 0.2e-6},
		Await:     0.1e-6,
		Bandwidth: 12.5e9, ReduceRate: 12.5e9, CopyRate: 12.5e9,
	}
}

// qdr is the cluster of its appendix A.2: QDR, 32 Gb/s of data, and processors of 2010.
func qdr() price.Machine {
	m := edr()
	m.Network = price.Link{Latency: 1.3e-6, Put: 0.4e-6, Signal: 0.4e-6}
	m.Bandwidth, m.ReduceRate, m.CopyRate = 4e9, 4e9, 4e9
	return m
}

// fdr is the SkyLake partition of "eventually consistent collectives", Section V: FDR,
// 54 Gb/s, a rank per node.
func fdr() price.Machine {
	m := edr()
	m.Network.Latency = 0.7e-6
	m.Bandwidth, m.ReduceRate, m.CopyRate = 6.75e9, 6.75e9, 12.5e9
	return m
}

// omniPath is the Galileo cluster of its Section V: 100 Gb/s, four ranks per node that
// share the node's link. Each message costs the processor its overhead, which matters
// to an AllToAll of short blocks.
func omniPath() price.Machine {
	m := edr()
	m.Network = price.Link{Latency: 0.9e-6, Put: 0.3e-6, Signal: 0.3e-6}
	m.Shared = price.Link{Latency: 0.15e-6, Put: 0.1e-6, Signal: 0.1e-6}
	m.CopyRate = 8e9
	m.RanksPerNode = 4
	return m
}
