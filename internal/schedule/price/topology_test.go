package price

import (
	"slices"
	"testing"
)

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

// Goal: the longest path through a tree has the edges between nodes that it has, and levels count theirs: all, those
// at the node that has most in the level, and those of the parents of the node that has most in all levels.
// Method: the paths of all ranks, of trees of several radices on hosts of many sizes, one after the other in the same topology.
func TestTree(t *testing.T) {
	nodes := []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8}
	for size := 2; size <= len(nodes); size++ {
		s, err := NewTopology(new(Machine), size, nodes[:size], nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, without := range []Digit{Lowest, Highest} {
			for _, radix := range []int{2, 3, 4, 16} {
				most, far, edges := 0, make([]int, 6), make([]int, 6)
				var parents, children [9][6]int // by node and level
				for r := 1; r < size; r++ {
					path := 0
					for at := r; at > 0; {
						weight, level := 1, 0
						for at/weight%radix == 0 || without == Highest && at >= weight*radix {
							weight, level = weight*radix, level+1
						}
						up := at - at/weight%radix*weight
						if nodes[at] != nodes[up] {
							path++
						}
						if at == r {
							edges[level]++
							if nodes[at] != nodes[up] {
								far[level]++
								parents[nodes[up]][level]++
								children[nodes[at]][level]++
							}
						}
						at = up
					}
					most = max(most, path)
				}
				busiest := 0
				for n := range parents {
					if sumOf(parents[n]) > sumOf(parents[busiest]) {
						busiest = n
					}
				}
				got := 0.0
				for k := 0; k < len(edges) && edges[k] > 0; k++ {
					route, onPath := s.Tree(without, radix, k)
					if want := float64(far[k]) / float64(edges[k]); route.Part != want {
						t.Errorf("%d ranks, radix %d, digit %d, level %d: part %v, want %v", size, radix, without, k, route.Part, want)
					}
					out := 0
					for n := range parents {
						out = max(out, parents[n][k], children[n][k])
					}
					if want := (Route{Far: route.Far, Part: route.Part, Most: route.Most, Out: float64(out), Spare: float64(out - parents[busiest][k]), Host: route.Host}); route != want {
						t.Errorf("%d ranks, radix %d, digit %d, level %d: %+v, want %+v", size, radix, without, k, route, want)
					}
					if onPath {
						got += route.Far
					}
				}
				if got != float64(most) {
					t.Errorf("%d ranks, radix %d, digit %d: %v edges between nodes, want %d", size, radix, without, got, most)
				}
			}
		}
	}
}

func sumOf(levels [6]int) int {
	sum := 0
	for _, n := range levels {
		sum += n
	}
	return sum
}

// Goal: routes of stars, exchanges and groups know which messages leave their nodes.
// Method: all messages, among ranks on nodes of many sizes and of four.
func TestRoutes(t *testing.T) {
	uneven := []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6, 6, 6, 6}
	for _, nodes := range [][]int{uneven, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}} {
		for _, size := range []int{2, 6, 8, 16, len(nodes)} {
			s, err := NewTopology(new(Machine), size, nodes[:size], nil)
			if err != nil {
				t.Fatal(err)
			}
			everybody, fours, around := messages{}, messages{}, messages{}
			for r := range size {
				for to := range size {
					if everybody.add(nodes, r, to); r/4 == to/4 {
						fours.add(nodes, r, to)
					}
				}
				for d := range 3 {
					around.add(nodes, r, (r+2*d+2)%size)
				}
			}
			everybody.check(t, "everybody", size, s.Everybody(), float64(size-1))
			fours.check(t, "groups of four", size, s.Group(1, 4, 0), 3)
			if size > 6 {
				around.check(t, "rings", size, s.Rings(2, 3), 3)
			}
			if size&(size-1) != 0 {
				continue
			}
			flipped := 0
			for to := range size - 1 {
				var round messages
				for r := range size {
					round.add(nodes, r, r^(to+1))
				}
				flipped += round.out()
			}
			got := s.Rounds(size-1, func(r, round int) int { return r ^ round })
			if want := float64(flipped) / float64(size-1); got.Out != want && s.Nodes > 1 {
				t.Errorf("rounds of %d ranks: %v messages leave a node, want %v", size, got.Out, want)
			}
		}
	}
}

// messages are how many there are, how many leave their nodes, and that of each node and rank.
type messages struct {
	all, far       int
	ofNode, ofRank [40]int
}

func (m *messages) add(nodes []int, from, to int) {
	if from == to {
		return
	}
	if m.all++; nodes[from] != nodes[to] {
		m.far, m.ofNode[nodes[from]], m.ofRank[from] = m.far+1, m.ofNode[nodes[from]]+1, m.ofRank[from]+1
	}
}

func (m *messages) out() int { return slices.Max(m.ofNode[:]) }

