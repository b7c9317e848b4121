package main

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// memory is the vectors of all ranks for moves that are done one after the other:
// each byte is the sum of what was folded into it.
type memory struct{ in, out [][]byte }

func newMemory(s *shape) *memory {
	m := &memory{}
	for r := range s.ranks {
		in := make([]byte, s.in)
		for i := range in {
			in[i] = byte(r*31 + i*7 + 1)
		}
		m.in = append(m.in, in)
		m.out = append(m.out, make([]byte, s.out))
	}
	if s.inPlace() {
		m.out = m.in
	}
	return m
}

func (m *memory) do(moves []move) {
	v := &vectors{in: m.in, out: m.out}
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
				for _, d := range dtypes()[:2] {
					c := &collective{what: op, dtype: d, root: ranks / 2}
					s := c.shape(ranks, size)
					want := newMemory(s)
					before := newMemory(s)
					for r := range ranks { // nobody sees what another has done
						mine := &memory{in: before.in, out: slices.Clone(before.out)}
						mine.out[r] = slices.Clone(before.out[r])
						mine.do(s.whole(r))
						want.out[r] = mine.out[r]
					}
					for _, order := range [][]int{counted(ranks, false), counted(ranks, true)} {
						got := newMemory(s)
						for _, r := range order {
							got.do(s.shares(r))
						}
						if !slices.EqualFunc(want.out, got.out, bytes.Equal) {
							t.Fatalf("%v among %d, %d bytes of %s, ranks in order %v (-want +got):\n%s",
								op, ranks, size, d.name, order, cmp.Diff(want.out, got.out))
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

// Goal: what a check expects is exact for every type and operation, however many
// ranks there are.
func TestValuesAreExact(t *testing.T) {
	for _, d := range dtypes() {
		for _, op := range ops() {
			if !d.supports(op) {
				continue
			}
			for _, ranks := range []int{1, 2, 5, 60} {
				t.Run(fmt.Sprintf("%s/%v/%d", d.name, op, ranks), func(t *testing.T) { checkExact(t, d, op, ranks) })
			}
		}
	}
}

// checkExact does an allreduce with the kernel and lets the check look at it.
func checkExact(t *testing.T, d dtype, op collectives.Op, ranks int) {
	c := &collective{what: schedule.AllReduce, dtype: d, op: op}
	s := c.shape(ranks, uint64(50*d.size))
	fold, err := d.fold(op)
	if err != nil {
		t.Fatal(err)
	}
	var all []sides
	var sources [][]byte
	for r := range ranks {
		all = append(all, d.vectors(r, c, s))
		all[r].fill(7)
		sources = append(sources, slices.Clone(all[r].in))
	}
	if ranks > 1 {
		fold.fold(all[0].out, sources)
	}
	if err := all[0].check(7); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, len(all[0].out) - 1} {
		all[0].out[i] ^= 1
		if err := all[0].check(7); err == nil {
			t.Errorf("byte %d is wrong, and nobody noticed", i)
		}
		all[0].out[i] ^= 1
	}
}

// Goal: a check notices what belongs elsewhere, comes from another iteration, or
// was not there before.
func TestChecksNotice(t *testing.T) {
	for _, op := range schedule.Operations() {
		if op == schedule.Barrier {
			continue
		}
		for me := range 3 {
			t.Run(fmt.Sprintf("%v/%d", op, me), func(t *testing.T) {
				c := &collective{what: op, dtype: dtypes()[0], root: 1}
				s := c.shape(3, 3<<10)
				v := c.dtype.vectors(me, c, s)
				v.fill(3)
				// Some have the result from the start.
				done := len(s.whole(me)) == 0 || op == schedule.Scan && me == 0
				if err := v.check(3); (err == nil) != done {
					t.Errorf("nothing was done, and the check says: %v", err)
				}
				m := newFilled(c, s, 3)
				for r := range 3 {
					m.settle(s, r)
				}
				if err := m.sides[me].check(3); err != nil {
					t.Errorf("all was done: %v", err)
				}
				if err := m.sides[me].check(4); err == nil {
					t.Error("a result of another iteration passed")
				}
			})
		}
	}
}

// filled is the vectors of all ranks of a call of float64.
type filled struct {
	sides []sides
	v     vectors
}

func newFilled(c *collective, s *shape, iteration int) *filled {
	m := &filled{}
	for r := range s.ranks {
		one := c.dtype.vectors(r, c, s)
		one.fill(iteration)
		m.sides = append(m.sides, one)
		m.v.in = append(m.v.in, slices.Clone(one.in))
		m.v.out = append(m.v.out, one.out)
	}
	return m
}

// settle stores the result of rank r, made of what all contributed.
func (m *filled) settle(s *shape, r int) {
	w := newWorker(folds{})
	if s.op.Reduces() {
		w.folds, _ = dtypes()[0].fold(collectives.Sum)
	}
	w.work(m.v.jobs(s.whole(r)))
}
