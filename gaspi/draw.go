package gaspi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/notify"
)

// A draw finds the highest number that is free at all members of a group: of
// segments, or of groups. Each member reserves its highest free number below a limit,
// all take the least of these as the next limit, and so on until it is the limit
// itself: then everybody has reserved it. Nobody waits for a number: limits only fall,
// and draws of other groups meanwhile pass over what is reserved.
//
// Two draws that share members could push each other down like this, step by step. So
// who meets the number of another draw passes over some more, at random, and when
// nothing is left after that, the draw begins anew.
type draw struct {
	pool   numberPool
	count  int // numbers go from 0 to count-1
	noun   string
	limit  int  // the highest number that may still be found
	number int  // reserved here; -1 if none is
	found  bool // it is reserved at all members

	cast   bool // a ballot is under way, and the number stays until it has ended
	asking bool // the ballot finds out whether a member has hopped
	hopped bool // this one has met the number of another draw since the draw began anew
	rounds int  // since then
	tries  int  // how often it began
}

// mostTries is how often a draw begins. One or two are enough where many more numbers
// are free than draws go on at a time. Where few are, other draws may have reserved all
// of them while their goroutines wait for a core, for some 10 ms on a busy machine, and a
// try of ranks that share memory takes about 10 us.
const mostTries = 1 << 12

// A numberPool is where numbers are reserved.
type numberPool interface {
	// reserve takes the highest free number up to limit, or returns -1. hop is how many
	// to pass over where another draw has reserved one.
	reserve(limit int, hop func() int) int
	// release gives it back.
	release(number int)
}

// newDraw is a draw of the numbers below count. noun says in errors what they are.
func newDraw(from numberPool, count int, noun string) *draw {
	return &draw{pool: from, count: count, noun: noun, limit: count - 1, number: -1, tries: 1}
}

// Votes of a draw. The least one counts: rank r cannot take part, then no number is
// free, then the numbers.
func (p *Proc) veto() notify.Value           { return notify.Value(p.rank) + 1 }
func (p *Proc) none() notify.Value           { return notify.Value(p.size) + 1 }
func (p *Proc) vote(number int) notify.Value { return p.none() + 1 + notify.Value(number) }

// run goes on until a number is found and reserved, or nobody finds one. After an
// error that ends the call for all members, ended is true and nothing is reserved.
func (d *draw) run(ctx context.Context, g *Group) (ended bool, err error) {
	for !d.found {
		if ended, err := d.round(ctx, g); err != nil {
			return ended, err
		}
	}
	return false, nil
}

// round is one ballot and what follows from it, the same at all members.
func (d *draw) round(ctx context.Context, g *Group) (ended bool, err error) {
	p := g.p
	if !d.cast && !d.asking {
		d.propose()
	}
	vote := p.vote(d.number)
	if d.asking {
		vote = p.vote(1)
		if d.hopped {
			vote = p.vote(0)
		}
	}
	least, err := d.ballot(ctx, g, vote)
	switch {
	case err != nil:
		return false, err
	case d.asking && (least != p.vote(0) || d.tries == mostTries):
		return true, d.refused(p, p.none())
	case d.asking:
		d.asking, d.hopped, d.rounds, d.limit = false, false, 0, d.count-1
		d.tries++
	case least == p.none():
		d.giveUp()
		d.asking = true
	default:
		limit := int(least - p.vote(0))
		d.found, d.limit = limit == d.limit, limit
		d.rounds++
	}
	return false, nil
}

// propose reserves the highest free number up to the limit.
func (d *draw) propose() {
	if d.number == d.limit {
		return
	}
	d.giveUp()
	d.number = d.pool.reserve(d.limit, d.hop)
}

// hop is how many numbers to pass over: the more, the longer the draw has taken, but a
// small part of all, as those that count from 0 are others'.
func (d *draw) hop() int {
	d.hopped = true
	return 1 + rand.IntN(max(1, min(2<<d.rounds, d.count/8)))
}

// ballot is one ballot of the draw. It is the caller's turn.
func (d *draw) ballot(ctx context.Context, g *Group, vote notify.Value) (notify.Value, error) {
	d.cast = true
	least, err := g.ballot.run(ctx, vote)
	if err != nil {
		e := &OpError{At: g.String(), Err: err}
		if isTimeLimit(err) {
			e.Wait = g.ballot.waitingFor()
		}
		return 0, e
	}
	d.cast = false
	return least, nil
}

// giveUp releases what is reserved.
func (d *draw) giveUp() {
	if d.number >= 0 {
		d.pool.release(d.number)
		d.number = -1
	}
}

// verdict ends the call: it returns nil if wrong is nil on all members, and otherwise
// an error on all of them. ended is false if it is to be called again.
func (d *draw) verdict(ctx context.Context, g *Group, wrong error) (ended bool, err error) {
	if errors.Is(wrong, ErrClosed) { // the others hear of that
		return true, wrong
	}
	vote := g.p.vote(0)
	if wrong != nil {
		vote = g.p.veto()
	}
	least, err := d.ballot(ctx, g, vote)
	if err != nil {
		return false, err
	}
	if wrong != nil {
		return true, wrong
	}
	return true, d.refused(g.p, least)
}

// refused is the error that the least vote of a ballot stands for, or nil.
func (d *draw) refused(p *Proc, least notify.Value) error {
	switch none := p.none(); {
	case least < none:
		return fmt.Errorf("%w: rank %d cannot take part, and says why", ErrMismatch, least-1)
	case least == none:
		return fmt.Errorf("%w: no %s is free on all members", ErrTooMany, d.noun)
	}
	return nil
}
