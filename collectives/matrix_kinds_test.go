package collectives_test

import (
	"context"
	"reflect"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/collectives/internal/oracle"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A kind is an element type, with an operation on it if the call combines.
type kind interface {
	name() string
	size() int
	ordered() bool // it does not commute, and the call says so
	bind(ctx context.Context, m *member, x *instance, copy int) (bound, error)
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
			builtin[float64]{oracle.Float64s(op), op}, builtin[float32]{oracle.Float32s(op), op},
			builtin[collectives.Float16]{oracle.Float16s(op), op}, builtin[collectives.BFloat16]{oracle.BFloat16s(op), op})
	}
	for _, op := range []collectives.Op{collectives.Sum, collectives.Prod} {
		all = append(all, builtin[complex64]{oracle.Complex64s(op), op}, builtin[complex128]{oracle.Complex128s(op), op})
	}
	for _, op := range []collectives.Op{collectives.MinLoc, collectives.MaxLoc} {
		all = append(all,
			builtin[collectives.Loc[int32]]{oracle.Locs[int32](op), op}, builtin[collectives.Loc[int64]]{oracle.Locs[int64](op), op},
			builtin[collectives.Loc[float32]]{oracle.Locs[float32](op), op}, builtin[collectives.Loc[float64]]{oracle.Locs[float64](op), op})
	}
	return append(all,
		function[oracle.Matrix]{oracle.Matrices(), true},
		function[oracle.Permutation]{oracle.Permutations(), true},
		function[oracle.OrderedRange]{oracle.Runs(), true},
		function[uint16]{oracle.Integers[uint16](collectives.Sum), false},
		function[uint64]{oracle.Integers[uint64](collectives.Xor), true}, // pretends not to commute
	)
}

func integers[T interface {
	collectives.Element
	oracle.Integer
}]() []kind {
	var all []kind
	for op := collectives.Sum; op <= collectives.Xor; op++ {
		all = append(all, builtin[T]{oracle.Integers[T](op), op})
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
		moved[bool]{oracle.Moved(func(h uint64) bool { return h&1 != 0 })},
		moved[uint8]{oracle.Moved(func(h uint64) uint8 { return uint8(h) })},
		moved[int16]{oracle.Moved(func(h uint64) int16 { return int16(h) })},
		moved[[3]uint8]{oracle.Moved(func(h uint64) [3]uint8 { return [3]uint8{uint8(h), uint8(h >> 8), uint8(h >> 16)} })},
		moved[int32]{oracle.Moved(func(h uint64) int32 { return int32(h) })},
		moved[oracle.Permutation]{oracle.Permutations()},
		moved[float64]{oracle.Moved(func(h uint64) float64 { return float64(int32(h)) })},
		moved[complex128]{oracle.Moved(func(h uint64) complex128 { return complex(float64(int32(h)), float64(h>>32)) })},
		moved[pair]{oracle.Moved(func(h uint64) pair { return pair{h, uint16(h >> 7)} })},
		moved[[25]uint32]{oracle.Moved(func(h uint64) [25]uint32 { return [25]uint32{0: uint32(h), 12: uint32(h >> 32), 24: uint32(h >> 16)} })},
	}
}

// builtin is an operation of the package.
type builtin[T collectives.Element] struct {
	oracle.Elements[T]
	op collectives.Op
}

func (k builtin[T]) name() string  { return reflect.TypeFor[T]().String() + " " + k.op.String() }
func (k builtin[T]) size() int     { return int(reflect.TypeFor[T]().Size()) }
func (k builtin[T]) ordered() bool { return false }

func (k builtin[T]) bind(_ context.Context, m *member, x *instance, copy int) (bound, error) {
	b := newVectors(m, x, copy, k.Elements)
	t, opts := m.team, x.options()
	switch {
	case x.op == schedule.AllReduce && x.vectors > 1:
		b.task = collectives.AllReduceManyTask(append([][]T{b.dst}, b.more...), k.op, opts...)
	case x.op == schedule.AllReduce && x.inPlace:
		b.task = collectives.AllReduceTask(b.dst, k.op, opts...)
	case x.op == schedule.AllReduce:
		b.task = collectives.AllReduceIntoTask(b.dst, b.src, k.op, opts...)
	case x.op == schedule.Reduce && x.inPlace:
		b.task = collectives.ReduceTask(x.root, b.dst, k.op, opts...)
	case x.op == schedule.Reduce:
		b.task = collectives.ReduceIntoTask(x.root, b.given(b.dst, m.rank == x.root), b.src, k.op, opts...)
	case x.op == schedule.ReduceScatter && x.vectors > 1 && x.uneven:
		b.task = collectives.ReduceScatterManyVTask(t, b.dst, append([][]T{b.src}, b.more...), b.blocks, k.op, opts...)
	case x.op == schedule.ReduceScatter && x.vectors > 1:
		b.task = collectives.ReduceScatterManyTask(t, b.dst, append([][]T{b.src}, b.more...), k.op, opts...)
	case x.op == schedule.ReduceScatter && x.uneven:
		b.task = collectives.ReduceScatterVTask(t, b.dst, b.src, b.blocks, k.op, opts...)
	case x.op == schedule.ReduceScatter:
		b.task = collectives.ReduceScatterTask(t, b.dst, b.src, k.op, opts...)
	case x.op == schedule.Scan:
		b.task = collectives.ScanTask(b.dst, k.op, opts...)
	default:
		b.task = collectives.ExScanTask(b.dst, k.op, opts...)
	}
	return b, nil
}

