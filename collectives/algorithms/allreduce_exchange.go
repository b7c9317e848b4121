package algorithms

import "github.com/gaspi-go/gaspi-go/collectives/schedule"

// allReduceExchange folds whole vectors among groups of ranks, round by round: in
// a round of factor f, those f ranks that differ in one digit of their number send
// each other what they have. The product of the factors is the core. Of the first
// ranks, as many pairs as there are ranks beyond the core act as one number each:
// the even rank gives its contribution to the odd one and gets the result back.
//
// Every partial fold is of consecutive ranks and made alike by all who make it: the
// order of ranks is kept, and all ranks get the very same result.
//
// Flip suffices, since in every run each rank hears from all to whom it sends.
// Partial folds replace what has arrived, so that no source of a put is written in
// the run; only the result may be where In was, and a flush comes before that.
func allReduceExchange(b *schedule.Builder, c *schedule.Call, factors []int) {
	me, n := b.Rank(), c.Count
	e := claimExchange(b, c, factors)
	part := b.In(me, 0, n)
	if e.gives(me) {
		deliver(b, e.given.At(me+1, 0, n), part, e.give)
		b.Await(e.take)
		b.Copy(b.Out(me, 0, n), e.taken.At(me, 0, n))
		return
	}
	if e.doubles(me) {
		own := part
		part = e.given.At(me, 0, n)
		b.Await(e.give)
		b.Combine(part, part, own)
	}
	dist := 1
	for s, f := range factors {
		from := e.round(b, s, dist, part)
		part = e.got[s].At(me, 0, n)
		if s == len(factors)-1 {
			part = b.Out(me, 0, n)
			if c.InPlace {
				b.Flush()
			}
		}
		b.Combine(part, from...)
		dist *= f
	}
	b.Copy(b.Out(me, 0, n), part)
	if e.doubles(me) {
		deliver(b, e.taken.At(me-1, 0, n), part, e.take)
	}
}

// exchange is what all rounds need.
type exchange struct {
	factors   []int
	n, stride int // elements of the vector, and between two copies of it
	extra     int // ranks beyond the core

	got  []schedule.Memory // of each round: the vectors of the other members
	slot []int             // of each round: the first of as many

	given, taken schedule.Memory // of the odd and of the even rank of a pair
	give, take   int
}

func claimExchange(b *schedule.Builder, c *schedule.Call, factors []int) *exchange {
	e := &exchange{factors: factors, n: c.Count, stride: b.RoundUp(c.Count)}
	core := 1
	for _, f := range factors {
		core *= f
		e.got = append(e.got, b.Flip((f-1)*e.stride))
		e.slot = append(e.slot, b.Slots(f-1))
	}
	if e.extra = c.Size - core; e.extra > 0 {
		e.given, e.taken = b.Flip(e.n), b.Flip(e.n)
		e.give, e.take = b.Slots(1), b.Slots(1)
	}
	return e
}

// gives and doubles report whether a rank is the even or the odd one of a pair.
func (e *exchange) gives(rank int) bool   { return rank < 2*e.extra && rank%2 == 0 }
func (e *exchange) doubles(rank int) bool { return rank < 2*e.extra && rank%2 == 1 }

// number is the number of a rank of the core, in the order of ranks.
func (e *exchange) number(rank int) int {
	if rank < 2*e.extra {
		return rank / 2
	}
	return rank - e.extra
}

// rank is who has that number.
func (e *exchange) rank(number int) int {
	if number < e.extra {
		return 2*number + 1
	}
	return number + e.extra
}

// round sends part to the other members of the group of round s, awaits theirs and
// returns all of them in the order of ranks.
func (e *exchange) round(b *schedule.Builder, s, dist int, part schedule.Region) []schedule.Region {
	me, f := e.number(b.Rank()), e.factors[s]
	digit := me / dist % f
	for d := 1; d < f; d++ {
		to := mod(digit+d, f)
		at := among(digit, to)
		deliver(b, e.got[s].At(e.rank(me+(to-digit)*dist), at*e.stride, e.n), part, e.slot[s]+at)
	}
	all := make([]schedule.Region, f)
	for from := range f {
		if from == digit {
			all[from] = part
			continue
		}
		at := among(from, digit)
		b.Await(e.slot[s] + at)
		all[from] = e.got[s].At(b.Rank(), at*e.stride, e.n)
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
