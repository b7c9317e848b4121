package price

import "fmt"

// A node is what ranks share that reach each other's memory, as far as others are
// concerned.
type node struct{ in, out ports }

// ports are when the ports of a node, in one direction, are free.
type ports []float64

// take occupies the first free port for so many seconds from a time on.
func (p ports) take(from, seconds float64) (start, end float64) {
	first := 0
	for i := range p {
		if p[i] < p[first] {
			first = i
		}
	}
	start = max(from, p[first])
	p[first] = start + seconds
	return start, p[first]
}

// place puts the ranks on nodes, and on hosts, which are the nodes if hosts is nil.
func (s *sim) place(hosts []int) error {
	of, count, err := nodeOf(s.m, s.p.size, s.p.nodes)
	if err != nil {
		return err
	}
	for _, t := range s.p.touches {
		if of[t.rank] != of[t.peer] {
			return fmt.Errorf("price: rank %d lane %d step %d combines from or to memory of rank %d, which is on another node",
				t.rank, t.lane, t.step, t.peer)
		}
	}
	s.nodes, s.ranks = make([]node, count), make([]rank, s.p.size)
	s.near, s.depth = s.m.Cached() && count > 1, s.p.depth(s.element, count == 1)
	for r, n := range of {
		s.ranks[r].node = n
	}
	width := max(s.m.Ports, 1)
	free := make([]float64, 2*width*count)
	for i := range s.nodes {
		n := &s.nodes[i]
		n.in, n.out, free = free[:width:width], free[width:2*width:2*width], free[2*width:]
	}
	if hosts != nil {
		if of, count, err = nodeOf(s.m, s.p.size, hosts); err != nil {
			return err
		}
	}
	s.host(of, count)
	return nil
}
