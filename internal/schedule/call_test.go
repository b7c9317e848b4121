package schedule

import (
	"strings"
	"testing"
)

func TestOperations(t *testing.T) {
	names := ""
	for _, o := range Operations() {
		names += o.String() + " "
	}
	if want := "allreduce reduce reducescatter broadcast allgather gather scatter alltoall scan exscan barrier exchange "; names != want {
		t.Errorf("operations %s, want %s", names, want)
	}
	if got := Operation(99).String(); got != "Operation(99)" {
		t.Errorf("an unknown operation is called %q", got)
	}
}

func TestCallCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		call Call
		want string // "" if there is such a call
	}{
		{"right", Call{Op: AllReduce, Size: 3, Count: 4, Line: 1}, ""},
		{"unknown operation", Call{Op: 99, Size: 3, Line: 1}, "no Operation(99)"},
		{"no ranks", Call{Op: AllReduce, Line: 1}, "0 ranks"},
		{"root beyond", Call{Op: Reduce, Size: 3, Root: 3, Line: 1}, "root 3 of 3"},
		{"root before", Call{Op: Gather, Size: 3, Root: -1, Line: 1}, "root -1 of 3"},
		{"root of no matter", Call{Op: AllReduce, Size: 3, Root: 7, Line: 1}, ""},
		{"negative count", Call{Op: AllReduce, Size: 3, Count: -1, Line: 1}, "count -1"},
		{"no line", Call{Op: AllReduce, Size: 3}, "line 0"},
		{"negative rounds", Call{Op: Exchange, Size: 3, Line: 1, Rounds: -1}, "rounds -1"},
		{"counts", Call{Op: AllGather, Size: 3, Counts: []int{1, 0, 2}, Line: 1}, ""},
		{"counts of others", Call{Op: AllGather, Size: 3, Counts: []int{1, 2}, Line: 1}, "3 ranks with 2 block sizes"},
		{"counts of no blocks", Call{Op: AllReduce, Size: 2, Counts: []int{1, 2}, Line: 1}, "2 block sizes"},
		{"counts of a square", Call{Op: AllToAll, Size: 2, Counts: []int{1, 2, 3, 4}, Line: 1}, ""},
		{"counts of a row", Call{Op: AllToAll, Size: 2, Counts: []int{1, 2}, Line: 1}, "2 block sizes"},
		{"negative counts", Call{Op: AllGather, Size: 2, Counts: []int{1, -2}, Line: 1}, "block of -2"},
		{"nodes of others", Call{Op: AllReduce, Size: 2, Nodes: []int{1}, Line: 1}, "nodes of 1"},
		{"engagement of others", Call{Op: Reduce, Size: 2, Engaged: []bool{true}, Line: 1}, "engagement of 1"},
	} {
		err := c.call.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestLengths(t *testing.T) {
	uneven := []int{2, 0, 3}
	square := []int{1, 2, 3, 0, 4, 0, 5, 0, 6}
	for _, c := range []struct {
		call    Call
		in, out [3]int
	}{
		{Call{Op: AllReduce, Count: 5}, [3]int{5, 5, 5}, [3]int{5, 5, 5}},
		{Call{Op: Reduce, Count: 5, Root: 1}, [3]int{5, 5, 5}, [3]int{0, 5, 0}},
		{Call{Op: Broadcast, Count: 5, Root: 1}, [3]int{0, 5, 0}, [3]int{5, 5, 5}},
		{Call{Op: ReduceScatter, Count: 5}, [3]int{15, 15, 15}, [3]int{5, 5, 5}},
		{Call{Op: ReduceScatter, Counts: uneven}, [3]int{5, 5, 5}, [3]int{2, 0, 3}},
		{Call{Op: AllGather, Counts: uneven}, [3]int{2, 0, 3}, [3]int{5, 5, 5}},
		{Call{Op: Gather, Counts: uneven, Root: 2}, [3]int{2, 0, 3}, [3]int{0, 0, 5}},
		{Call{Op: Scatter, Counts: uneven, Root: 2}, [3]int{0, 0, 5}, [3]int{2, 0, 3}},
		{Call{Op: AllToAll, Count: 5}, [3]int{15, 15, 15}, [3]int{15, 15, 15}},
		{Call{Op: AllToAll, Counts: square}, [3]int{6, 4, 11}, [3]int{6, 6, 9}},
		{Call{Op: Scan, Count: 5}, [3]int{5, 5, 5}, [3]int{5, 5, 5}},
		{Call{Op: ExScan, Count: 5}, [3]int{5, 5, 5}, [3]int{5, 5, 5}},
		{Call{Op: Barrier, Count: 5}, [3]int{}, [3]int{}},
		{Call{Op: Exchange, Count: 5, Rounds: 2}, [3]int{5, 5, 5}, [3]int{5, 5, 5}},
	} {
		c.call.Size, c.call.Line = 3, 1
		if err := c.call.Check(); err != nil {
			t.Fatal(err)
		}
		for r := range 3 {
			if in, out := c.call.InLen(r), c.call.OutLen(r); in != c.in[r] || out != c.out[r] {
				t.Errorf("%v %v, rank %d: %d in and %d out, want %d and %d", c.call.Op, c.call.Counts, r, in, out, c.in[r], c.out[r])
			}
		}
	}
}

// TestAllToAllBlocksMeet tests that what one rank sends is as long as what the other
// receives, and that blocks lie side by side.
func TestAllToAllBlocksMeet(t *testing.T) {
	for _, counts := range [][]int{nil, {1, 2, 3, 0, 4, 0, 5, 0, 6}} {
		c := Call{Op: AllToAll, Size: 3, Count: 2, Counts: counts, Line: 1}
		for i := range 3 {
			nextSent, nextReceived := 0, 0
			for j := range 3 {
				off, n := c.Sent(i, j)
				_, m := c.Received(j, i)
				if off != nextSent || n != m {
					t.Errorf("%v: rank %d sends %d elements from %d to rank %d, which receives %d", counts, i, n, off, j, m)
				}
				nextSent += n
				off, n = c.Received(i, j)
				if off != nextReceived {
					t.Errorf("%v: rank %d receives from rank %d at %d, not %d", counts, i, j, off, nextReceived)
				}
				nextReceived += n
			}
		}
	}
}

func TestPartner(t *testing.T) {
	c := Call{Op: Exchange, Size: 6}
	for _, w := range []struct {
		rank, round, partner int
		ok                   bool
	}{{0, 0, 1, true}, {1, 0, 0, true}, {1, 1, 3, true}, {3, 2, 7, false}, {1, 2, 5, true}, {5, 1, 7, false}, {0, 3, 8, false}} {
		if p, ok := c.Partner(w.rank, w.round); ok != w.ok || ok && p != w.partner {
			t.Errorf("partner of rank %d in round %d: %d, %v; want %d, %v", w.rank, w.round, p, ok, w.partner, w.ok)
		}
	}
}
