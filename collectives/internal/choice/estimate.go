package choice

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// where returns the topology of a call, which is made once for a team.
func (ch *Chooser) where(c *Signature) (*price.Topology, error) {
	var nodes *int
	if len(c.Nodes) > 0 {
		nodes = &c.Nodes[0]
	}
	if ch.topology != nil && ch.nodes == nodes && ch.topology.Ranks == c.Size {
		return ch.topology, nil
	}
	topology, err := price.NewTopology(&ch.Machine, c.Size, c.Nodes, ch.Hosts)
	if err != nil {
		return nil, err
	}
	ch.topology, ch.nodes = topology, nodes
	return topology, nil
}

// estimate returns what a call takes by the formula of the algorithm. The call has blocks of one length;
// see evened.
func (ch *Chooser) estimate(c *Signature, at *price.Topology, v Variant) cost {
	segment, segments := c.Call, 1.0
	segment.Radix = v.Radix
	if v.cuts() > 0 {
		segment.Count, segments = cut(c.Count, v.Segments)
	}
	profile := v.Algorithm.Formula(at, &segment)
	if v.inSegments(c, at) {
		profile = profile.InSegments()
	}
	if v.staging != inPlace {
		before, behind := stagedCopies(&segment, v.staging)
		before.Vectors = float64(v.staged())
		profile = profile.Staged(before, behind)
	}
	if v.vectors > v.staged() {
		profile = profile.Fanned(float64(v.vectors), float64(segment.Count))
	}
	machine := ch.found(c, at, v)
	work := price.Segments{
		Count: segments, AtOnce: float64(max(1, v.Segments.Concurrency)), Element: float64(c.Element),
		Vectors: vectorsOf(&c.Call, (c.Root+1)%c.Size), Root: vectorsOf(&c.Call, c.Root),
	}
	return cost{
		seconds: price.Estimate(&machine, at, profile, work), steps: profile.Steps() * segments * float64(c.Size), memory: profile.Memory(at, work),
		rounds: profile.Rounds(),
	}
}

// found is the machine as a variant of a call finds it.
func (ch *Chooser) found(c *Signature, at *price.Topology, v Variant) price.Machine {
	machine := ch.Machine
	if !v.Algorithm.OneWay {
		machine = machine.At(underWay(&c.Call, v.Segments)*c.Element, at.Host)
	}
	if ch.floods(c, at, v) {
		machine = machine.Flooded()
	}
	return machine
}

// load is what a call meets.
func (ch *Chooser) load(c *Signature, at *price.Topology, v Variant) price.Load {
	return price.Load{Element: c.Element, Runs: runs, Hosts: ch.Hosts, InSegments: v.inSegments(c, at)}
}

// inSegments reports whether what an algorithm only copies for puts is spared. In shared memory it is, too, but its
// price stands for the caches that eager memory goes through: without it, 2 ranks choose eager for reductions and
// broadcasts of 4 KiB, which take 2 to 3 times as long.
func (v *Variant) inSegments(c *Signature, at *price.Topology) bool {
	return at.Nodes > 1 && !c.Plain && v.vectors <= 1
}

// cut is the elements of a segment of n, and how many there are: a last one that is shorter counts
// as the part that it is.
func cut(n int, how schedule.Segmentation) (int, float64) {
	size := how.Size
	if size == 0 {
		size = n / max(1, how.Concurrency)
	}
	if size == 0 || size >= n {
		return n, 1
	}
	return size, float64(n) / float64(size)
}

// stagedCopies are the copies that staging makes.
func stagedCopies(c *schedule.Call, how staging) (before, behind price.Copies) {
	in, out := mostElements(c)
	before, behind = price.Copies{Elements: in}, price.Copies{Elements: out}
	switch c.Op {
	case schedule.Broadcast, schedule.Scatter:
		before.Ranks, behind.Idle, behind.There = 1, true, c.Op == schedule.Broadcast
	case schedule.Reduce, schedule.Gather:
		behind.Ranks, before.Idle = 1, true
	}
	if how == stageIn {
		behind = price.Copies{}
	}
	return before, behind
}

// vectorsOf is the elements of the vectors of a rank.
func vectorsOf(c *schedule.Call, r int) float64 {
	in, out := c.InLen(r), c.OutLen(r)
	if c.InPlace || c.Op == schedule.Broadcast {
		return float64(max(in, out))
	}
	return float64(in + out)
}

// mostElements is the elements of the longest In and Out of a rank.
func mostElements(c *schedule.Call) (in, out float64) {
	for _, r := range [2]int{c.Root, (c.Root + 1) % c.Size} {
		in, out = max(in, float64(c.InLen(r))), max(out, float64(c.OutLen(r)))
	}
	return in, out
}

// evened is a call with blocks that are all as long as the mean one, among the ranks that are
// engaged: what formulas are for.
func (c *Signature) evened() Signature {
	even := *c
	if c.Counts != nil {
		total := 0
		for _, n := range c.Counts {
			total += n
		}
		even.Counts, even.Count = nil, (total+len(c.Counts)/2)/len(c.Counts)
	}
	if c.Engaged != nil {
		part := 0
		for r, gives := range c.Engaged {
			if gives || r == c.Root {
				part++
			}
		}
		even.Engaged, even.Size = nil, max(2, part)
	}
	return even
}
