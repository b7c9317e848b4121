package algorithms

import (
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

func TestBlocksAroundTheRing(t *testing.T) {
	c := &schedule.Call{Op: schedule.Gather, Size: 4, Counts: []int{2, 0, 5, 1}, Line: 1}
	for _, test := range []struct {
		name     string
		first, n int
		want     []schedule.Range
		span     int
	}{
		{"none", 3, 0, nil, 0},
		{"all", 0, 4, []schedule.Range{{Off: 0, Len: 8}}, 8},
		{"in the middle", 1, 2, []schedule.Range{{Off: 2, Len: 5}}, 5},
		{"an empty one", 1, 1, []schedule.Range{{Off: 2, Len: 0}}, 0},
		{"to the end", 2, 2, []schedule.Range{{Off: 2, Len: 6}}, 6},
		{"around the end", 3, 3, []schedule.Range{{Off: 7, Len: 1}, {Off: 0, Len: 2}}, 3},
		{"all but one, around the end", 2, 3, []schedule.Range{{Off: 2, Len: 6}, {Off: 0, Len: 2}}, 8},
		{"from beyond the end", 6, 1, []schedule.Range{{Off: 2, Len: 5}}, 5},
		{"from before the beginning", -1, 2, []schedule.Range{{Off: 7, Len: 1}, {Off: 0, Len: 2}}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := blocksOf(c)
			if diff := cmp.Diff(test.want, v.ranges(test.first, test.n)); diff != "" {
				t.Errorf("ranges (-want +got):\n%s", diff)
			}
			if got := v.span(test.first, test.n); got != test.span {
				t.Errorf("span is %d, not %d", got, test.span)
			}
		})
	}
}

func TestBlocksAreThoseOfTheCall(t *testing.T) {
	for _, counts := range [][]int{nil, {2, 0, 5, 1}} {
		c := &schedule.Call{Op: schedule.Gather, Size: 4, Count: 3, Counts: counts, Line: 1}
		for i, r := range blocksOf(c) {
			if off, n := c.Block(i); r.Off != off || r.Len != n {
				t.Errorf("counts %v: block %d is %v, not %d from %d", counts, i, r, n, off)
			}
		}
	}
	for _, counts := range [][]int{nil, {1, 2, 3, 4, 0, 6, 7, 8, 9}} {
		c := &schedule.Call{Op: schedule.AllToAll, Size: 3, Count: 3, Counts: counts, Line: 1}
		for to := range 3 {
			for from, r := range received(c, to) {
				if off, n := c.Received(to, from); r.Off != off || r.Len != n {
					t.Errorf("counts %v: from %d to %d is %v, not %d from %d", counts, from, to, r, n, off)
				}
			}
		}
	}
}

// Goal: a radix beyond the ranks is that of all ranks, in every algorithm. Method: schedules for the largest number that
// there is and for the number of ranks.
func TestRadixBeyondTheRanks(t *testing.T) {
	for radix, want := range map[int]int{0: 8, 1: 1, 3: 3, 5: 5, 6: 5, math.MaxInt: 5} {
		if got := radixOr(&schedule.Call{Size: 5, Radix: radix}, 8); got != want {
			t.Fatalf("radix %d of 5 ranks is %d, want %d", radix, got, want) // else the rest might not end
		}
	}
	for _, a := range All() {
		for size := 1; size <= 9; size++ {
			c := schedule.Call{Op: a.Op, Size: size, Count: 3, Line: 1, Rounds: 1}
			if a.Fits != nil && a.Fits(&c) != nil {
				continue
			}
			for rank := range size {
				c.Radix = size
				want := schedule.Build(&c, rank, a.Emit)
				c.Radix = math.MaxInt
				got := schedule.Build(&c, rank, a.Emit)
				if !reflect.DeepEqual(got.Lanes, want.Lanes) {
					t.Errorf("%v by %s, rank %d of %d: another schedule than for radix %d", a.Op, a.Name, rank, size, size)
				}
			}
		}
	}
}
