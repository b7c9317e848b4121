package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scanDoubling is the scan of Hillis and Steele, inclusive or exclusive: in step k
// each rank sends its fold of the last 2^k ranks to the rank 2^k after it. For the
// exclusive one a rank also folds what arrives without its own contribution.
//
// Cost: log P steps, rounded up; n log P elements sent and as many combined, twice
// as many for the exclusive one; n(log P + 2) elements of scratch and one vector
// more for the exclusive one. The order of ranks is kept. A receiver signals its sender when it
// has read a block. The sender awaits that before it overwrites the block, two steps later, or
// else at the end.
func scanDoubling(b *schedule.Builder, c *schedule.Call) {
	me, p, n := b.Rank(), c.Size, c.Count
	s := claimScan(b, c)
	incl, excl := b.In(me, 0, n), schedule.Region{}
	for k := range s.steps {
		d := 1 << k
		if me+d < p {
			b.Put(s.arrived[k].At(me+d, 0, n), incl, s.data+k)
			s.unheard = append(s.unheard, k)
		}
		if me < d {
			continue
		}
		b.Await(s.data + k)
		got := s.arrived[k].At(me, 0, n)
		result := me < 2*d && !c.InPlace // what is folded now may go to Out
		if c.Op == schedule.ExScan {
			excl = s.exclude(k, got, excl, result)
		}
		if c.Op == schedule.Scan || me+2*d < p {
			incl = s.include(k, got, incl, result && c.Op == schedule.Scan)
		}
		b.Signal(me-d, s.read+k)
	}
	s.hear(s.steps)
	switch {
	case c.Op == schedule.Scan:
		b.Copy(b.Out(me, 0, n), incl)
	case me > 0:
		b.Copy(b.Out(me, 0, n), excl)
	}
}

// scan is what a rank needs for all steps of a scan.
type scan struct {
	b     *schedule.Builder
	n     int
	steps int

	arrived  []schedule.Memory // of each step
	folded   []schedule.Memory // of even and of odd steps
	excluded schedule.Memory
	data     int   // slot of the first step
	read     int   // the same
	unheard  []int // steps in which the rank sent and has not heard that it was read
}

func claimScan(b *schedule.Builder, c *schedule.Call) *scan {
	s := &scan{b: b, n: c.Count, steps: log2up(c.Size)}
	s.arrived, s.folded = eachScratch(b, s.steps, s.n), eachScratch(b, 2, s.n)
	if c.Op == schedule.ExScan {
		s.excluded = b.Scratch(s.n)
	}
	s.data, s.read = b.Slots(s.steps), b.Slots(s.steps)
	return s
}

// include is what arrived in step k and what the rank has, folded.
func (s *scan) include(k int, got, incl schedule.Region, result bool) schedule.Region {
	dst := s.b.Out(s.b.Rank(), 0, s.n)
	if !result {
		dst = s.folded[k%2].At(s.b.Rank(), 0, s.n)
		s.hear(k) // was sent from there in step k-1
	}
	s.b.Combine(dst, got, incl)
	return dst
}

// exclude is the same without the rank's own contribution.
func (s *scan) exclude(k int, got, excl schedule.Region, result bool) schedule.Region {
	dst := s.b.Out(s.b.Rank(), 0, s.n)
	if !result {
		dst = s.excluded.At(s.b.Rank(), 0, s.n)
	}
	if k == 0 {
		s.b.Copy(dst, got)
	} else {
		s.b.Combine(dst, got, excl)
	}
	return dst
}

// hear awaits that all was read that the rank sent before step k.
func (s *scan) hear(k int) {
	for len(s.unheard) > 0 && s.unheard[0] < k {
		s.b.Await(s.read + s.unheard[0])
		s.unheard = s.unheard[1:]
	}
}

// scanDoublingFormula is the steps, in each of which most ranks fold what they hear, twice if their own contribution is to
// be left out. Of numbers between powers of two the last step is to ranks that hear from some with fewer steps: in one of
// two runs they find it there. The next run begins at ranks that wait for nobody while the last is read.
func scanDoublingFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, folds := float64(c.Count), 1.0
	if c.Op == schedule.ExScan {
		folds = 2
	}
	p := price.Profile{Scratch: n * float64(log2up(c.Size)+1+int(folds))}
	for step := 1; step < c.Size; step *= 2 {
		p.Stages = append(p.Stages, price.Stage{
			Route: s.Line(step), Pairs: s.OnHost(float64(c.Size - step)), Peers: 1, Elements: n, Credits: 1, Turns: 0.8,
			Fold: price.Local{Times: folds, Elements: n, Sources: 2, Scratch: 2},
		})
	}
	last := len(p.Stages) - 1
	read := oneHop(p.Stages[last], 0)
	p.Stages[last].Credits = 0
	p.Again = slices.Clone(p.Stages)
	if c.Size&(c.Size-1) != 0 {
		p.Stages[last].Only = price.Arrival
	}
	p.Stages = append(p.Stages, read)
	if c.InPlace {
		result := work(price.Local{Elements: n, Sources: 1, Scratch: 1})
		p.Stages, p.Again = append(p.Stages, result), append(p.Again, result)
	}
	return p
}
