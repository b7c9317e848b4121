// Package agree is what libraries built on package gaspi need when the members of
// a group make something together: that nobody waits for one who cannot take part,
// and that all use the same segment.
package agree

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Unanimous returns nil if wrong is nil on all members, and otherwise an error on
// all of them, instead of letting some wait for the others. It is also a barrier.
func Unanimous(ctx context.Context, g *gaspi.Group, wrong error) error {
	return Verdict(ctx, g, make([]int64, 1), wrong)
}

// Verdict is Unanimous, and takes the maximum of votes over all members with it.
// The first vote is its own.
func Verdict(ctx context.Context, g *gaspi.Group, votes []int64, wrong error) error {
	if wrong != nil {
		votes[0] = int64(g.Proc().Rank()) + 1
	}
	err := AllReduce(ctx, g, votes, gaspi.Max)
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		return err
	case votes[0] > 0:
		return fmt.Errorf("%w: rank %d cannot take part, and says why", gaspi.ErrMismatch, votes[0]-1)
	}
	return nil
}

// FreeSegment is the highest id that no member has a segment of: programs count
// theirs from 0. All members get the same.
func FreeSegment(ctx context.Context, g *gaspi.Group) (gaspi.SegmentID, error) {
	p := g.Proc()
	limit := p.Config().Segments
	used := make([]uint64, (limit+63)/64)
	for _, id := range p.Segments() {
		used[id/64] |= 1 << (id % 64)
	}
	if over := limit % 64; over > 0 {
		used[len(used)-1] |= ^uint64(0) << over // ids that do not exist
	}
	if err := AllReduce(ctx, g, used, gaspi.Or); err != nil {
		return 0, err
	}
	for word := len(used) - 1; word >= 0; word-- {
		if free := ^used[word]; free != 0 {
			return gaspi.SegmentID(64*word + bits.Len64(free) - 1), nil
		}
	}
	return 0, fmt.Errorf("%w: no segment id is free on all members; Config.Segments is %d", gaspi.ErrTooMany, limit)
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
