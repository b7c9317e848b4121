package collectives

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// What a team agrees on when it is made, with the small reductions of package
// gaspi. Later it agrees by itself; see agreement.go.

// unanimous returns nil if wrong is nil on all members, and otherwise an error on
// all of them, instead of letting some wait for the others. It is also a barrier.
func unanimous(ctx context.Context, g *gaspi.Group, wrong error) error {
	votes := []int64{0}
	if wrong != nil {
		votes[0] = int64(g.Proc().Rank()) + 1
	}
	err := allReduce(ctx, g, votes, gaspi.Max)
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

// freeSegment is the highest id that no member has a segment of: programs count
// theirs from 0. All members get the same.
func freeSegment(ctx context.Context, g *gaspi.Group) (gaspi.SegmentID, error) {
	p := g.Proc()
	limit := p.Config().Segments
	used := make([]uint64, (limit+63)/64)
	for _, id := range p.Segments() {
		used[id/64] |= 1 << (id % 64)
	}
	if over := limit % 64; over > 0 {
		used[len(used)-1] |= ^uint64(0) << over // ids that do not exist
	}
	if err := allReduce(ctx, g, used, gaspi.Or); err != nil {
		return 0, err
	}
	for word := len(used) - 1; word >= 0; word-- {
		if free := ^used[word]; free != 0 {
			return gaspi.SegmentID(64*word + bits.Len64(free) - 1), nil
		}
	}
	return 0, fmt.Errorf("%w: no segment id is free on all members; Config.Segments is %d", gaspi.ErrTooMany, limit)
}

// allReduce reduces xs in place over g, however long it is.
func allReduce[T gaspi.Number](ctx context.Context, g *gaspi.Group, xs []T, op gaspi.Op) error {
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

// newSegment makes a segment over the team under an id that is free everywhere.
func (t *Team) newSegment(ctx context.Context, size uint64, notifications uint32) (*gaspi.Segment, error) {
	id, err := freeSegment(ctx, t.group)
	if err != nil {
		return nil, err
	}
	return t.proc.CreateSegment(ctx, id, size, gaspi.Over(t.group), gaspi.WithNotifications(notifications))
}
