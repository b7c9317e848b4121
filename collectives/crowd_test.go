package collectives

import "testing"

// TestCrowd has ranks that share the memory of a host, its cores, and what the CPU takes longer to see a post.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		nodes []int
		cores int
		more  float64
	}{
		{make([]int, 4), 2, 0},
		{make([]int, 63), 2, 0},
		{make([]int, 64), 2, 0.3e-6},
		{make([]int, 127), 2, 0.3e-6},
		{make([]int, 128), 2, 1.5e-6},
		{make([]int, 64), 0, 1.5e-6},
		{append(make([]int, 40), 40, 40, 42), 1, 0.3e-6},
	} {
		m := DefaultMachine()
		m.Cores = c.cores
		want := m
		want.Await += c.more
		if crowd(&m, mostAlike(c.nodes)); m != want {
			t.Errorf("%d ranks on %d cores: %+v, want %+v", len(c.nodes), c.cores, m, want)
		}
	}
}
