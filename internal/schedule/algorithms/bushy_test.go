package algorithms

import "testing"

// Every rank but the root is the child of exactly one rank, which it takes for its
// parent, over an edge of which both know the number; and no rank is deeper than
// the rounds that the radix allows.
func TestBushyTreeSpans(t *testing.T) {
	for size := 1; size <= 70; size++ {
		for _, radix := range []int{2, 3, 4, 16} {
			for _, root := range []int{0, size / 2, size - 1} {
				checkBushy(t, bushy{size, root, radix})
			}
		}
	}
}

func checkBushy(t *testing.T, tree bushy) {
	t.Helper()
	parents := make([]int, tree.size)
	for rank := range tree.size {
		last := -1
		for child, edge := range tree.children(rank) {
			parents[child]++
			if p, e := tree.parent(child); p != rank || e != edge {
				t.Fatalf("%+v: rank %d has child %d at edge %d, which has parent %d at edge %d", tree, rank, child, edge, p, e)
			}
			if edge <= last || edge >= tree.edges() {
				t.Fatalf("%+v: rank %d has edge %d after %d, of %d", tree, rank, edge, last, tree.edges())
			}
			last = edge
		}
	}
	for rank, n := range parents {
		if want := min(1, abs(rank-tree.root)); n != want {
			t.Fatalf("%+v: rank %d has %d parents, not %d", tree, rank, n, want)
		}
		depth := 0
		for r := rank; r != tree.root; depth++ {
			r, _ = tree.parent(r)
		}
		if depth > tree.edges()/(tree.radix-1) {
			t.Fatalf("%+v: rank %d is %d edges from the root", tree, rank, depth)
		}
	}
}

func abs(n int) int { return max(n, -n) }
