package algorithms

import "testing"

// The two trees of the double tree span all ranks in order; no rank is an inner
// node of both, and neither is deeper than a balanced tree by more than one.
func TestDoubleTree(t *testing.T) {
	for size := 1; size <= 130; size++ {
		inner := make([]int, size)
		for parity := range 2 {
			roots, deepest := 0, 0
			for r := range size {
				at := findInTree(size, parity, r)
				if at.left >= 0 || at.right >= 0 {
					inner[r]++
				}
				if at.parent < 0 {
					roots++
				}
				if at.left >= r || at.right >= 0 && at.right <= r {
					t.Fatalf("size %d parity %d: rank %d has children %d and %d", size, parity, r, at.left, at.right)
				}
				for _, child := range []int{at.left, at.right} {
					if child >= 0 && findInTree(size, parity, child).parent != r {
						t.Fatalf("size %d parity %d: rank %d is not the parent of its child %d", size, parity, r, child)
					}
				}
				depth := 1
				for up := at.parent; up >= 0; up = findInTree(size, parity, up).parent {
					depth++
				}
				deepest = max(deepest, depth)
			}
			if roots != 1 {
				t.Errorf("size %d parity %d: %d roots", size, parity, roots)
			}
			if deepest > log2up(size+1)+1 {
				t.Errorf("size %d parity %d: %d levels", size, parity, deepest)
			}
		}
		for r, n := range inner {
			if n > 1 {
				t.Errorf("size %d: rank %d is an inner node of both trees", size, r)
			}
		}
	}
}

// Every chunk belongs to one rank of each block, whose share it is, and the partner
// of a partner is oneself.
func TestBinaryBlocks(t *testing.T) {
	for size := 1; size <= 70; size++ {
		owners := make(map[[2]int]int) // block and chunk -> owner
		for rank := range size {
			h := blocksFor(size, rank)
			for level := range h.levels {
				partner, lower := h.partner(level)
				other := blocksFor(size, partner)
				if back, l := other.partner(level); back != rank || l == lower || other.mine != h.mine {
					t.Fatalf("size %d: rank %d and %d are no partners at level %d", size, rank, partner, level)
				}
			}
			first, n := h.share(h.levels)
			for chunk := first; chunk < first+n; chunk++ {
				key := [2]int{h.mine, chunk}
				if other, taken := owners[key]; taken {
					t.Fatalf("size %d: chunk %d of block %d belongs to %d and %d", size, chunk, h.mine, other, rank)
				}
				owners[key] = rank
				if owner := h.owner(h.mine, chunk); owner != rank {
					t.Fatalf("size %d: chunk %d of block %d belongs to %d and not to %d", size, chunk, h.mine, rank, owner)
				}
			}
		}
		h := blocksFor(size, 0)
		if want := len(h.blocks) * h.chunks; len(owners) != want {
			t.Errorf("size %d: %d shares, want %d", size, len(owners), want)
		}
	}
}
