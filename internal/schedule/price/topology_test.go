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

// Goal: the longest path through a tree has the edges between nodes that it has, and levels count theirs: all, those
// at the node that has most in the level, and those of the parents of the node that has most in all levels.
// Method: the paths of all ranks, of trees of several radices on hosts of many sizes.
func TestTree(t *testing.T) {
	nodes := []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8}
	for _, without := range []Digit{Lowest, Highest} {
		for _, radix := range []int{2, 3, 4, 16} {
			for size := 2; size <= len(nodes); size++ {
				s, err := NewTopology(new(Machine), size, nodes[:size], nil)
				if err != nil {
					t.Fatal(err)
				}
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
					if want := (Route{Far: route.Far, Part: route.Part, Most: route.Most, Out: float64(out), Spare: float64(out - parents[busiest][k])}); route != want {
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
