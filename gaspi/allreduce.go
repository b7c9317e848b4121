package gaspi

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/datatype"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Op is an element-wise operation of a reduction.
type Op = datatype.Op

// The operations. And, Or and Xor are for integers.
const (
	Sum  = datatype.Sum
	Prod = datatype.Prod
	Min  = datatype.Min
	Max  = datatype.Max
	And  = datatype.And
	Or   = datatype.Or
	Xor  = datatype.Xor
)

// Number is what the operations are defined on.
type Number = datatype.Number

// AllReduce combines the vectors send of all members of g element by element
// and stores the result in recv on all of them, the same bits everywhere. The
// vectors need not lie in a segment, have equal length, and at most
// Config.AllReduceElements elements of 8 bytes; package collectives has no such
// limit. recv may be send. send is taken over at the first call: when ctx ends
// first, the same call again goes on with what send held then.
//
// It is a reduction to the first member along a tree, in the order of the tree, and a broadcast
// back. On a host a member has up to 16 children, and the first member of each host, which
// stands for all of them, up to 4 on other hosts: each member sends at most 21 messages.
func AllReduce[T Number](ctx context.Context, g *Group, send, recv []T, op Op) error {
	if !reduce.Supports[T](op) {
		return g.error("allreduce", fmt.Errorf("%v is not defined for elements of type %T", op, *new(T)))
	}
	combine := func(acc, in []byte) {
		a := segment.Of[T](acc)
		reduce.Into(op, a, a, segment.Of[T](in))
	}
	return allReduce(ctx, g, send, recv, op.String(), uint8(op), combine)
}

// AllReduceFunc is AllReduce with an operation of the program: fn combines in
// into acc, which have equal length. It must be commutative and associative, the
// same on all members, and keep neither slice. It is called in the order of the
// tree, so that the result has the same bits everywhere.
func AllReduceFunc[T Element](ctx context.Context, g *Group, send, recv []T, fn func(acc, in []T)) error {
	combine := func(acc, in []byte) { fn(segment.Of[T](acc), segment.Of[T](in)) }
	return allReduce(ctx, g, send, recv, "a function", userOp, combine)
}

// userOp stands for the program's own function in a signature.
const userOp = 255

func allReduce[T Element](ctx context.Context, g *Group, send, recv []T, name string, op uint8, combine func(acc, in []byte)) error {
	if err := g.ready("allreduce"); err != nil {
		return err
	}
	in, out := segment.BytesOf(send), segment.BytesOf(recv)
	switch {
	case len(in) != len(out):
		return g.error("allreduce", fmt.Errorf("%w: send has %d elements, recv %d", ErrMismatch, len(send), len(recv)))
	case len(in) > 8*g.p.cfg.AllReduceElements:
		return g.error("allreduce", fmt.Errorf("%w: the vector has %d bytes; Config.AllReduceElements is %d, of 8 bytes",
			ErrTooLarge, len(in), g.p.cfg.AllReduceElements))
	}
	g.p.stats.allReduces.Add(uint64(len(in)))
	sig := signature{op: op, kind: kindOf[T](), count: uint32(len(send))}
	begun := g.p.timeline.Begin()
	number, err := g.vector.run(ctx, in, out, sig, combine)
	if g.p.timeline != nil {
		g.recordMeeting(trace.AllReduce, begun, number)
	}
	return err
}
