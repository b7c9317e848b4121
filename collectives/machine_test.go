package collectives

import "testing"

// TestCrowd has ranks that share the memory of a host, its cores, what the CPU takes longer to see a post, and how many
// ranks of a core take turns.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		nodes []int
		cores int
		more  float64
		turns float64
	}{
		{make([]int, 2), 2, 0, 1},
		{make([]int, 2), 4, 0, 1},
		{make([]int, 4), 2, 0, 2},
		{make([]int, 15), 2, 0, 7},
		{make([]int, 16), 2, 0.3e-6, 8},
		{make([]int, 127), 2, 0.3e-6, 8},
		{make([]int, 128), 2, 1.5e-6, 8},
		{make([]int, 64), 0, 1.5e-6, 8},
		{append(make([]int, 40), 40, 40, 42), 1, 0.3e-6, 8},
	} {
		m := DefaultMachine()
		m.Cores = c.cores
		want := m
		want.Await += c.more
		want.Switch *= c.turns
		if crowd(&m, mostAlike(c.nodes)); m != want {
			t.Errorf("%d ranks on %d cores: %+v, want %+v", len(c.nodes), c.cores, m, want)
		}
	}
}

// TestOnSockets has ranks of one host that meet in sockets, with a core each and not, and on an emulated network.
func TestOnSockets(t *testing.T) {
	for _, c := range []struct {
		ranks  int
		socket float64
		want   func(m *Machine)
	}{
		{2, 8e9, func(m *Machine) { m.SocketRate = 12e9 }},
		{3, 8e9, func(m *Machine) { m.ReduceRate, m.CopyRate = 12e9, 15e9 }},
		{2, 0, func(*Machine) {}},
		{3, 0, func(*Machine) {}},
	} {
		m := DefaultMachine()
		m.Cores, m.SocketRate = 2, c.socket
		want := m
		c.want(&want)
		if onSockets(&m, c.ranks); m != want {
			t.Errorf("%d ranks, %v bytes/s: %+v, want %+v", c.ranks, c.socket, m, want)
		}
	}
}
