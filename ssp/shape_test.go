package ssp

import "testing"

func TestShapeLinksMeet(t *testing.T) {
	for size := 1; size <= 70; size++ {
		for index := range size {
			s := newShape(size, index)
			for link := range s.links() {
				peer, there := s.peer(link), s.linkThere(link)
				if peer < 0 || peer >= size || peer == index {
					t.Fatalf("%d members: link %d of %d leads to %d", size, link, index, peer)
				}
				back := newShape(size, peer)
				if there >= back.links() || back.peer(there) != index || back.linkThere(there) != link {
					t.Fatalf("%d members: link %d of %d is link %d of %d, which leads elsewhere", size, link, index, there, peer)
				}
			}
		}
	}
}

// Following the steps on all ranks in turn must bring every contribution to
// every rank exactly once.
func TestStepsBringEverythingEverywhereOnce(t *testing.T) {
	for size := 1; size <= 70; size++ {
		has := make([][]int, size) // index is the rank, then the contribution; how often
		for i := range has {
			has[i] = make([]int, size)
			has[i][i] = 1
		}
		add := func(to, from []int) {
			for i, n := range from {
				to[i] += n
			}
		}
		corners := newShape(size, 0).corners()
		for i := corners; i < size; i++ {
			add(has[newShape(size, i).peer(0)], has[i])
		}
		for k := range newShape(size, 0).dims {
			before := make([][]int, size)
			for i := range size {
				before[i] = append([]int(nil), has[i]...)
			}
			for i := range corners {
				add(has[i], before[newShape(size, i).peer(k)])
			}
		}
		for i := corners; i < size; i++ {
			has[i] = has[newShape(size, i).peer(0)]
		}
		for i := range size {
			for j, n := range has[i] {
				if n != 1 {
					t.Fatalf("%d members: rank %d has the contribution of %d %d times", size, i, j, n)
				}
			}
		}
	}
}

func TestStampMerge(t *testing.T) {
	a := stamp{fresh: 4, oldest: 4, newest: 7, count: 2}
	none := stamp{fresh: final}
	closed := stamp{fresh: final, oldest: 2, newest: 2, count: 1}
	for _, c := range []struct {
		name       string
		a, b, want stamp
	}{
		{"two", a, stamp{fresh: 5, oldest: 5, newest: 5, count: 1}, stamp{fresh: 4, oldest: 4, newest: 7, count: 3}},
		{"with one that closed", a, closed, stamp{fresh: 4, oldest: 2, newest: 7, count: 3}},
		{"with nothing", a, none, a},
		{"two that closed", closed, closed, stamp{fresh: final, oldest: 2, newest: 2, count: 2}},
		{"two of nothing", none, none, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.a.merge(c.b); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got := c.b.merge(c.a); got != c.want {
				t.Errorf("the other way round: got %+v, want %+v", got, c.want)
			}
		})
	}
}
