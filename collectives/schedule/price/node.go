package price

import "fmt"

// A node is what ranks share.
type node struct {
	in, out ports
	memory  float64 // when it has done all that was asked of it
	cached  bool    // what is asked of it stays in the cache
	cores   []core  // nil if there is one per rank
	queue   []int32 // ranks that want a core
}

// A core runs one rank at a time.
type core struct {
	rank int32 // the last that had it, or -1
	held bool
}

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

// place puts the ranks on nodes.
func (s *sim) place() error {
	of, count, err := s.m.nodeOf(s.p.size, s.p.nodes)
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
	ranks, memory := make([]int, count), make([]int, count)
	for r, n := range of {
		s.ranks[r].node = n
		ranks[n]++
		memory[n] += s.p.memory[r] * s.element
	}
	width := max(s.m.Ports, 1)
	free := make([]float64, 2*width*count)
	for i := range s.nodes {
		n := &s.nodes[i]
		n.in, n.out, free = free[:width:width], free[width:2*width:2*width], free[2*width:]
		n.cached = s.m.Cache > 0 && memory[i] <= s.m.Cache
		if s.m.Cores == 0 || ranks[i] <= s.m.Cores {
			continue
		}
		n.cores = make([]core, s.m.Cores)
		for k := range n.cores {
			n.cores[k].rank = -1
		}
	}
	return nil
}

// takeCore gives a rank a free core and returns when it can work there, or queues
// it.
func (s *sim) takeCore(id int32, now float64) (ready float64, ok bool) {
	r := &s.ranks[id]
	n := &s.nodes[r.node]
	if n.cores == nil {
		return now, true
	}
	best := -1
	for i := range n.cores {
		c := &n.cores[i]
		if !c.held && (best < 0 || c.rank == id || c.rank < 0 && n.cores[best].rank != id) {
			best = i
		}
	}
	if best < 0 {
		n.queue = append(n.queue, id)
		return 0, false
	}
	return s.handOver(id, int32(best), now), true
}

// handOver gives a rank a core and returns when it can work there.
func (s *sim) handOver(id, core int32, now float64) float64 {
	r := &s.ranks[id]
	c := &s.nodes[r.node].cores[core]
	if c.rank >= 0 && c.rank != id {
		now += s.m.Switch
	}
	c.rank, c.held, r.core = id, true, core
	return now
}

// giveCore takes the core of a rank and gives it to the next that wants one.
func (s *sim) giveCore(id int32, now float64) {
	r := &s.ranks[id]
	n := &s.nodes[r.node]
	if n.cores == nil {
		return
	}
	core := r.core
	n.cores[core].held, r.core = false, -1
	if len(n.queue) == 0 {
		return
	}
	next := n.queue[0]
	n.queue = append(n.queue[:0], n.queue[1:]...)
	s.ranks[next].state = running
	s.wake(next, s.handOver(next, core, now))
}
