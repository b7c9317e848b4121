package collectives

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// blocks is the block sizes that a caller passed: a copy, and never nil.
func blocks(counts []int) []int { return append([]int{}, counts...) }

// blockwise checks the lengths of the buffers of an operation on blocks: one is
// this member's block, the other all of them.
func (task *Task) blockwise(t *Team, short string, block int, long string, all int) {
	c := &task.call
	if c.Counts != nil {
		c.Count = 0 // choices see what all members know alike, and not this member's block
		if len(c.Counts) != t.Size() {
			task.lengths("counts", len(c.Counts), t.Size())
			return
		}
		if i := slices.IndexFunc(c.Counts, func(n int) bool { return n < 0 }); i >= 0 {
			task.lengths("a block", c.Counts[i], 0)
			return
		}
		task.lengths(short, block, c.Counts[t.me])
	}
	task.lengths(long, all, task.total(t))
}

// total is the elements of all blocks.
func (task *Task) total(t *Team) int {
	if task.call.Counts == nil {
		return task.call.Count * t.Size()
	}
	n := 0
	for _, k := range task.call.Counts {
		n += k
	}
	return n
}

// isInPlace reports whether a member's block is the part of the longer vector that the
// operation takes it for. Of an empty block nobody can say: one behind the vector and an
// empty part at its end are the same slice. So where some block is empty, none is in
// place, and what is done is right for both.
func isInPlace[T any](task *Task, t *Team, long, block []T) bool {
	if task.err != nil || task.call.Counts == nil && len(block) == 0 || task.call.SomeBlockEmpty() {
		return false
	}
	off, n := task.call.Block(t.me)
	return same(block, long[off:off+n])
}

// same reports whether two slices are the same memory. Of empty ones it says
// whether they are the same part of a slice.
func same[T any](x, y []T) bool {
	return len(x) == len(y) && x != nil && reduce.SameStart(reduce.BytesOf(x), reduce.BytesOf(y))
}

// memoryOf is the bytes of a block, which say where it lies even if it is empty.
func memoryOf[T any](xs []T) []byte {
	if len(xs) == 0 && cap(xs) > 0 {
		return reduce.BytesOf(xs[:1])[:0]
	}
	return reduce.BytesOf(xs)
}