func (m *messages) check(t *testing.T, name string, size int, got Route, peers float64) {
	t.Helper()
	want := Route{}
	if m.far > 0 {
		want = Route{Far: 1, Part: float64(m.far) / float64(m.all), Most: float64(slices.Max(m.ofRank[:])) / peers, Out: float64(m.out()) / peers}
	}
	if got != want {
		t.Errorf("%s of %d ranks: %+v, want %+v", name, size, got, want)
	}
}

// Goal: the longest path through rings on uneven nodes leaves as many nodes as one can.
func TestAlong(t *testing.T) {
	s, err := NewTopology(new(Machine), 8, []int{0, 0, 0, 0, 0, 1, 2, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var stages []Stage
	for _, distance := range []int{1, 2, 4} {
		stages = append(stages, Stage{Route: s.Ring(distance), Peers: 1})
	}
	for i, g := range s.along(stages) { // 4 to 5, to 7, to 3
		if g.Route.Far != 1 {
			t.Errorf("step %d: the path leaves %v nodes, want 1", i, g.Route.Far)
		}
	}
}

// Goal: the longest path along lines leaves as many nodes as one can, in the mean of a run in which vectors that were sent are
// read at once and of one in which a rank waits for that.
func TestAlongLines(t *testing.T) {
	for _, test := range []struct {
		name  string
		nodes []int
		want  []float64
	}{
		{"uneven nodes", []int{0, 0, 0, 0, 0, 1, 2, 2}, []float64{1, 1, 0.5}}, // 4 to 5, to 7, and in one of two runs back to 5
		{"even nodes", []int{0, 0, 0, 0, 1, 1, 1, 1}, []float64{1, 0.5, 0.5}}, // 3 to 4, and in one of two runs back to 3, and to 7
		{"a node", make([]int, 8), []float64{0, 0, 0}},
	} {
		s, err := NewTopology(new(Machine), len(test.nodes), test.nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		var stages []Stage
		for _, distance := range []int{1, 2, 4} {
			stages = append(stages, Stage{Route: s.Line(distance), Peers: 1, Pairs: 1})
		}
		for i, g := range s.along(stages) {
			if g.Route.Far != test.want[i] {
				t.Errorf("%s: step %d: the path leaves %v nodes, want %v", test.name, i, g.Route.Far, test.want[i])
			}
		}
	}
	many, err := NewTopology(&Machine{RanksPerNode: 4}, 4*countedMessages, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range many.along([]Stage{{Route: many.Line(1), Peers: 1}, {Route: many.Line(2), Peers: 1}}) {
		if g.Route.Far != 1 {
			t.Errorf("of many ranks the path leaves %v nodes, want 1", g.Route.Far)
		}
	}
}

// Goal: trees on uneven nodes know the hosts that their longest path is on.
func TestHostsOfTrees(t *testing.T) {
	s, err := NewTopology(new(Machine), 8, []int{0, 0, 0, 0, 0, 1, 1, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{3, 5, 5} { // 7 to 6, to 4, to 0
		if route, onPath := s.Tree(Lowest, 2, k); route.Host != want || !onPath {
			t.Errorf("level %d: a host of %v ranks, on the path: %v; want %v", k, route.Host, onPath, want)
		}
	}
	even, err := NewTopology(new(Machine), 8, []int{0, 0, 0, 0, 1, 1, 1, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if route, _ := even.Tree(Lowest, 2, 0); route.Host != 0 {
		t.Errorf("a host of %v ranks, want the largest", route.Host)
	}
}

// Goal: the longest path through halves is that of the mean of two runs.
func TestThroughHalves(t *testing.T) {
	s, err := NewTopology(new(Machine), 7, []int{0, 0, 0, 0, 0, 1, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := 0.0
	for level := range 3 {
		got += s.Halves(level).Far
	}
	if got != 2 { // 2 to 6, to 4, to 5, and in the next run to 1
		t.Errorf("the path leaves %v nodes in a run, want 2", got)
	}
}

// Goal: Larger is the least, of all pairs of nodes that follow each other, of the ranks of the larger one.
func TestLargerOfNeighbours(t *testing.T) {
	for _, test := range []struct {
		nodes []int
		want  int
	}{
		{[]int{0, 0, 0, 0}, 4},
		{[]int{0, 0, 1, 1}, 2},
		{[]int{0, 0, 0, 1}, 3},
		{[]int{0, 0, 0, 2, 2, 3}, 2},    // node 1 has none
		{[]int{0, 1, 1, 1, 2, 2, 2}, 3}, // the first follows the last
		{[]int{0, 1, 1, 1, 2, 2, 2, 3}, 1},
	} {
		s, err := NewTopology(&Machine{}, len(test.nodes), test.nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Larger != test.want {
			t.Errorf("nodes %v: %d, want %d", test.nodes, s.Larger, test.want)
		}
	}
}
