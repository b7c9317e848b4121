package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceDirect is for ranks that share memory: each that is engaged folds its part
// of the vector from all contributions, in the order of ranks, and stores it in the
// root's result.
//
// Cost: two signals per peer; P reads and one write of n/P elements; no scratch. A
// peer's second signal says that it has finished reading and writing.
func reduceDirect(b *schedule.Builder, c *schedule.Call) {
	m := membersOf(c, b.Rank())
	ready, done := b.Slots(c.Size), b.Slots(c.Size)
	if m.me < 0 {
		return
	}
	m.signalAll(b, ready)
	m.awaitAll(b, ready)
	mine := schedule.Chunk(c.Count, len(m.ranks), m.me)
	var from []schedule.Region
	for i, r := range m.ranks {
		if m.gives[i] {
			from = append(from, b.In(r, mine.Off, mine.Len))
		}
	}
	if len(from) > 0 {
		b.Combine(b.Out(c.Root, mine.Off, mine.Len), from...)
	}
	m.signalAll(b, done)
	m.awaitAll(b, done)
}

// signalAll posts the rank's slot, from first on, to all other members.
func (m members) signalAll(b *schedule.Builder, first int) {
	for d := 1; d < len(m.ranks); d++ {
		b.Signal(m.ranks[mod(m.me+d, len(m.ranks))], first+m.me)
	}
}

// awaitAll awaits what all others signal by signalAll.
func (m members) awaitAll(b *schedule.Builder, first int) {
	for d := 1; d < len(m.ranks); d++ {
		b.Await(first + mod(m.me+d, len(m.ranks)))
	}
}

// reduceDirectFormula is the signals before and behind the fold.
func reduceDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	return price.Profile{Stages: meetAround(s, p, price.Local{Elements: n / p, Sources: p})}
}

// meetAround is signals of all to all before and behind what all do.
func meetAround(s *price.Topology, p float64, l price.Local) []price.Stage {
	meet := price.Stage{Route: s.Everybody(), Peers: p - 1}
	first := meet
	first.Fold = l
	return []price.Stage{first, meet}
}
