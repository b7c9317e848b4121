package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scanDirect is for ranks that share memory, inclusive or exclusive: each takes its
// part of the vector, folds the contributions of all ranks one after the other, and
// stores each fold in the result that it belongs to.
//
// Cost: two signals per peer; P folds of n/P elements; no scratch, but for an
// exclusive scan in place, whose results lie where later contributions are read: n/P
// elements twice, and another P copies. The order of ranks is kept. A peer's second
// signal says that it has finished reading and writing.
func scanDirect(b *schedule.Builder, c *schedule.Call) {
	me, p := b.Rank(), c.Size
	ready, done := b.Slots(p), b.Slots(p)
	mine := schedule.Chunk(c.Count, p, me)
	stride, aside := b.RoundUp(schedule.Chunk(c.Count, p, 0).Len), schedule.Memory{}
	if c.Op == schedule.ExScan && c.InPlace {
		aside = b.Scratch(2 * stride)
	}
	signalAll(b, p, ready)
	awaitAll(b, p, ready)
	fold := b.In(0, mine.Off, mine.Len)
	if c.Op == schedule.Scan {
		b.Copy(b.Out(0, mine.Off, mine.Len), fold)
	}
	for r := 1; r < p; r++ {
		own, out := b.In(r, mine.Off, mine.Len), b.Out(r, mine.Off, mine.Len)
		switch {
		case c.Op == schedule.Scan:
			b.Combine(out, fold, own)
			fold = out
		case !c.InPlace:
			before := []schedule.Region{fold}
			if r > 1 {
				before = append(before, b.In(r-1, mine.Off, mine.Len))
			}
			b.Combine(out, before...)
			fold = out
		default:
			next := aside.At(me, r%2*stride, mine.Len)
			if r < p-1 {
				b.Combine(next, fold, own)
			}
			b.Copy(out, fold)
			fold = next
		}
	}
	signalAll(b, p, done)
	awaitAll(b, p, done)
}

// scanDirectFormula is the signals before and behind the folds.
func scanDirectFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	return price.Profile{Stages: meetAround(s, p, price.Local{Times: p - 1, Elements: n / p, Sources: 2})}
}
