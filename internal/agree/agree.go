// Package agree is what libraries built on package gaspi need when the members of
// a group make something together: that nobody waits for one who cannot take part,
// and that all use the same segment.
package agree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Unanimous returns nil if wrong is nil on all members, and otherwise an error on
// all of them, instead of letting some wait for the others. It is also a barrier. After an
// error the caller gives up g; see GiveUp.
func Unanimous(ctx context.Context, g *gaspi.Group, wrong error) error {
	return Verdict(ctx, g, make([]int64, 1), wrong)
}

// Verdict is Unanimous, and takes the maximum of votes over all members with it.
// The first vote is its own.
func Verdict(ctx context.Context, g *gaspi.Group, votes []int64, wrong error) error {
	if mineAlone(wrong) {
		return wrong // GiveUp ends the calls of the others
	}
	if wrong != nil {
		votes[0] = int64(g.Proc().Rank()) + 1
	}
	err := AllReduce(ctx, g, votes, gaspi.Max)
	switch {
	case errors.Is(err, gaspi.ErrRevoked):
		return err // wrong may follow from what the member that gave up has given back
	case wrong != nil:
		return wrong
	case err != nil:
		return err
	case votes[0] > 0:
		return fmt.Errorf("%w: rank %d cannot take part, and says why", gaspi.ErrMismatch, votes[0]-1)
	}
	return nil
}

// A Library is who makes a group by Private. Libraries do not disturb each other.
type Library gaspi.Tag

// The libraries.
const (
	Teams Library = iota + 1
	Reductions
	Stores
)

// tagBits is how much of a gaspi.Tag is the program's.
const tagBits = 16

// Private makes a group of the ranks of g for a library's own use, so that nothing else
// that is called over g disturbs it. It is collective. Calls of one library with
// different tags may be made in several goroutines at a time.
func Private(ctx context.Context, g *gaspi.Group, by Library, tag gaspi.Tag) (*gaspi.Group, error) {
	if tag >= 1<<tagBits {
		return nil, fmt.Errorf("%w: tag %d; want less than %d", gaspi.ErrOutOfRange, tag, 1<<tagBits)
	}
	return g.Dup(ctx, gaspi.Tag(by)<<tagBits|tag)
}

// Provisional is Private for a group that something is made with. Until its RevokeAlone, which
// ends the making, the group is revoked with g too: a member whose context ends in Private has
// no group that it could revoke, and others may wait for it in calls over theirs.
func Provisional(ctx context.Context, g *gaspi.Group, by Library, tag gaspi.Tag) (*gaspi.Group, error) {
	own, err := Private(ctx, g, by, tag)
	if err != nil {
		return nil, err
	}
	if err := own.RevokeWith(g); err != nil {
		GiveUp(own, err)
		return nil, err
	}
	return own, nil
}

// GiveUp gives back a group that was made for something, and what creations over it have left
// behind, after an error of that. If only this member may have the error, because its context
// has ended, GiveUp revokes the group: the calls of the others end, and the place of the group
// stays taken, since they may still write to its slots here, which must not become those of
// another group. The caller gives back what it has made over the group after GiveUp, and not
// before: others may find it gone, and are to know why. After the loss of a rank the group stays
// as it is: each member finds the rank that it has lost itself, which need not be the same one.
func GiveUp(g *gaspi.Group, err error) {
	if errors.Is(err, gaspi.ErrRankDead) {
		return
	}
	if mineAlone(err) && g.Revoke(err) != nil {
		return // it is not committed here, but may be at others
	}
	_ = g.Delete() // it is new
}

// mineAlone reports whether the others may not have an error.
func mineAlone(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gaspi.ErrRevoked)
}

// newsPatience is how long Reason blocks.
const newsPatience = time.Second / 4

// Reason returns what told returns once it is an error, or err if that takes long. It is for
// an operation that ended with err because a member has given back its segment: a member that
// gives up tells why before that, but the news may come later. It waits on seg, which is this rank's.
func Reason(ctx context.Context, seg *gaspi.Segment, told func() error, err error) error {
	limited, cancel := context.WithTimeout(ctx, newsPatience)
	defer cancel()
	_ = seg.WaitFunc(limited, func() bool { return told() != nil }, gaspi.ThroughLosses) // told and ctx say how it ended
	return cmp.Or(told(), ctx.Err(), err)
}

// AllReduce reduces xs in place over g, however long it is.
func AllReduce[T gaspi.Number](ctx context.Context, g *gaspi.Group, xs []T, op gaspi.Op) error {
	longest := g.Proc().Config().AllReduceElements
	for len(xs) > 0 {
		part := xs[:min(len(xs), longest)]
		if err := gaspi.AllReduce(ctx, g, part, part, op); err != nil {
			return err
		}
		xs = xs[len(part):]
	}
	return nil
}

// Outermost is e in place of an error of package gaspi that it wraps: a reader
// wants to know one place, and whom the call was waiting for.
func Outermost(e *gaspi.OpError) error {
	if inner, ok := errors.AsType[*gaspi.OpError](e.Err); ok {
		e.Err = inner.Err
		if e.Wait == "" {
			e.Wait = inner.Wait
		}
	}
	return e
}
