package algorithms

import (
	"math/bits"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// allReduceExchange folds whole vectors among groups of ranks, round by round: in
// a round of factor f, those f ranks that differ in one digit of their number send
// each other what they have. The product of the factors is the core. Of the first
// ranks, as many pairs as there are ranks beyond the core act as one number each:
// the first of a pair gives its contribution to the second and gets the result back.
//
// Every partial fold is of consecutive ranks and made alike by all who make it: the
// order of ranks is kept, and all ranks get the very same result.
//
// Flip suffices, since in every run each rank hears from all to whom it sends.
// Partial folds replace what has arrived, so that no source of a put is written in
// the run; only the result may be where In was, and a flush comes before that.
func allReduceExchange(b *schedule.Builder, c *schedule.Call, factors []int) {
	me, n := b.Rank(), c.Count
	e := claimExchange(b, nil, c.Size, n, factors)
	e.run(b, b.In(me, 0, n), b.Out(me, 0, n), c.InPlace)
}

// run leaves the fold of what all of the exchange have in out. It flushes before it
// writes there if out is where own is.
func (e *exchange) run(b *schedule.Builder, own, out schedule.Region, flush bool) {
	me := b.Rank()
	if e.gives() {
		deliverApart(b, e.given.At(e.at(e.me+1), 0, e.n), own, e.give)
		result := e.taken.At(me, 0, e.n)
		b.AwaitApart(e.at(e.me+1), e.take, result)
		b.Copy(out, result)
		return
	}
	part := own
	if e.doubles() {
		part = e.given.At(me, 0, e.n)
		b.AwaitApart(e.at(e.me-1), e.give, part)
		b.Combine(part, part, own)
	}
	dist := 1
	for s, f := range e.factors {
		from := e.round(b, s, dist, part)
		part = e.got[s].At(me, 0, e.n)
		if s == len(e.factors)-1 {
			part = out
			if flush {
				b.Flush()
			}
		}
		b.Combine(part, from...)
		dist *= f
	}
	b.Copy(out, part)
	if e.doubles() {
		deliverApart(b, e.taken.At(e.at(e.me-1), 0, e.n), out, e.take)
	}
}

// exchange is what all rounds need.
type exchange struct {
	ranks     []int // that take part; nil means all
	me        int   // the rank's place among them, or -1
	factors   []int
	n, stride int // elements of the vector, and between two copies of it
	extra     int // ranks beyond the core

	got  []schedule.Memory // of each round: the vectors of the other members
	slot []int             // of each round: the first of as many

	given, taken schedule.Memory // of the second and of the first rank of a pair
	give, take   int
}

func claimExchange(b *schedule.Builder, ranks []int, size, n int, factors []int) *exchange {
	e := &exchange{ranks: ranks, me: b.Rank(), factors: factors, n: n, stride: b.RoundUp(n)}
	if ranks != nil {
		e.me = slices.Index(ranks, b.Rank())
	}
	core := 1
	for _, f := range factors {
		core *= f
		e.got = append(e.got, b.Flip((f-1)*e.stride))
		e.slot = append(e.slot, b.Slots(f-1))
	}
	if e.extra = size - core; e.extra > 0 {
		e.given, e.taken = b.Flip(e.n), b.Flip(e.n)
		e.give, e.take = b.Slots(1), b.Slots(1)
	}
	return e
}

// gives and doubles report whether the rank is the first or the second of a pair.
func (e *exchange) gives() bool   { return e.me < 2*e.extra && e.me%2 == 0 }
func (e *exchange) doubles() bool { return e.me < 2*e.extra && e.me%2 == 1 }

// number is the number of the rank in the core.
func (e *exchange) number() int {
	if e.me < 2*e.extra {
		return e.me / 2
	}
	return e.me - e.extra
}

// rank is who has that number.
func (e *exchange) rank(number int) int {
	if number < e.extra {
		return e.at(2*number + 1)
	}
	return e.at(number + e.extra)
}

// at is the rank at a place among those that take part.
func (e *exchange) at(place int) int {
	if e.ranks == nil {
		return place
	}
	return e.ranks[place]
}

// round sends part to the other members of the group of round s, awaits theirs and
// returns all of them in the order of ranks.
func (e *exchange) round(b *schedule.Builder, s, dist int, part schedule.Region) []schedule.Region {
	me, f := e.number(), e.factors[s]
	digit := me / dist % f
	for d := 1; d < f; d++ {
		to := mod(digit+d, f)
		at := among(digit, to)
		deliverApart(b, e.got[s].At(e.rank(me+(to-digit)*dist), at*e.stride, e.n), part, e.slot[s]+at)
	}
	all := make([]schedule.Region, f)
	for from := range f {
		if from == digit {
			all[from] = part
			continue
		}
		at := among(from, digit)
		all[from] = e.got[s].At(b.Rank(), at*e.stride, e.n)
		b.AwaitApart(e.rank(me+(from-digit)*dist), e.slot[s]+at, all[from])
	}
	return all
}

// among is the place of member i of a group among those who are not member j.
func among(i, j int) int {
	if i > j {
		return i - 1
	}
	return i
}

// exchangeStages are the rounds of an exchange of n elements among so many ranks, which stand so
// far apart, each with all that are so many times as far.
func exchangeStages(s *price.Topology, factors []int, ranks int, n float64, apart int) (stages []price.Stage, flip float64) {
	core := 1
	for _, f := range factors {
		core *= f
	}
	extra := float64(ranks - core)
	pair := price.Stage{Route: s.Group(apart, 2, 0), Pairs: s.OnHost(extra), OneWay: true, Peers: 1, Elements: n, Apart: true}
	if extra > 0 {
		give := pair
		give.Fold = price.Local{Elements: n, Sources: 2, Flip: 2}
		stages = append(stages, give)
		flip += 2 * n
	}
	dist := apart
	for _, f := range factors {
		stages = append(stages, price.Stage{
			Route: s.Group(dist, f, ranks-core), Pairs: s.OnHost(float64(core)), Peers: float64(f - 1), Elements: n, Apart: true, Beside: dist == 1,
			Fold: price.Local{Elements: n, Sources: float64(f), Flip: float64(f)},
		})
		flip += float64(f-1) * n
		dist *= f
	}
	if extra > 0 {
		pair.Copy = price.Local{Elements: n, Sources: 1, Flip: 1}
		if bits.Len(uint(extra-1)) < len(factors) { // the way of who gives last ends there
			pair.Only = price.Leaving
		}
		stages = append(stages, pair)
	}
	return stages, flip
}
