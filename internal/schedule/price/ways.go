package price

import "slices"

// Line is the route of ranks that each send to the rank at a distance after it, but for the last ones, which send to nobody.
// Its longest path leaves a node in each stage in which any rank does, or, of few ranks, as often as along says.
func (s *Topology) Line(distance int) Route {
	route := s.Ring(distance)
	if route.Out > 0 {
		route.Far, route.line = 1, true
	}
	return route
}

// along is the stages, with how often the longest path leaves a node in those in which all ranks go around the ring, or
// along a line. Around the ring of nodes that are alike that is Ring's; else the path stays where it is, or moves on, so
// that it leaves most nodes.
func (s *Topology) along(stages []Stage) []Stage {
	rings := !s.even || s.Most != s.Least
	lines := slices.ContainsFunc(stages, func(g Stage) bool { return g.Route.line })
	if s.Nodes == 1 || s.Ranks > countedMessages || !rings && !lines {
		return stages
	}
	stages = slices.Clone(stages)
	if lines {
		s.alongLines(stages)
		return stages
	}
	w := s.ways()
	for i := range stages {
		g := &stages[i]
		if distance := g.Route.ring; distance != 0 && g.Times <= 1 && !g.OneWay && g.Pairs == 0 {
			g.Route.Far = float64(w.step(func(r int) int { return (r + distance) % s.Ranks }))
		}
	}
	return stages
}

// alongLines is along for stages that go along lines. In one of two runs a rank also waits until what it sent in the stage
// before was read.
func (s *Topology) alongLines(stages []Stage) {
	sent, read := s.ways(), s.ways()
	back := s.after(0)
	for i := range stages {
		if route := &stages[i].Route; route.line {
			on := s.after(route.ring)
			route.Far = float64(sent.step(on)+read.step(on, back)) / 2
			back = s.after(-route.ring)
		}
	}
}

// after returns the rank at a distance after a rank, or that rank if there is none.
func (s *Topology) after(distance int) func(rank int) int {
	return func(rank int) int {
		if r := rank + distance; r >= 0 && r < s.Ranks {
			return r
		}
		return rank
	}
}

// ways are how many nodes have been left on the way to each rank, and at most.
type ways struct {
	node       []int32
	left, next []int
	most       int
}

func (s *Topology) ways() *ways {
	return &ways{node: s.node, left: make([]int, s.Ranks), next: make([]int, s.Ranks)}
}

// step takes all ways on to those that each rank sends to, or leaves them where they are, and returns how many more nodes
// have been left.
func (w *ways) step(to ...func(rank int) int) (more int) {
	before := w.most
	copy(w.next, w.left)
	for from, left := range w.left {
		for _, next := range to {
			r, way := next(from), left
			if w.node[from] != w.node[r] {
				way++
			}
			w.next[r] = max(w.next[r], way)
			w.most = max(w.most, way)
		}
	}
	w.left, w.next = w.next, w.left
	return w.most - before
}
