package algorithms

import (
	"slices"
	"testing"
)

func TestBinomialTree(t *testing.T) {
	tree := binomial{size: 6, root: 4} // numbers 0 to 5 are ranks 4, 5, 0, 1, 2, 3
	for _, c := range []struct {
		rank, parent, level, subtree int
		children                     []int
	}{
		{4, -1, 3, 6, []int{5, 0, 2}},
		{5, 4, 0, 1, nil},
		{0, 4, 1, 2, []int{1}},
		{1, 0, 0, 1, nil},
		{2, 4, 2, 2, []int{3}},
		{3, 2, 0, 1, nil},
	} {
		parent, ok := tree.parent(c.rank)
		if !ok {
			parent = -1
		}
		if parent != c.parent || tree.level(c.rank) != c.level || tree.subtree(c.rank) != c.subtree || !slices.Equal(tree.children(c.rank), c.children) {
			t.Errorf("rank %d: parent %d, level %d, subtree %d, children %v, not %+v",
				c.rank, parent, tree.level(c.rank), tree.subtree(c.rank), tree.children(c.rank), c)
		}
	}
}

// In a tree of any size each rank but the root is the child of its parent alone,
// at its level, and the subtrees of the children follow a rank without gaps.
func TestBinomialTreeOfAnySize(t *testing.T) {
	for size := 1; size <= 70; size++ {
		for _, root := range []int{0, size / 2, size - 1} {
			tree := binomial{size, root}
			seen := make([]int, size)
			for r := range size {
				next := 1
				for k, child := range tree.children(r) {
					seen[child]++
					if parent, ok := tree.parent(child); !ok || parent != r || tree.level(child) != k {
						t.Fatalf("size %d root %d: child %d of %d has parent %d and level %d", size, root, child, r, parent, tree.level(child))
					}
					if tree.number(child) != tree.number(r)+next {
						t.Fatalf("size %d root %d: child %d of %d has number %d", size, root, child, r, tree.number(child))
					}
					next += tree.subtree(child)
				}
				if next != tree.subtree(r) {
					t.Fatalf("size %d root %d: the children of %d make a subtree of %d, not %d", size, root, r, next, tree.subtree(r))
				}
			}
			seen[root]++
			if slices.Max(seen) != 1 || slices.Min(seen) != 1 {
				t.Fatalf("size %d root %d: ranks were children so often: %v", size, root, seen)
			}
		}
	}
}
