package choice

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// TestCrowd has ranks that share the memory of a host, its cores, what the CPU takes longer to see a post, and how many
// ranks of a core take turns.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		ranks, cores int
		more         float64
		turns        float64
	}{
		{2, 2, 0, 1},
		{2, 4, 0, 1},
		{4, 2, 0, 2},
		{15, 2, 0, 7},
		{16, 2, 0.3e-6, 8},
		{127, 2, 0.3e-6, 8},
		{128, 2, 1.5e-6, 8},
		{64, 0, 1.5e-6, 8},
	} {
		m := machine()
		m.Cores, m.Switch = c.cores, 1.2e-6
		want := m
		want.Await += c.more
		want.Switch *= c.turns
		if Crowd(&m, c.ranks); m != want {
			t.Errorf("%d ranks on %d cores: %+v, want %+v", c.ranks, c.cores, m, want)
		}
	}
}

// TestOnSockets has ranks of one host that meet in sockets, with a core each and not, and on an emulated network.
func TestOnSockets(t *testing.T) {
	for _, c := range []struct {
		ranks  int
		socket float64
		want   func(m *price.Machine)
	}{
		{2, 8e9, func(m *price.Machine) { m.SocketRate = 12e9 }},
		{3, 8e9, func(m *price.Machine) { m.ReduceRate, m.CopyRate = 12e9, 15e9 }},
		{2, 0, func(*price.Machine) {}},
		{3, 0, func(*price.Machine) {}},
	} {
		m := machine()
		m.Cores, m.SocketRate = 2, c.socket
		want := m
		c.want(&want)
		if OnSockets(&m, c.ranks); m != want {
			t.Errorf("%d ranks, %v bytes/s: %+v, want %+v", c.ranks, c.socket, m, want)
		}
	}
}
