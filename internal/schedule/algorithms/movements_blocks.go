package algorithms

import "github.com/gaspi-go/gaspi-go/internal/schedule"

// blocks are where the blocks of the longer vector of a call lie, one for each
// rank. They are counted around the ring: block 0 follows the last.
type blocks []schedule.Range

// blocksOf are the blocks of a call other than an AllToAll.
func blocksOf(c *schedule.Call) blocks {
	all := make(blocks, c.Size)
	off := 0
	for i := range all {
		n := c.Count
		if c.Counts != nil {
			n = c.Counts[i]
		}
		all[i] = schedule.Range{Off: off, Len: n}
		off += n
	}
	return all
}

// span is the elements of n blocks from block first on.
func (v blocks) span(first, n int) int {
	total := 0
	for _, r := range v.ranges(first, n) {
		total += r.Len
	}
	return total
}

// ranges are where n blocks from block first on lie: one range, or two if they go
// beyond the last block. A range may be empty.
func (v blocks) ranges(first, n int) []schedule.Range {
	first = mod(first, len(v))
	if n == 0 {
		return nil
	}
	last := first + n - 1
	if last < len(v) {
		return []schedule.Range{v.through(first, last)}
	}
	return []schedule.Range{v.through(first, len(v)-1), v.through(0, last-len(v))}
}

// through is the blocks from first to last, both included.
func (v blocks) through(first, last int) schedule.Range {
	from, to := v[first], v[last]
	return schedule.Range{Off: from.Off, Len: to.Off + to.Len - from.Off}
}

// regions are those ranges of a vector of a rank: b.In or b.Out.
func regions(vector func(rank, off, n int) schedule.Region, rank int, ranges []schedule.Range) []schedule.Region {
	all := make([]schedule.Region, len(ranges))
	for i, r := range ranges {
		all[i] = vector(rank, r.Off, r.Len)
	}
	return all
}

// pieces are the parts of a region one behind the other, each as long as its range.
func pieces(r schedule.Region, ranges []schedule.Range) []schedule.Region {
	all := make([]schedule.Region, len(ranges))
	off := 0
	for i := range ranges {
		all[i] = r.Part(off, ranges[i].Len)
		off += ranges[i].Len
	}
	return all
}

// putAll writes each of src to the region of peer's memory in dst and posts slot
// when all are there: with the put itself if only one has elements.
func putAll(b *schedule.Builder, peer int, dst, src []schedule.Region, slot int) {
	filled, count := 0, 0
	for i := range dst {
		if dst[i].Len > 0 {
			filled, count = i, count+1
		}
	}
	if count == 1 {
		b.Put(dst[filled], src[filled], slot)
		return
	}
	deliverAll(b, peer, dst, src, slot)
}

// deliverAll is deliver of several regions.
func deliverAll(b *schedule.Builder, peer int, dst, src []schedule.Region, slot int) {
	for i := range dst {
		if dst[i].Len > 0 {
			b.Put(dst[i], src[i], schedule.NoSlot)
		}
	}
	b.Signal(peer, slot)
}

// copyAll copies each of src to the region in dst.
func copyAll(b *schedule.Builder, dst, src []schedule.Region) {
	for i := range dst {
		b.Copy(dst[i], src[i])
	}
}

// radixOr is the radix of the call, or what the algorithm takes if it has none. One beyond the ranks is their number.
func radixOr(c *schedule.Call, other int) int {
	if c.Radix > 0 {
		return min(c.Radix, c.Size)
	}
	return other
}

// baseOr is radixOr where ranks are numbers to that base.
func baseOr(c *schedule.Call, other int) int { return max(2, radixOr(c, other)) }
