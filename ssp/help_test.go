package ssp_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// small keeps many ranks in one process cheap. The others go on when one fails,
// so that tests see what a failure does to them.
var small = gaspi.Config{Segments: 64, Groups: 4, Notifications: 64, PassiveMax: 64, KeepGoing: true}

// sizes are the numbers of ranks that patterns are tried with: powers of two,
// those around them, and one.
var sizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17}

// A jitter lets other ranks run for a random while, in a way that a seed
// repeats as far as the scheduler allows.
type jitter struct {
	rng  *rand.Rand
	most int
}

func newJitter(seed uint64, rank gaspi.Rank, most int) jitter {
	return jitter{rng: rand.New(rand.NewPCG(seed, uint64(rank))), most: most}
}

func (j jitter) pause() {
	if j.most == 0 || j.rng.IntN(3) == 0 {
		return
	}
	for range j.rng.IntN(j.most) {
		runtime.Gosched()
	}
}

// A tag marks a contribution of one rank, so that a sum shows which
// contributions it is made of: in each block of as many elements as there are
// ranks, the rank's own element holds clock x 64 + 1 and the others 0.
const tagUnit = 64

func tag[T gaspi.Number](mine []T, ranks int, rank gaspi.Rank, clock int64) {
	clear(mine)
	for i := int(rank); i < len(mine); i += ranks {
		mine[i] = T(clock*tagUnit + 1)
	}
}

// clocks reads the clocks of a sum of tagged contributions, by rank. It is an
// error if one is missing or counted twice, or if blocks differ, which is what a
// contribution read while it was being written looks like.
func clocks[T gaspi.Number](values []T, ranks int) ([]int64, error) {
	cs := make([]int64, ranks)
	for i, v := range values {
		r, v := i%ranks, int64(v)
		switch {
		case v%tagUnit != 1:
			return nil, fmt.Errorf("element %d is %d: rank %d is in it %d times", i, v, r, v%tagUnit)
		case i >= ranks && cs[r] != v/tagUnit:
			return nil, fmt.Errorf("torn: element %d has clock %d of rank %d, an earlier one clock %d", i, v/tagUnit, r, cs[r])
		}
		cs[r] = v / tagUnit
	}
	return cs, nil
}
