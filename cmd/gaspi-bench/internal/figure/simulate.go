package figure

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// cacheLine is the length in bytes of a cache line of the papers' processors.
const cacheLine = 64

// simulate prices all points of a sweep on the model of the paper's machine.
func (s *Sweep) simulate(ctx context.Context) (*SweepTimes, error) {
	g := s.Grids[Simulated]
	t := NewTimes(Simulated, g, describe(&s.Machine))
	for _, line := range s.in(Simulated) {
		for _, ranks := range g.Ranks {
			for _, bytes := range g.Bytes {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				seconds, err := s.price(line, ranks, bytes)
				if err != nil {
					return nil, fmt.Errorf("%s of %d ranks and %d bytes: %w", line.Name, ranks, bytes, err)
				}
				p := Point{line.Name, ranks, bytes}
				t.Set(p, Timing{Seconds: seconds, Low: seconds, High: seconds})
				t.Rows = append(t.Rows, RawRow{Point: p, Round: 1, MinUS: seconds * 1e6, P50US: seconds * 1e6, P99US: seconds * 1e6, Carried: true})
			}
		}
	}
	return t, nil
}

// price is how long a line takes by the model.
func (s *Sweep) price(line Line, ranks, bytes int) (float64, error) {
	if line.Algorithm == auto {
		return s.best(line, ranks, bytes)
	}
	emit := line.Emit
	if emit == nil {
		a, err := algorithms.Lookup(s.Op, line.Algorithm)
		if err != nil {
			return 0, err
		}
		emit = a.Emit
	}
	m := s.Machine
	if line.NoOp {
		m.ReduceRate = 0 // which is infinite
	}
	return price.PredictSegments(&m, s.call(line, ranks, bytes), line.segmentation(), emit, price.Load{Element: elementBytes})
}

// auto is the name of the algorithm that the library chooses.
const auto = "auto"

// best is the least that any algorithm takes by the model, whole or in segments of
// which up to 8 are under way: what the library's choice comes from.
func (s *Sweep) best(line Line, ranks, bytes int) (float64, error) {
	least := 0.0
	for _, a := range algorithms.For(s.Op) {
		call := s.call(line, ranks, bytes)
		if a.Shares || a.Differs || a.Coded || a.Fits != nil && a.Fits(call) != nil {
			continue
		}
		for _, segments := range []int{1, 2, 4, 8} {
			with := line
			with.Algorithm, with.Segments = a.Name, segments
			seconds, err := s.price(with, ranks, bytes)
			if err != nil {
				return 0, err
			}
			if least == 0 || seconds < least {
				least = seconds
			}
			if a.Whole {
				break
			}
		}
	}
	return least, nil
}

// call is what all ranks do at a point.
func (s *Sweep) call(line Line, ranks, bytes int) *schedule.Call {
	count := max(1, bytes/elementBytes)
	if s.Op.Blockwise() && s.Op != schedule.AllToAll {
		count = max(1, count/ranks)
	}
	if line.Threshold > 0 {
		count = max(1, int(line.Threshold*float64(count)))
	}
	c := &schedule.Call{Op: s.Op, Size: ranks, Count: count, Line: cacheLine / elementBytes, InPlace: s.Op == schedule.AllGather}
	if line.Processes > 0 {
		c.Engaged = algorithms.Engage(ranks, 0, line.Processes)
	}
	return c
}

// segmentation is how a line cuts vectors.
func (l *Line) segmentation() schedule.Segmentation {
	how := schedule.Segmentation{Concurrency: l.Segments}
	if l.SegmentBytes > 0 {
		how.Size = max(1, l.SegmentBytes/elementBytes)
	}
	return how
}

// describe is a machine in words.
func describe(m *price.Machine) string {
	s := fmt.Sprintf("links of %.3g Gb/s and %.2g us, a rank folds %.3g GB/s", m.Bandwidth*8e-9, m.Network.Latency*1e6, m.ReduceRate*1e-9)
	if m.RanksPerNode > 1 {
		s += fmt.Sprintf(", %d ranks per node", m.RanksPerNode)
	}
	return s
}

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
