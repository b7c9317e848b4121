package collectives

import "testing"

func TestMostAlike(t *testing.T) {
	for _, c := range []struct {
		nodes []int
		want  int
	}{
		{[]int{0}, 1},
		{[]int{0, 0, 0}, 3},
		{[]int{0, 1, 2}, 1},
		{[]int{0, 1, 1, 3, 1, 3}, 3},
	} {
		if got := mostAlike(c.nodes); got != c.want {
			t.Errorf("nodes %v: %d, want %d", c.nodes, got, c.want)
		}
	}
}
