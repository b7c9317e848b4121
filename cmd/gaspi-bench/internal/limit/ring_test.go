package limit

import (
	"context"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: what a rank sends, the next one takes, and all of it together is no more than
// the operation must move.
func TestAroundARing(t *testing.T) {
	const n = 840 // divisible by all numbers of ranks
	for ranks := 2; ranks <= 8; ranks++ {
		block := n / ranks
		for _, c := range []struct {
			op            schedule.Operation
			in, out, kept int
			want          int // bytes of all ranks together
		}{
			{schedule.AllReduce, n, n, n, 2 * n * (ranks - 1)},
			{schedule.ReduceScatter, n, block, n, n * (ranks - 1)},
			{schedule.AllGather, block, n, block, n * (ranks - 1)},
			{schedule.AllToAll, n, n, n, -ranks}, // has a mesh
			{schedule.Broadcast, n, n, n, n * (ranks - 1)},
			{schedule.Broadcast, n, n, n / 4, n / 4 * (ranks - 1)},
			{schedule.Reduce, n, n, n, n * (ranks - 1)},
			{schedule.Scan, n, n, n, n * (ranks - 1)},
			{schedule.Gather, block, n, block, n - block},
			{schedule.Scatter, n, block, n, n - block},
			{schedule.Barrier, 0, 0, 0, ranks},
			{schedule.Exchange, n, n, n, -ranks},
		} {
			s := &CallShape{Op: c.op, Ranks: ranks, In: c.in, Out: c.out, kept: c.kept}
			total := 0
			for place := range ranks {
				send, _ := s.around(place)
				_, take := s.around((place + 1) % ranks)
				if send != take {
					t.Errorf("%v of %d ranks: place %d sends %d bytes, of which the next takes %d", c.op, ranks, place, send, take)
				}
				total += send
			}
			if total != c.want {
				t.Errorf("%v of %d ranks: %d bytes move, want %d", c.op, ranks, total, c.want)
			}
		}
	}
}

// Goal: each way brings the whole stream to the next rank, call after call: a short stream, for which there is one way,
// one that ends in the middle of a portion, and one longer than the longest portion.
func TestWaysAroundARing(t *testing.T) {
	for _, ranks := range []int{2, 3} {
		for _, length := range []int{24, 2*leastPortion + 8, mostPortion + 24} {
			among(t, fmt.Sprintf("%d/%d", ranks, length), ranks, func(ctx context.Context, b *Memory) error {
				return checkRing(ctx, b, length)
			})
		}
	}
}

// checkRing broadcasts in all ways and looks at what arrived.
func checkRing(ctx context.Context, b *Memory, length int) error {
	s := &CallShape{Op: schedule.Broadcast, Ranks: b.P.Size(), In: length, Out: length, kept: length}
	ways, own, err := b.Ring(ctx, s)
	if err != nil {
		return err
	}
	if want := len(portionsOf(length)); len(ways) != want || (length > leastPortion) != (want > 1) {
		return fmt.Errorf("%d ways for %d bytes, want %d", len(ways), length, want)
	}
	return checkWays(ctx, ways, own, b.P.Rank() != 0) // which sends alone
}
