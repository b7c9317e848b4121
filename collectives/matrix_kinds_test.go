package collectives_test

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
)

// A kind is an element type, with an operation on it if the call combines.
type kind struct {
	oracle.Truth
	name     string
	size     int
	function bool // of the program, which is always done in place where there is a choice
	ordered  bool // it does not commute, and the call says so
	task     func(ctx context.Context, o *operands) (collectives.Task, error)
}

// builtin is an operation of the package.
func builtin[T collectives.Element](e oracle.Elements[T], op collectives.Op) kind {
	k := kindOf(&e, " "+op.String())
	k.task = func(_ context.Context, o *operands) (collectives.Task, error) { return combine[T](o, op), nil }
	return k
}

// function is an operation of the program.
func function[T any](e oracle.Elements[T], ordered bool) kind {
	k := kindOf(&e, " function")
	if ordered {
		k = kindOf(&e, " ordered function")
	}
	fn := func(dst, a, b []T) {
		for i := range dst {
			dst[i] = e.Fold(a[i], b[i])
		}
	}
	k.function, k.ordered = true, ordered
	k.task = func(_ context.Context, o *operands) (collectives.Task, error) { return apply(o, fn, ordered), nil }
	return k
}

// moved is elements that are not combined.
func moved[T any](e oracle.Elements[T]) kind {
	k := kindOf(&e, "")
	k.task = move[T]
	return k
}

func kindOf(v oracle.Truth, what string) kind {
	return kind{Truth: v, name: v.Type().String() + what, size: int(v.Type().Size())}
}

// reductionKinds are all pairs of a type and an operation defined on it, and
// functions of the program.
func reductionKinds() []kind {
	all := integers[int8]()
	for _, more := range [][]kind{
		integers[int16](), integers[int32](), integers[int64](), integers[int](),
		integers[uint8](), integers[uint16](), integers[uint32](), integers[uint64](), integers[uint](),
	} {
		all = append(all, more...)
	}
	for op := collectives.Sum; op <= collectives.Max; op++ {
		all = append(all,
			builtin(oracle.Float64s(op), op), builtin(oracle.Float32s(op), op),
			builtin(oracle.Float16s(op), op), builtin(oracle.BFloat16s(op), op))
	}
	for _, op := range []collectives.Op{collectives.Sum, collectives.Prod} {
		all = append(all, builtin(oracle.Complex64s(op), op), builtin(oracle.Complex128s(op), op))
	}
	for _, op := range []collectives.Op{collectives.MinLoc, collectives.MaxLoc} {
		all = append(all,
			builtin(oracle.Locs[int32](op), op), builtin(oracle.Locs[int64](op), op),
			builtin(oracle.Locs[float32](op), op), builtin(oracle.Locs[float64](op), op))
	}
	return append(all,
		function(oracle.Matrices(), true),
		function(oracle.Permutations(), true),
		function(oracle.Runs(), true),
		function(oracle.Integers[uint16](collectives.Sum), false),
		function(oracle.Integers[uint64](collectives.Xor), true), // pretends not to commute
	)
}

func integers[T interface {
	collectives.Element
	oracle.Integer
}]() []kind {
	var all []kind
	for op := collectives.Sum; op <= collectives.Xor; op++ {
		all = append(all, builtin(oracle.Integers[T](op), op))
	}
	return all
}

// A pair is an element with padding, whose fields are moved.
type pair struct {
	A uint64
	B uint16
}

// movedKinds are elements that are only moved: of sizes that divide a cache line,
// do not, and exceed it.
func movedKinds() []kind {
	return []kind{
		moved(oracle.Moved(func(h uint64) bool { return h&1 != 0 })),
		moved(oracle.Moved(func(h uint64) uint8 { return uint8(h) })),
		moved(oracle.Moved(func(h uint64) int16 { return int16(h) })),
		moved(oracle.Moved(func(h uint64) [3]uint8 { return [3]uint8{uint8(h), uint8(h >> 8), uint8(h >> 16)} })),
		moved(oracle.Moved(func(h uint64) int32 { return int32(h) })),
		moved(oracle.Permutations()),
		moved(oracle.Moved(func(h uint64) float64 { return float64(int32(h)) })),
		moved(oracle.Moved(func(h uint64) complex128 { return complex(float64(int32(h)), float64(h>>32)) })),
		moved(oracle.Moved(func(h uint64) pair { return pair{h, uint16(h >> 7)} })),
		moved(oracle.Moved(func(h uint64) [25]uint32 { return [25]uint32{0: uint32(h), 12: uint32(h >> 32), 24: uint32(h >> 16)} })),
	}
}