// function is an operation of the program, which is always done in place where
// there is a choice.
type function[T any] struct {
	oracle.Elements[T]
	order bool
}

func (k function[T]) name() string {
	if k.order {
		return reflect.TypeFor[T]().String() + " ordered function"
	}
	return reflect.TypeFor[T]().String() + " function"
}
func (k function[T]) size() int     { return int(reflect.TypeFor[T]().Size()) }
func (k function[T]) ordered() bool { return k.order }

func (k function[T]) combine(dst, a, b []T) {
	for i := range dst {
		dst[i] = k.Fold(a[i], b[i])
	}
}

func (k function[T]) bind(_ context.Context, m *member, x *instance, copy int) (bound, error) {
	b := newVectors(m, x, copy, k.Elements)
	opts := x.options()
	switch {
	case x.op == schedule.AllReduce && x.vectors > 1:
		b.task = collectives.AllReduceManyFuncTask(append([][]T{b.dst}, b.more...), k.combine, k.order, opts...)
	case x.op == schedule.AllReduce:
		b.task = collectives.AllReduceFuncTask(b.dst, k.combine, k.order, opts...)
	case x.op == schedule.Reduce:
		b.task = collectives.ReduceFuncTask(x.root, b.dst, k.combine, k.order, opts...)
	case x.op == schedule.ReduceScatter && x.vectors > 1:
		b.task = collectives.ReduceScatterManyFuncTask(m.team, b.dst, append([][]T{b.src}, b.more...), k.combine, k.order, opts...)
	case x.op == schedule.ReduceScatter:
		b.task = collectives.ReduceScatterFuncTask(m.team, b.dst, b.src, k.combine, k.order, opts...)
	case x.op == schedule.Scan:
		b.task = collectives.ScanFuncTask(b.dst, k.combine, k.order, opts...)
	default:
		b.task = collectives.ExScanFuncTask(b.dst, k.combine, k.order, opts...)
	}
	return b, nil
}

// moved is elements that are not combined.
type moved[T any] struct{ oracle.Elements[T] }

func (k moved[T]) name() string  { return reflect.TypeFor[T]().String() }
func (k moved[T]) size() int     { return int(reflect.TypeFor[T]().Size()) }
func (k moved[T]) ordered() bool { return false }

func (k moved[T]) bind(ctx context.Context, m *member, x *instance, copy int) (_ bound, err error) {
	b := newVectors(m, x, copy, k.Elements)
	t, opts := m.team, x.options()
	switch {
	case x.op == schedule.Broadcast:
		b.task = collectives.BroadcastTask(x.root, b.dst, opts...)
	case x.op == schedule.AllGather && x.uneven:
		b.task = collectives.AllGatherVTask(t, b.dst, b.src, b.blocks, opts...)
	case x.op == schedule.AllGather:
		b.task = collectives.AllGatherTask(t, b.dst, b.src, opts...)
	case x.op == schedule.Gather && x.uneven:
		b.task = collectives.GatherVTask(t, x.root, b.given(b.dst, m.rank == x.root), b.src, b.blocks, opts...)
	case x.op == schedule.Gather:
		b.task = collectives.GatherTask(t, x.root, b.given(b.dst, m.rank == x.root), b.src, opts...)
	case x.op == schedule.Scatter && x.uneven:
		b.task = collectives.ScatterVTask(t, x.root, b.dst, b.given(b.src, m.rank == x.root), b.blocks, opts...)
	case x.op == schedule.Scatter:
		b.task = collectives.ScatterTask(t, x.root, b.dst, b.given(b.src, m.rank == x.root), opts...)
	case x.op == schedule.AllToAll && x.uneven:
		b.task, err = collectives.AllToAllVTask(ctx, t, b.dst, b.arriving, b.src, b.sends(), opts...)
	case x.op == schedule.AllToAll:
		b.task = collectives.AllToAllTask(t, b.dst, b.src, opts...)
	case x.op == schedule.Exchange:
		b.task = collectives.ExchangeTask(b.dst, b.src, x.exchanges(), opts...)
	default:
		b.task = collectives.BarrierTask(opts...)
	}
	return b, err
}
