package ssp

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// Op is an element-wise operation: one of those below, or another of package
// gaspi. All are commutative, which makes both ends of a link get the same bits.
type Op = gaspi.Op

// The usual operations. NaN wins in Min and Max.
const (
	Sum = gaspi.Sum
	Min = gaspi.Min
	Max = gaspi.Max
)

// A Result is what one call gives.
type Result[T gaspi.Number] struct {
	// Values is the reduced vector. It belongs to the Reduction: it is valid, and
	// may be changed, until the next AllReduce or Close.
	Values []T
	// Oldest and Newest are the lowest and highest clock of all contributions in
	// it, the caller's own included. Oldest is below the bound only if a rank with
	// an old contribution has closed.
	Oldest, Newest int64
	// Waited is how long the call waited for contributions that were too old, and for
	// neighbours to have room for its own, attempts that ended early included.
	Waited time.Duration
}

// A Reduction is one rank's part of a reduction over a group that is repeated
// again and again. Several may exist at a time, over the same or other groups.
// Its calls must not overlap; other goroutines may meanwhile use the rank.
type Reduction[T gaspi.Number] struct {
	group *gaspi.Group
	op    Op
	slack int
	shape shape
	wire  *wire // nil in a group of one
	steps []step
	in    [][maxSlots][]T // index is the link; elements of the slots
	out   [][]T           // index is the link; elements of the source

	// own is the contribution of the present clock. It aliases a source or the
	// result where its rank's pattern leaves it intact there until it is replaced.
	own    []T
	rest   []T // all but the extra's contribution, where that takes more than one step
	result []T

	ownStamp, restStamp stamp
	partial             stamp // of what has been combined so far in this call

	clock  int64 // of the last call that has begun, those that Close makes included
	active bool  // a call has begun and not ended
	at     int   // index of its next step

	told     atomic.Uint64 // Clock, for whoever asks gaspi-run
	endClock func()        // of telling it
	busy     atomic.Bool   // somebody is in a call
	closing  bool          // Close was called: the contribution is final
	settled  bool          // all contributions of the last result are final
	closed   bool
}

// Clock is how many calls of AllReduce have begun on this rank.
func (r *Reduction[T]) Clock() int64 { return r.ownStamp.newest }

// Slack is how many calls old a contribution may be.
func (r *Reduction[T]) Slack() int { return r.slack }

// AllReduce contributes mine, which has n elements, and returns the reduction of
// the newest contributions of all ranks that have made their way here, waiting
// until none is more than the slack older than this call. It copies mine.
//
// When ctx ends first, calling AllReduce again goes on with the same call: the
// same clock, and the contribution passed first. (If Clock did not move, the
// call had not begun.) When a member is gone, it returns a *gaspi.RankError naming it,
// whether or not a link goes there. Ranks that are no members do not matter.
func (r *Reduction[T]) AllReduce(ctx context.Context, mine []T) (Result[T], error) {
	if err := r.enter("allreduce"); err != nil {
		return Result[T]{}, err
	}
	defer r.busy.Store(false)
	switch {
	case r.closing:
		return Result[T]{}, r.error("allreduce", gaspi.ErrClosed)
	case len(mine) != len(r.result):
		return Result[T]{}, r.error("allreduce", fmt.Errorf("the contribution has %d elements; the reduction was made for %d",
			len(mine), len(r.result)))
	}
	if !r.active {
		if err := r.begin(ctx, mine); err != nil {
			return Result[T]{}, r.error("allreduce", err)
		}
	}
	if err := r.finish(ctx); err != nil {
		return Result[T]{}, r.error("allreduce", err)
	}
	res := Result[T]{Values: r.result, Oldest: r.partial.oldest, Newest: r.partial.newest}
	if r.wire != nil {
		res.Waited = r.wire.waited
	}
	return res, nil
}

// enter makes sure that one call is under way at a time. A caller that is refused
// must not look at the reduction, which belongs to the other.
func (r *Reduction[T]) enter(op string) error {
	if !r.busy.CompareAndSwap(false, true) {
		return &gaspi.OpError{Op: "ssp_" + op, At: r.group.String(),
			Err: fmt.Errorf("%w: another call is under way in another goroutine", gaspi.ErrInUse)}
	}
	return nil
}

// error says where a call failed.
func (r *Reduction[T]) error(op string, err error) error {
	e := &gaspi.OpError{Op: "ssp_" + op, At: fmt.Sprintf("%v clock %d", r.group, r.clock), Err: err}
	if r.active && r.at < len(r.steps) && nap.Ended(err) {
		e.Wait = fmt.Sprintf("rank %d in step %d of %d", r.wire.links[r.steps[r.at].link].peer, r.at+1, len(r.steps))
	}
	return agree.Outermost(e)
}
