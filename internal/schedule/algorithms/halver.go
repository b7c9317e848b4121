package algorithms

import (
	"math/bits"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// A halver emits the first stage of algorithms on binary blocks: each block divides
// the vector by halving and folds the parts, and then the owners of chunks in the
// largest block fold those of all blocks. All folds keep the order of ranks.
type halver struct {
	binaryBlocks
	b *schedule.Builder
	n int // elements of the vector
	// part is where the rank keeps partial folds: of elements off to off+n-1.
	part func(off, n int) schedule.Region

	got    []schedule.Memory // of each level: what has arrived
	halve  int               // its first slot
	joined []schedule.Memory // of each smaller block: what it has of the rank's chunk
	join   int               // its first slot
}

func claimHalver(b *schedule.Builder, size, n int, part func(off, n int) schedule.Region) *halver {
	h := &halver{binaryBlocks: blocksFor(size, b.Rank()), b: b, n: n, part: part}
	for level := range log2down(h.chunks) {
		h.got = append(h.got, b.Scratch(h.elements(0, h.chunks>>(level+1)).Len))
	}
	h.halve = b.Slots(len(h.got))
	h.joined = eachScratch(b, len(h.blocks)-1, h.elements(0, 1).Len)
	h.join = b.Slots(len(h.joined))
	return h
}

// elements is where n chunks from the first on lie.
func (h *halver) elements(first, n int) schedule.Range {
	return chunks(h.n, h.chunks, first, first+n)
}

// own is where what the rank has folded after so many levels lies: nothing is
// folded before the first.
func (h *halver) own(levels int, r schedule.Range) schedule.Region {
	if levels == 0 {
		return h.b.In(h.b.Rank(), r.Off, r.Len)
	}
	return h.part(r.Off, r.Len)
}

// divide leaves the rank with its share of the fold of its block. After each level
// it calls read, if that is not nil, with the partner whose half has been read.
func (h *halver) divide(read func(level, partner int)) {
	for level := range h.levels {
		partner, lower := h.partner(level)
		first, n := h.share(level)
		keep, give := h.elements(first, n/2), h.elements(first+n/2, n/2)
		if !lower {
			keep, give = give, keep
		}
		h.b.Put(h.got[level].At(partner, 0, give.Len), h.own(level, give), h.halve+level)
		h.b.Await(h.halve + level)
		h.fold(lower, h.part(keep.Off, keep.Len), h.own(level, keep), h.got[level].At(h.b.Rank(), 0, keep.Len))
		if read != nil {
			read(level, partner)
		}
	}
}

// fold combines what the rank has with what came from higher ranks, or from lower.
func (h *halver) fold(higher bool, dst, own, got schedule.Region) {
	if higher {
		h.b.Combine(dst, own, got)
	} else {
		h.b.Combine(dst, got, own)
	}
}

// sendUp sends the share of a rank of a smaller block to the owners of its chunks.
func (h *halver) sendUp() {
	first, n := h.share(h.levels)
	for chunk := first; chunk < first+n; chunk++ {
		r := h.elements(chunk, 1)
		h.b.Put(h.joined[h.mine-1].At(h.owner(0, chunk), 0, r.Len), h.own(h.levels, r), h.join+h.mine-1)
	}
}

// joinAll folds into the rank's chunk what smaller blocks have of it, and returns
// where the chunk lies.
func (h *halver) joinAll() schedule.Range {
	chunk, _ := h.share(h.levels)
	r := h.elements(chunk, 1)
	from := []schedule.Region{h.own(h.levels, r)}
	for i, joined := range h.joined {
		h.b.Await(h.join + i)
		from = append(from, joined.At(h.b.Rank(), 0, r.Len))
	}
	h.b.Combine(h.part(r.Off, r.Len), from...)
	return r
}

// chunksSent is how many chunks a rank of a smaller block sends, for one such rank after the other.
func chunksSent(size int) func(rank int) int {
	chunks := 1 << log2down(size)
	end, block := chunks, chunks
	return func(rank int) int {
		if rank == end {
			block = 1 << log2down(size-end)
			end += block
		}
		return chunks / block
	}
}

// halvingStages are the stages of a halver: those of the largest block, and the folds of smaller
// blocks, and what goes back to these.
func halvingStages(s *price.Topology, size int, n float64) (halve, join, back []price.Stage) {
	levels := log2down(size)
	chunks := 1 << levels
	for level := range levels {
		half, busy := n/float64(int(2)<<level), size&^(1<<(level+1)-1) // ranks of blocks that halve so often
		halve = append(halve, price.Stage{
			Route: s.Group(1<<level, 2, 0), Pairs: s.OnHost(float64(busy)), Beside: level == 0, Peers: 1, Elements: half, Fold: price.Local{Elements: half, Sources: 2, Scratch: 1},
		})
	}
	if rest := size - chunks; rest > 0 {
		blocks := float64(bits.OnesCount(uint(rest)))
		sent := float64(chunks / (rest & -rest)) // by a rank of the smallest block, which sends most
		chunk := n / float64(chunks)
		stage := price.Stage{Route: s.Everybody(), Pairs: s.OnHost(blocks * float64(chunks) / sent), OneWay: true, Elements: chunk}
		up, down := stage, stage
		leaving := s.Leaving(chunks, chunksSent(size))
		up.Peers, up.From, up.Only, up.Late = sent, blocks, price.Arrival, true
		up.Route.Out, up.Route.Spare = leaving/sent, min(leaving, float64(chunks))/sent // each rank has as much in all
		up.Fold = price.Local{Elements: chunk, Sources: blocks + 1, Scratch: blocks}
		down.Peers, down.From, down.Only, down.Pairs = blocks, sent, price.Leaving, s.OnHost(float64(chunks))
		up.Meanwhile = log2down(int(sent)) // the largest block goes on to halve,
		down.Meanwhile = -up.Meanwhile     // and to double
		up.Turns, down.Turns = -1, float64(rest)/float64(chunks)
		join, back = []price.Stage{up}, []price.Stage{down}
	}
	return halve, join, back
}
