package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// scanLinear hands the fold from rank to rank, inclusive or exclusive. In segments
// it is a pipeline that sends and combines every element once.
//
// Cost: P-1 steps, n elements sent and n combined; n elements of scratch, twice that
// for the exclusive one. The order of ranks is kept. A receiver signals its sender when it has
// read a block, and the sender awaits that at the end.
func scanLinear(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	arrived, folded := b.Scratch(n), schedule.Memory{}
	if c.Op == schedule.ExScan {
		folded = b.Scratch(n)
	}
	data, read := b.Slots(1), b.Slots(1)
	own, out, got := b.In(me, 0, n), b.Out(me, 0, n), arrived.At(me, 0, n)
	incl := own
	if me > 0 {
		b.Await(data)
		if c.Op == schedule.Scan {
			incl = out
			b.Combine(incl, got, own)
		} else if me < c.Size-1 {
			incl = folded.At(me, 0, n)
			b.Combine(incl, got, own)
		}
	}
	if me < c.Size-1 {
		b.Put(arrived.At(me+1, 0, n), incl, data)
	}
	switch {
	case c.Op == schedule.Scan:
		b.Copy(out, incl)
	case me > 0:
		b.Copy(out, got)
	}
	if me > 0 {
		b.Signal(me-1, read)
	}
	if me < c.Size-1 {
		b.Await(read)
	}
}

// scanLinearFormula is the hops with a fold in each. A rank gives the next vector when its last
// was read. Only an exclusive one copies what has arrived; it is charged a fold too many, since its last rank folds
// nothing, and for that not the signals that vectors were read.
func scanLinearFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	hop := chainHop(s, c)
	hop.Fold = price.Local{Elements: n, Sources: 2, Scratch: 1}
	one := oneHop(hop, n)
	one.Fold = hop.Fold
	copied, scratch := 0.0, n
	if c.Op == schedule.ExScan {
		copied, scratch = n, 2*n
	} else {
		hop.Credits, hop.Turns = 1, 1.5 // a rank waits until its vector was read, too
	}
	own := work(price.Local{Elements: copied, Sources: 1})
	return price.Profile{Stages: []price.Stage{hop, own}, Again: []price.Stage{one, only(price.Leaving, one), oneHop(hop, 0)}, Scratch: scratch}
}
