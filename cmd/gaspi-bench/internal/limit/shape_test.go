package limit

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// replica is the vectors of all ranks for moves that are done one after the other:
// each byte is the sum of what was folded into it.
type replica struct{ in, out [][]byte }

func newReplica(s *CallShape) *replica {
	m := &replica{}
	for r := range s.Ranks {
		in := make([]byte, s.In)
		for i := range in {
			in[i] = byte(r*31 + i*7 + 1)
		}
		m.in = append(m.in, in)
		m.out = append(m.out, make([]byte, s.Out))
	}
	if s.InPlace() {
		m.out = m.in
	}
	return m
}

func (m *replica) do(moves []Move) {
	v := &Vectors{In: m.in, out: m.out}
	for _, j := range v.jobs(moves) {
		sum := make([]byte, len(j.dst[0]))
		for _, s := range j.src {
			for i := range sum {
				sum[i] += s[i]
			}
		}
		for _, d := range j.dst {
			copy(d, sum)
		}
	}
}

// Goal: what ranks do in shares is the operation, in whatever order they do it.
func TestSharesAreTheWhole(t *testing.T) {
	for _, op := range schedule.Operations() {
		for ranks := 1; ranks <= 9; ranks++ {
			for _, size := range []uint64{1, 200, 1000} {
				for _, element := range []int{8, 4} {
					s := NewShape(CallShape{Op: op, Ranks: ranks, Root: ranks / 2, Element: element}, size, 0)
					want := newReplica(s)
					before := newReplica(s)
					for r := range ranks { // nobody sees what another has done
						mine := &replica{in: before.in, out: slices.Clone(before.out)}
						mine.out[r] = slices.Clone(before.out[r])
						mine.do(s.Whole(r))
						want.out[r] = mine.out[r]
					}
					for _, order := range [][]int{counted(ranks, false), counted(ranks, true)} {
						got := newReplica(s)
						for _, r := range order {
							got.do(s.shares(r))
						}
						if !slices.EqualFunc(want.out, got.out, bytes.Equal) {
							t.Fatalf("%v among %d, %d bytes of elements of %d, ranks in order %v (-want +got):\n%s",
								op, ranks, size, element, order, cmp.Diff(want.out, got.out))
						}
					}
				}
			}
		}
	}
}

func counted(n int, down bool) []int {
	var all []int
	for i := range n {
		all = append(all, i)
	}
	if down {
		slices.Reverse(all)
	}
	return all
}
