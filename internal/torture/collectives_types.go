package torture

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A vector is elements of one type. Calls know no type of elements: what does is compiled for each of
// them, and is in this file.
type vector interface {
	length() int
	part(from, to int) vector // the same memory
	set(from vector)          // copies elements
	same(what string, want vector) error
	release(ctx context.Context, t *collectives.Team) error // of all that Alloc returned
}

type list[T comparable] []T

func (l list[T]) length() int                         { return len(l) }
func (l list[T]) part(from, to int) vector            { return l[from:to] }
func (l list[T]) set(from vector)                     { copy(l, from.(list[T])) }
func (l list[T]) same(what string, want vector) error { return same(what, l, want.(list[T])) }

func (l list[T]) release(ctx context.Context, t *collectives.Team) error {
	return collectives.Release(ctx, t, l)
}

// elements makes vectors of one type.
type elements interface {
	kinds() []gaspi.Op
	zeros(n int) vector
	allocated(ctx context.Context, t *collectives.Team, n int) (vector, error)
	input(op gaspi.Op, key uint64, member, n int) vector
	reduced(op gaspi.Op, key uint64, members []int, n int) vector
}

func (a *arithmetic[T]) kinds() []gaspi.Op { return a.ops }
func (*arithmetic[T]) zeros(n int) vector  { return make(list[T], n) }

func (*arithmetic[T]) allocated(ctx context.Context, t *collectives.Team, n int) (vector, error) {
	all, err := collectives.Alloc[T](ctx, t, n)
	return list[T](all), err
}

func (a *arithmetic[T]) input(op gaspi.Op, key uint64, member, n int) vector {
	return list[T](a.vector(op, key, member, n))
}

func (a *arithmetic[T]) reduced(op gaspi.Op, key uint64, members []int, n int) vector {
	return list[T](a.combine(op, key, members, n))
}

// calls are the operations on elements of one type.
type calls struct {
	elements
	ways
}

// ways make calls of one type of elements. now makes one that blocks, other than Do of its task,
// and reports whether there is one.
type ways interface {
	task(ctx context.Context, s *shape, opts ...collectives.Option) (collectives.Task, error)
	now(ctx context.Context, s *shape, opts ...collectives.Option) (st collectives.Status, known bool, err error)
}

// number is an element that operations combine, and a model compares.
type number interface {
	collectives.Element
	comparable
}

type (
	reductions[T number] struct{}
	moves[T comparable]  struct{}
	functions            struct {
		fn      collectives.Func[affine]
		ordered bool
	}
)

func reductionsOf[T number](a arithmetic[T]) calls { return calls{&a, new(reductions[T])} }
func movesOf[T comparable](a arithmetic[T]) calls  { return calls{&a, new(moves[T])} }

// buffers are those that a call gets; what it does without is nil.
func buffers[T comparable](s *shape) (dst, src []T, sources [][]T) {
	to, _ := s.dst.(list[T])
	from, _ := s.src.(list[T])
	more, _ := s.more.(list[T])
	return to, from, [][]T{from, more}
}

func (*reductions[T]) task(_ context.Context, s *shape, opts ...collectives.Option) (task collectives.Task, err error) {
	dst, src, sources := buffers[T](s)
	switch s.verb {
	case "AllReduce":
		task = collectives.AllReduceTask(dst, s.op, opts...)
	case "AllReduceInto":
		task = collectives.AllReduceIntoTask(dst, src, s.op, opts...)
	case "AllReduceMany":
		task = collectives.AllReduceManyTask(sources, s.op, opts...)
	case "Reduce":
		task = collectives.ReduceTask(s.root, dst, s.op, opts...)
	case "ReduceInto":
		task = collectives.ReduceIntoTask(s.root, dst, src, s.op, opts...)
	case "ReduceScatter":
		task = collectives.ReduceScatterTask(s.team, dst, src, s.op, opts...)
	case "ReduceScatterMany":
		task = collectives.ReduceScatterManyTask(s.team, dst, sources, s.op, opts...)
	case "ReduceScatterV":
		task = collectives.ReduceScatterVTask(s.team, dst, src, s.counts, s.op, opts...)
	case "ReduceScatterManyV":
		task = collectives.ReduceScatterManyVTask(s.team, dst, sources, s.counts, s.op, opts...)
	case "Scan":
		task = collectives.ScanTask(dst, s.op, opts...)
	case "ExScan":
		task = collectives.ExScanTask(dst, s.op, opts...)
	default:
		panic(s.verb + " is no reduction")
	}
	return task, nil
}

