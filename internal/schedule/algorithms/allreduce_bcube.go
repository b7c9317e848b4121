package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceBcube is Gloo's bcube with the call's radix as base, by default 2. In
// each step of the first stage, the ranks of a group that differ in one digit of
// their number divide among themselves the part of the vector that they have in
// common, and each folds its share from all of them; the second stage retraces the
// steps and collects the shares. The digits are those of a mixed radix: P is
// divided into as few factors up to the base as possible, and a prime beyond the
// base is a factor too, so that any number of ranks takes its full part.
//
// Cost: 2 log_B P steps of B-1 messages, 2n(P-1)/P elements sent, n(P-1)/P
// combined, about n elements of scratch. Groups of consecutive ranks come first, so
// the order of ranks is kept. Credits are not needed: the members of a group hear in
// the second stage of what was folded from them in the first, and they write into a
// result whose owner has sent them all that lay there.
func allReduceBcube(b *schedule.Builder, c *schedule.Call) {
	me, n := b.Rank(), c.Count
	factors := factorizeAll(c.Size, max(c.Radix, 2))
	if len(factors) == 0 {
		b.Copy(b.Out(me, 0, n), b.In(me, 0, n))
	}
	levels := bcubeLevels(b, c, factors)
	for s, l := range levels {
		part := b.Out
		if s == 0 {
			part = b.In
		}
		for _, to := range l.others {
			r, at := l.share(to), among(l.digit, to)
			b.Put(l.arrived.At(l.rank(to), at*l.stride, r.Len), part(me, r.Off, r.Len), l.scatter+at)
		}
		mine := l.share(l.digit)
		from := make([]schedule.Region, l.factor)
		from[l.digit] = part(me, mine.Off, mine.Len)
		for _, i := range l.others {
			at := among(i, l.digit)
			b.Await(l.scatter + at)
			from[i] = l.arrived.At(me, at*l.stride, mine.Len)
		}
		b.Combine(b.Out(me, mine.Off, mine.Len), from...)
	}
	for s := len(levels) - 1; s >= 0; s-- {
		l := levels[s]
		mine := l.share(l.digit)
		for _, to := range l.others {
			b.Put(b.Out(l.rank(to), mine.Off, mine.Len), b.Out(me, mine.Off, mine.Len), l.gather+among(l.digit, to))
		}
		for _, i := range l.others {
			b.Await(l.gather + among(i, l.digit))
		}
	}
}

// A bcubeLevel is a step of the first stage and its mirror in the second, as one
// rank sees them.
type bcubeLevel struct {
	me, dist, factor, digit int
	others                  []int // the digits of the other members, the next first
	n, size, lo, width      int   // the group has factor times width of size chunks from lo on
	stride                  int
	arrived                 schedule.Memory
	scatter, gather         int
}

// bcubeLevels are the levels of all factors.
func bcubeLevels(b *schedule.Builder, c *schedule.Call, factors []int) []bcubeLevel {
	var levels []bcubeLevel
	dist, lo, width := 1, 0, c.Size
	for _, f := range factors {
		width /= f
		l := bcubeLevel{me: b.Rank(), dist: dist, factor: f, digit: b.Rank() / dist % f, n: c.Count, size: c.Size, lo: lo, width: width}
		for d := 1; d < f; d++ {
			l.others = append(l.others, mod(l.digit+d, f))
		}
		l.stride = b.RoundUp(chunks(c.Count, c.Size, 0, width).Len)
		l.arrived = b.Scratch((f - 1) * l.stride)
		l.scatter, l.gather = b.Slots(f-1), b.Slots(f-1)
		levels = append(levels, l)
		lo += l.digit * width
		dist *= f
	}
	return levels
}

// share is the part of the vector that a member folds.
func (l *bcubeLevel) share(digit int) schedule.Range {
	return chunks(l.n, l.size, l.lo+digit*l.width, l.lo+(digit+1)*l.width)
}

// rank is the member with that digit.
func (l *bcubeLevel) rank(digit int) int { return l.me + (digit-l.digit)*l.dist }

// allReduceBcubeFormula is a stage for each factor, and the same backwards.
func allReduceBcubeFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n, p := float64(c.Count), float64(c.Size)
	var stages []price.Stage
	dist := 1
	for _, f := range factorizeAll(c.Size, max(c.Radix, 2)) {
		share := n / float64(dist*f)
		stages = append(stages, price.Stage{
			Route: s.Group(dist, f, 0), Beside: dist == 1, Peers: float64(f - 1), Elements: share,
			Fold: price.Local{Elements: share, Sources: float64(f), Scratch: float64(f - 1)},
		})
		dist *= f
	}
	for _, g := range slices.Backward(stages) {
		g.Fold = price.Local{}
		stages = append(stages, g)
	}
	return price.Profile{Stages: stages, Scratch: n * (p - 1) / p}
}
