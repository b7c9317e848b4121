package collective

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: what a check expects is exact for every type and operation, however many
// ranks there are.
func TestValuesAreExact(t *testing.T) {
	for _, d := range Dtypes() {
		for _, op := range Ops() {
			if !d.Supports(op) {
				continue
			}
			for _, ranks := range []int{1, 2, 5, 60} {
				t.Run(fmt.Sprintf("%s/%v/%d", d.Name, op, ranks), func(t *testing.T) { checkExact(t, d, op, ranks) })
			}
		}
	}
}

// checkExact does an allreduce with the kernel and lets the check look at it.
func checkExact(t *testing.T, d DType, op collectives.Op, ranks int) {
	c := &Spec{What: schedule.AllReduce, Dtype: d, Op: op}
	s := c.Shape(ranks, uint64(50*d.size))
	fold, err := d.Fold(op)
	if err != nil {
		t.Fatal(err)
	}
	var all []limit.Buffers
	var sources [][]byte
	for r := range ranks {
		all = append(all, d.vectors(r, c, s))
		all[r].Fill(7)
		sources = append(sources, slices.Clone(all[r].In))
	}
	if ranks > 1 {
		fold.Fold(all[0].Out, sources)
	}
	if err := all[0].Check(7); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, len(all[0].Out) - 1} {
		all[0].Out[i] ^= 1
		if err := all[0].Check(7); err == nil {
			t.Errorf("byte %d is wrong, and nobody noticed", i)
		}
		all[0].Out[i] ^= 1
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
				c := &Spec{What: op, Dtype: Dtypes()[0], Root: 1}
				s := c.Shape(3, 3<<10)
				v := c.Dtype.vectors(me, c, s)
				v.Fill(3)
				// Some have the result from the start.
				done := len(s.Whole(me)) == 0 || op == schedule.Scan && me == 0
				if err := v.Check(3); (err == nil) != done {
					t.Errorf("nothing was done, and the check says: %v", err)
				}
				m := newFilled(c, s, 3)
				for r := range 3 {
					m.settle(s, r)
				}
				if err := m.sides[me].Check(3); err != nil {
					t.Errorf("all was done: %v", err)
				}
				if err := m.sides[me].Check(4); err == nil {
					t.Error("a result of another iteration passed")
				}
			})
		}
	}
}

// filled is the vectors of all ranks of a call of float64.
type filled struct {
	sides []limit.Buffers
	in    [][]byte // copies of what ranks contribute
	out   [][]byte
}

func newFilled(c *Spec, s *limit.CallShape, iteration int) *filled {
	m := &filled{}
	for r := range s.Ranks {
		one := c.Dtype.vectors(r, c, s)
		one.Fill(iteration)
		m.sides = append(m.sides, one)
		m.in = append(m.in, slices.Clone(one.In))
		m.out = append(m.out, one.Out)
	}
	return m
}

// settle stores the result of rank r, made of what all contributed.
func (m *filled) settle(s *limit.CallShape, r int) {
	sum, _ := Dtypes()[0].Fold(collectives.Sum)
	for _, mv := range s.Whole(r) {
		dst := m.out[r][mv.Dst[0].Off:][:mv.Dst[0].N]
		var sources [][]byte
		for _, p := range mv.Src {
			sources = append(sources, m.in[p.Rank][p.Off:][:p.N])
		}
		if len(sources) == 1 {
			copy(dst, sources[0])
		} else {
			sum.Fold(dst, sources)
		}
	}
}
