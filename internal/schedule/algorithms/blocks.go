package algorithms

import (
	"math/bits"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// binaryBlocks are the ranks cut into blocks as large as the powers of two that
// make up their number, the largest first, and a rank's place in them. Each block
// divides the vector among its ranks by halving; the parts of smaller blocks are
// whole numbers of parts of the largest, which are the chunks.
type binaryBlocks struct {
	blocks []schedule.Range // ranks
	mine   int              // the rank's block
	index  int              // the rank's place in it
	levels int              // how often its block halves the vector
	chunks int              // the size of the largest block
}

func blocksFor(size, rank int) binaryBlocks {
	var t binaryBlocks
	for first := 0; first < size; {
		n := 1 << log2down(size-first)
		if first <= rank && rank < first+n {
			t.mine, t.index, t.levels = len(t.blocks), rank-first, log2down(n)
		}
		t.blocks = append(t.blocks, schedule.Range{Off: first, Len: n})
		first += n
	}
	t.chunks = t.blocks[0].Len
	return t
}

// partner is with whom the rank halves its part at a level, and whether the rank
// keeps the lower half: distances double from level to level, so that what a rank has
// folded is of consecutive ranks.
func (t *binaryBlocks) partner(level int) (rank int, lower bool) {
	return t.blocks[t.mine].Off + (t.index ^ 1<<level), t.index>>level&1 == 0
}

// share is the first chunk and the number of chunks of the part that the rank has
// after so many levels.
func (t *binaryBlocks) share(levels int) (first, n int) {
	return reverse(t.index, levels) * (t.chunks >> levels), t.chunks >> levels
}

// owner is the rank of a block whose part has a chunk at last.
func (t *binaryBlocks) owner(block, chunk int) int {
	levels := log2down(t.blocks[block].Len)
	return t.blocks[block].Off + reverse(chunk/(t.chunks>>levels), levels)
}

// reverse is the lowest bits of i, as many as said, in reverse order.
func reverse(i, n int) int {
	return int(bits.Reverse64(uint64(i)) >> (64 - n))
}
