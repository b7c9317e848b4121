package gaspi

import (
	"slices"
	"testing"
)

// A record that a commit waits for is one that somebody sends, and there are few.
func TestCommitAsksThoseWhoTell(t *testing.T) {
	for _, n := range []int{1, 2, 3, 15, 16, 17, 18, 33, 100, 255, 256, 257, 300, 600} {
		tell, most := make([][]int, n), 0
		for me := range n {
			tell[me] = signallers(me, n)
		}
		for me := range n {
			asked := signalled(me, n)
			slices.Sort(asked)
			asked = slices.Compact(asked)
			most = max(most, len(asked))
			for _, m := range asked {
				if m < 0 || m >= n || m == me {
					t.Fatalf("n=%d: member %d is to ask member %d", n, me, m)
				}
				if !slices.Contains(tell[m], me) {
					t.Errorf("n=%d: member %d waits for member %d, which does not tell it", n, me, m)
				}
			}
		}
		rounds := 0
		for reach := 1; reach < n; reach *= fanout {
			rounds++
		}
		if limit := rounds*(fanout-1) + fanout + 1; most > limit {
			t.Errorf("n=%d: a member asks %d others, more than %d", n, most, limit)
		}
	}
}
