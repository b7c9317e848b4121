package numbers

import (
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A Draw finds the highest number that is free at all members of a group. Each member reserves its
// highest free number below a limit, all take the least of these as the next limit, and so on until
// it is the limit itself: then everybody has reserved it. Nobody waits for a number: limits only
// fall, and draws of other groups meanwhile pass over what is reserved.
//
// Two draws that share members could push each other down like this, step by step. So
// who meets the number of another draw passes over some more, at random, and when
// nothing is left after that, the draw begins anew.
//
// The members carry votes: each casts Vote, and when the least of all is known, each calls Count
// with it. All members then decide the same.
type Draw struct {
	pool  Pool
	count int // numbers go from 0 to count-1
	Votes

	limit  int  // the highest number that may still be found
	number int  // reserved here; -1 if none is
	found  bool // it is reserved at all members

	cast   bool // a vote is cast and not counted: the number stays
	asking bool // the vote finds out whether a member has hopped
	hopped bool // this one has met the number of another draw since the draw began anew
	rounds int  // since then
	tries  int  // how often it began
}

// mostTries is how often a draw begins. One or two are enough where many more numbers
// are free than draws go on at a time. Where few are, other draws may have reserved all
// of them while their goroutines wait for a core, for some 10 ms on a busy machine, and a
// try of ranks that share memory takes about 10 us.
const mostTries = 1 << 12

// A Pool is where numbers are reserved.
type Pool interface {
	// Reserve takes the highest free number up to limit, or returns -1. hop is how many
	// to pass over where another draw has reserved one.
	Reserve(limit int, hop func() int) int
	// Release gives a number back.
	Release(number int)
}

// Votes are the values of the votes of a rank in a job of so many. The least one counts: rank r
// cannot take part, then no number is free, then the numbers.
type Votes struct {
	Rank base.Rank
	Size int
}

// Veto is the vote of a rank that cannot take part: 1 more than its number.
func (v Votes) Veto() notify.Value { return notify.Value(v.Rank) + 1 }

// None is the vote of a rank at which no number is free. It is greater than any Veto.
func (v Votes) None() notify.Value { return notify.Value(v.Size) + 1 }

// For is the vote for a number.
func (v Votes) For(number int) notify.Value { return v.None() + 1 + notify.Value(number) }

// NewDraw returns a draw of the numbers below count.
func NewDraw(pool Pool, count int, votes Votes) *Draw {
	return &Draw{pool: pool, count: count, Votes: votes, limit: count - 1, number: -1, tries: 1}
}

// Found reports whether a number is found. It is reserved at all members.
func (d *Draw) Found() bool { return d.found }

// Number is the number that is found.
func (d *Draw) Number() int { return d.number }

// Vote is what this member casts in the next ballot. It stays the same until Count.
func (d *Draw) Vote() notify.Value {
	switch {
	case d.asking && d.hopped:
		return d.For(0)
	case d.asking:
		return d.For(1)
	case !d.cast:
		d.propose()
	}
	d.cast = true
	return d.For(d.number)
}

// Count takes the least vote of all members, and reports whether the draw goes on or has found a
// number. If not, no number is free at all members; none is reserved then.
func (d *Draw) Count(least notify.Value) bool {
	d.cast = false
	switch {
	case d.asking && (least != d.For(0) || d.tries == mostTries):
		return false
	case d.asking:
		d.asking, d.hopped, d.rounds, d.limit = false, false, 0, d.count-1
		d.tries++
	case least == d.None():
		d.GiveUp()
		d.asking = true
	default:
		limit := int(least - d.For(0))
		d.found, d.limit = limit == d.limit, limit
		d.rounds++
	}
	return true
}

// propose reserves the highest free number up to the limit.
func (d *Draw) propose() {
	if d.number == d.limit {
		return
	}
	d.GiveUp()
	d.number = d.pool.Reserve(d.limit, d.hop)
}

// hop is how many numbers to pass over: the more, the longer the draw has taken, but a
// small part of all, as those that count from 0 are others'.
func (d *Draw) hop() int {
	d.hopped = true
	return 1 + rand.IntN(max(1, min(2<<d.rounds, d.count/8)))
}

// GiveUp releases what is reserved.
func (d *Draw) GiveUp() {
	if d.number >= 0 {
		d.pool.Release(d.number)
		d.number = -1
	}
}