func (*reductions[T]) now(ctx context.Context, s *shape, opts ...collectives.Option) (st collectives.Status, known bool, err error) {
	dst, src, sources := buffers[T](s)
	st = nothingSaid
	switch s.verb {
	case "AllReduce":
		err = collectives.AllReduce(ctx, s.team, dst, s.op, opts...)
	case "Reduce":
		st, err = collectives.Reduce(ctx, s.team, s.root, dst, s.op, opts...)
	case "ReduceScatter":
		err = collectives.ReduceScatter(ctx, s.team, dst, src, s.op, opts...)
	case "ReduceScatterMany":
		err = collectives.ReduceScatterMany(ctx, s.team, dst, sources, s.op, opts...)
	default:
		return st, false, nil
	}
	return st, true, err
}

func (f *functions) task(_ context.Context, s *shape, opts ...collectives.Option) (task collectives.Task, err error) {
	dst, src, sources := buffers[affine](s)
	switch s.verb {
	case "AllReduce":
		task = collectives.AllReduceFuncTask(dst, f.fn, f.ordered, opts...)
	case "Reduce":
		task = collectives.ReduceFuncTask(s.root, dst, f.fn, f.ordered, opts...)
	case "ReduceScatter":
		task = collectives.ReduceScatterFuncTask(s.team, dst, src, f.fn, f.ordered, opts...)
	case "ReduceScatterMany":
		task = collectives.ReduceScatterManyFuncTask(s.team, dst, sources, f.fn, f.ordered, opts...)
	case "Scan":
		task = collectives.ScanFuncTask(dst, f.fn, f.ordered, opts...)
	case "ExScan":
		task = collectives.ExScanFuncTask(dst, f.fn, f.ordered, opts...)
	default:
		panic(s.verb + " takes no function")
	}
	return task, nil
}

func (*functions) now(context.Context, *shape, ...collectives.Option) (st collectives.Status, known bool, err error) {
	return st, false, nil
}

func (*moves[T]) task(ctx context.Context, s *shape, opts ...collectives.Option) (task collectives.Task, err error) {
	dst, src, _ := buffers[T](s)
	switch s.verb {
	case "AllGather":
		task = collectives.AllGatherTask(s.team, dst, src, opts...)
	case "AllGatherV":
		task = collectives.AllGatherVTask(s.team, dst, src, s.counts, opts...)
	case "AllToAll":
		task = collectives.AllToAllTask(s.team, dst, src, opts...)
	case "AllToAllV":
		return collectives.AllToAllVTask(ctx, s.team, dst, s.receives, src, s.sends, opts...)
	case "Broadcast":
		task = collectives.BroadcastTask(s.root, dst, opts...)
	case "Exchange":
		task = collectives.ExchangeTask(dst, src, s.rounds, opts...)
	case "Gather":
		task = collectives.GatherTask(s.team, s.root, dst, src, opts...)
	case "GatherV":
		task = collectives.GatherVTask(s.team, s.root, dst, src, s.counts, opts...)
	case "Scatter":
		task = collectives.ScatterTask(s.team, s.root, dst, src, opts...)
	case "ScatterV":
		task = collectives.ScatterVTask(s.team, s.root, dst, src, s.counts, opts...)
	default:
		panic(s.verb + " moves nothing")
	}
	return task, nil
}

func (*moves[T]) now(ctx context.Context, s *shape, opts ...collectives.Option) (st collectives.Status, known bool, err error) {
	dst, src, _ := buffers[T](s)
	st = nothingSaid
	switch s.verb {
	case "AllGather":
		err = collectives.AllGather(ctx, s.team, dst, src, opts...)
	case "AllToAll":
		err = collectives.AllToAll(ctx, s.team, dst, src, opts...)
	case "AllToAllV":
		err = collectives.AllToAllV(ctx, s.team, dst, s.receives, src, s.sends, opts...)
	case "Broadcast":
		st, err = collectives.Broadcast(ctx, s.team, s.root, dst, opts...)
	default:
		return st, false, nil
	}
	return st, true, err
}
