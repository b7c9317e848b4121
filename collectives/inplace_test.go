package collectives_test

import (
	"context"
	"testing"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// TestInPlaceOfNothing has operations in place in which the last rank has no
// elements of its own, so that its buffers do not show that they are in place: by
// plain slices and by allocated ones.
func TestInPlaceOfNothing(t *testing.T) {
	const ranks = 3
	onTeam(t, ranks, collectives.Config{}, func(ctx context.Context, team *collectives.Team) error {
		heap, err := collectives.Alloc[int32](ctx, team, 8)
		if err != nil {
			return err
		}
		var few []int32 // nil at the last rank
		if me := int32(team.Rank()); me < ranks-1 {
			few = []int32{me, 10 + me}
		}
		if err := swapInPlace(ctx, team, few); err != nil {
			return err
		}
		for _, room := range [][]int32{heap, make([]int32, 8)} {
			for _, step := range []func(context.Context, *collectives.Team, []int32) error{swapInPlace, gatherInPlace, scatterInPlace} {
				for i := range room {
					room[i] = int32(10*i + team.Rank())
				}
				if err := step(ctx, team, room); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// swapInPlace has ranks 0 and 1 swap two elements.
func swapInPlace(ctx context.Context, team *collectives.Team, room []int32) error {
	me := team.Rank()
	counts := [][]int{{0, 2, 0}, {2, 0, 0}, {0, 0, 0}}[me]
	buf := room[:sumOf(counts)]
	if err := collectives.AllToAllV(ctx, team, buf, counts, buf, counts); err != nil {
		return err
	}
	return matches("alltoallv", buf, func(i int) int32 { return int32(10*i + 1 - me) })
}

// gatherInPlace gathers two elements of rank 0 and three of rank 1.
func gatherInPlace(ctx context.Context, team *collectives.Team, room []int32) error {
	counts, all := []int{2, 3, 0}, room[:5]
	mine := all[sumOf(counts[:team.Rank()]):][:counts[team.Rank()]]
	if err := collectives.AllGatherV(ctx, team, all, mine, counts); err != nil {
		return err
	}
	return matches("allgatherv", all, func(i int) int32 { return int32(10*i + btoi(i >= 2)) })
}

// scatterInPlace leaves two sums at rank 0 and three at rank 1.
func scatterInPlace(ctx context.Context, team *collectives.Team, room []int32) error {
	counts, all := []int{2, 3, 0}, room[:5]
	off := sumOf(counts[:team.Rank()])
	mine := all[off:][:counts[team.Rank()]]
	if err := collectives.ReduceScatterV(ctx, team, mine, all, counts, collectives.Sum); err != nil {
		return err
	}
	return matches("reducescatterv", mine, func(i int) int32 { return int32(30*(off+i) + 3) })
}
