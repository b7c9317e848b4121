package distfft

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives"
)

// A trade says what the members of a team exchange between two steps.
type trade struct {
	// block is how many numbers member i sends to member j on the way forth, and
	// receives from it on the way back.
	block func(i, j int) int
	// before and after are how many points of a line part i has in the step before
	// and in the step behind the exchange.
	before, after func(i int) int
	// innerBefore and innerAfter are the points between neighbours on a line.
	innerBefore, innerAfter int
}

// An exchange is memory for one trade of one band, and the plans to carry it out
// forth and back. The step before it writes to near and reads from near on the way
// back; the step behind it does so with far.
type exchange[F Real] struct {
	near, far   lines[F]
	forth, back *collectives.Plan // nil for a team of one, which exchanges nothing
}

// newExchange takes memory and makes plans. It is collective over the team, nil for
// a team of one, and blocks. algorithm may be empty.
func newExchange[F Real](ctx context.Context, team *collectives.Team, t trade, algorithm string) (*exchange[F], error) {
	if team == nil {
		own := make([]F, 2*t.block(0, 0))
		return &exchange[F]{
			near: lines[F]{t.innerBefore, []part[F]{{t.before(0), own}}},
			far:  lines[F]{t.innerAfter, []part[F]{{t.after(0), own}}},
		}, nil
	}
	me, size := team.Rank(), team.Size()
	sends, receives := make([]int, size), make([]int, size)
	for i := range size {
		sends[i], receives[i] = 2*t.block(me, i), 2*t.block(i, me)
	}
	// A member's own part of its result stays where it is, unless the algorithm wants blocks of
	// one length.
	whole := algorithm == evenAlgorithm
	var own []F
	if !whole {
		own = make([]F, sends[me])
		sends[me], receives[me] = 0, 0
	}
	near, err := vector[F](ctx, team, func(i, j int) int { return t.block(i, j) }, sends)
	if err != nil {
		return nil, err
	}
	far, err := vector[F](ctx, team, func(i, j int) int { return t.block(j, i) }, receives)
	if err != nil {
		return nil, err
	}
	x := &exchange[F]{
		near: lines[F]{t.innerBefore, cut(near, sends, t.before, me, own)},
		far:  lines[F]{t.innerAfter, cut(far, receives, t.after, me, own)},
	}
	if x.forth, err = plan(ctx, team, far, receives, near, sends, algorithm); err != nil {
		return nil, err
	}
	if x.back, err = plan(ctx, team, near, sends, far, receives, algorithm); err != nil {
		return nil, err
	}
	return x, nil
}

// evenAlgorithm is the algorithm of alltoall that needs blocks of one length, a
// member's own included.
const evenAlgorithm = "bruck"

// vector allocates memory that all members can reach for blocks of these lengths.
// All allocate as much as the one that needs most: of block(i, j) numbers by member i.
func vector[F Real](ctx context.Context, team *collectives.Team, block func(i, j int) int, counts []int) ([]F, error) {
	most := 1
	for i := range team.Size() {
		n := 0
		for j := range team.Size() {
			n += 2 * block(i, j)
		}
		most = max(most, n)
	}
	mem, err := collectives.Alloc[F](ctx, team, most)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	return mem[:total], nil
}

// cut is a vector as parts of lines; the one of this member is own if it is not in the vector.
func cut[F Real](mem []F, counts []int, points func(int) int, me int, own []F) []part[F] {
	parts := make([]part[F], len(counts))
	for i, n := range counts {
		parts[i] = part[F]{points(i), mem[:n]}
		if i == me && own != nil {
			parts[i].mem = own
		}
		mem = mem[n:]
	}
	return parts
}

// plan prepares one direction.
func plan[F Real](ctx context.Context, team *collectives.Team, dst []F, receives []int, src []F, sends []int, algorithm string) (*collectives.Plan, error) {
	var opts []collectives.Option
	if algorithm != "" {
		opts = append(opts, collectives.Algorithm(algorithm))
	}
	task, err := collectives.AllToAllVTask(ctx, team, dst, receives, src, sends, opts...)
	if err != nil {
		return nil, err
	}
	return collectives.NewPlan(ctx, team, task)
}
