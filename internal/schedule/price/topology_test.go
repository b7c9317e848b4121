package price

import "testing"

func TestConnections(t *testing.T) {
	for _, c := range []struct {
		name         string
		nodes, hosts []int
		want         int
	}{
		{"memory shared by all", []int{0, 0, 0, 0}, nil, 0},
		{"a host each", []int{0, 1, 2}, nil, 2},
		{"one host, sockets between all", []int{0, 1, 2, 3}, []int{0, 0, 0, 0}, 12},
		{"two and two", []int{0, 0, 2, 2}, nil, 4},
		{"three and one", []int{0, 0, 0, 3}, nil, 3},
		{"one rank", []int{0}, nil, 0},
	} {
		s, err := NewTopology(new(Machine), len(c.nodes), c.nodes, c.hosts)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Connections; got != c.want {
			t.Errorf("%s: %d connections to a host, want %d", c.name, got, c.want)
		}
	}
}
