package collective

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// values are what the vectors of a rank hold before and after a call: small whole
// numbers that depend on rank, element and iteration, so that every result is
// exact whatever the order in which it was computed.
type values[T reduce.Element] struct {
	me     int
	shape  *limit.CallShape
	size   int // bytes of an element
	op     collectives.Op
	most   int // numbers that are contributed are below it
	number []T // the numbers as elements
	ranks  int // contributions that are combined at most
}

// mostFactors is how many ranks contribute 2 to a product, the others 1.
const mostFactors = 6

func newValues[T reduce.Element](me int, c *Spec, s *limit.CallShape, of func(int) T) *values[T] {
	v := &values[T]{me: me, shape: s, size: c.Dtype.size, op: c.Op, ranks: Contributors(c, s.Ranks)}
	v.most = Contributed(c.Dtype.Exact, v.ranks)
	v.number = make([]T, max(v.most*v.ranks, 128))
	for i := range v.number {
		v.number[i] = of(i)
	}
	return v
}

// Contributors is how many contributions are combined at most.
func Contributors(c *Spec, ranks int) int {
	if c.What.Reduces() {
		return ranks
	}
	return 1
}

// Contributed is what numbers that are contributed are below: sums of so many of
// them are exact, and numbers below 128 have bits that all types have.
func Contributed(exact, contributors int) int { return min(max(exact/contributors, 1), 127) }

// contribution is the number that a rank contributes at an element.
func (v *values[T]) contribution(rank, element, iteration int) int {
	h := uint32(element)*2654435761 + uint32(rank)*40503 + uint32(iteration)*2246822519
	h ^= h >> 15
	if v.op == collectives.Prod && v.ranks > 1 {
		if rank < mostFactors {
			return 1 + int(h>>8&1)
		}
		return 1
	}
	return int(h>>8) % v.most
}

// stale is an element of the result before the call, where that is not the
// contribution.
func (v *values[T]) stale(element int) T { return v.number[(element+1)%2] }

// fill writes what a rank has before a call.
func (v *values[T]) fill(p vectorPair[T], iteration int) {
	for i := range p.in {
		p.in[i] = v.number[v.contribution(v.me, i, iteration)]
	}
	if v.shape.InPlace() {
		return
	}
	for i := range p.out {
		p.out[i] = v.stale(i)
	}
}

// check compares what a rank has after a call with what it must have.
func (v *values[T]) check(p vectorPair[T], iteration int) error {
	next := 0 // first element that was not looked at
	before := func(i int) T {
		if v.shape.InPlace() {
			return v.number[v.contribution(v.me, i, iteration)]
		}
		return v.stale(i)
	}
	kept := func(to int) error {
		for ; next < to; next++ {
			if want := before(next); p.out[next] != want {
				return v.wrong(p.out[next], want, next, iteration, "as before")
			}
		}
		return nil
	}
	for _, m := range v.shape.Whole(v.me) {
		off, n := m.Dst[0].Off/v.size, m.Dst[0].N/v.size
		if err := kept(off); err != nil {
			return err
		}
		for i := range n {
			if want := v.folded(m.Src, i, iteration); p.out[off+i] != want {
				return v.wrong(p.out[off+i], want, off+i, iteration, "the result")
			}
		}
		next = off + n
	}
	if err := kept(len(p.out)); err != nil {
		return err
	}
	if v.shape.InPlace() {
		return nil
	}
	for i := range p.in {
		if want := v.number[v.contribution(v.me, i, iteration)]; p.in[i] != want {
			return v.wrong(p.in[i], want, i, iteration, "what it contributed")
		}
	}
	return nil
}

// folded is the combination of the i-th elements of pieces.
func (v *values[T]) folded(src []limit.Piece, i, iteration int) T {
	sum := -1
	for _, p := range src {
		x := v.contribution(p.Rank, p.Off/v.size+i, iteration)
		if sum < 0 {
			sum = x
			continue
		}
		switch v.op {
		case collectives.Sum:
			sum += x
		case collectives.Prod:
			sum *= x
		case collectives.Min:
			sum = min(sum, x)
		case collectives.Max:
			sum = max(sum, x)
		case collectives.And:
			sum &= x
		case collectives.Or:
			sum |= x
		case collectives.Xor:
			sum ^= x
		}
	}
	return v.number[sum]
}

func (v *values[T]) wrong(got, want T, element, iteration int, what string) error {
	op := v.shape.Op.String()
	if v.shape.Op.Rooted() {
		op += fmt.Sprintf(" with root %d", v.shape.Root)
	}
	return fmt.Errorf("%s: rank %d has %v at element %d in iteration %d, want %v, %s", op, v.me, got, element, iteration, want, what)
}
