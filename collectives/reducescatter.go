package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// ReduceScatter combines the vectors src of all members, which consist of a block
// of len(dst) elements per member, and stores block i of the result in dst of
// member i. It blocks. dst may be this member's block of src itself, on all
// members alike: then the rest of src ends up with anything in it.
func ReduceScatter[T Element](ctx context.Context, t *Team, dst, src []T, op Op, opts ...Option) error {
	in := reduce.BytesOf(src)
	out, inPlace := within(in, reduce.BytesOf(dst), t)
	g := glanceOf(schedule.ReduceScatter, inPlace, op, 0, reduce.TypeWord[T]())
	if p, err := t.again(ctx, g, opts, in, out); p != nil || err != nil {
		return err
	}
	task := ReduceScatterTask(t, dst, src, op, opts...)
	return t.do(ctx, &task)
}

// ReduceScatterTask is ReduceScatter as a task.
func ReduceScatterTask[T Element](t *Team, dst, src []T, op Op, opts ...Option) Task {
	return reduceScatter(t, element.Combinable[T](), operator{op: op}, reduce.MemoryOf(dst), reduce.MemoryOf(src), nil, opts)
}

// ReduceScatterV is ReduceScatter with blocks of different lengths: block i has
// counts[i] elements, the same on all members.
func ReduceScatterV[T Element](ctx context.Context, t *Team, dst, src []T, counts []int, op Op, opts ...Option) error {
	task := ReduceScatterVTask(t, dst, src, counts, op, opts...)
	return t.do(ctx, &task)
}

// ReduceScatterVTask is ReduceScatterV as a task.
func ReduceScatterVTask[T Element](t *Team, dst, src []T, counts []int, op Op, opts ...Option) Task {
	return reduceScatter(t, element.Combinable[T](), operator{op: op}, reduce.MemoryOf(dst), reduce.MemoryOf(src), blocks(counts), opts)
}

// ReduceScatterFunc is ReduceScatter with an operation of the program; see
// AllReduceFunc.
func ReduceScatterFunc[T any](ctx context.Context, t *Team, dst, src []T, fn Func[T], ordered bool, opts ...Option) error {
	task := ReduceScatterFuncTask(t, dst, src, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// ReduceScatterFuncTask is ReduceScatterFunc as a task.
func ReduceScatterFuncTask[T any](t *Team, dst, src []T, fn Func[T], ordered bool, opts ...Option) Task {
	return reduceScatter(t, element.Movable[T](), function(fn, ordered), reduce.MemoryOf(dst), reduce.MemoryOf(src), nil, opts)
}

// ReduceScatterMany is ReduceScatter of several vectors of each member, as many on all members and all
// of one length: it combines them all, those of a member first, in a single exchange. dst may be this
// member's block of srcs[0], on all members alike: then the rest of srcs[0] ends up with anything in it.
func ReduceScatterMany[T Element](ctx context.Context, t *Team, dst []T, srcs [][]T, op Op, opts ...Option) error {
	if len(srcs) == 0 {
		return Do(ctx, t, ReduceScatterManyTask(t, dst, srcs, op))
	}
	in, others := reduce.BytesOf(srcs[0]), reduce.VectorsOf(srcs[1:])
	out, inPlace := within(in, reduce.BytesOf(dst), t)
	g := glanceOf(schedule.ReduceScatter, inPlace, op, 0, reduce.TypeWord[T]())
	if p, err := t.againMany(ctx, g, opts, in, out, others); p != nil || err != nil {
		return err
	}
	task := ReduceScatterTask(t, dst, srcs[0], op, opts...)
	return t.doMany(ctx, &task, others)
}

// ReduceScatterManyTask is ReduceScatterMany as a task.
func ReduceScatterManyTask[T Element](t *Team, dst []T, srcs [][]T, op Op, opts ...Option) Task {
	return reduceScatterMany(t, element.Combinable[T](), operator{op: op}, reduce.MemoryOf(dst), reduce.VectorsOf(srcs), nil, opts)
}

// ReduceScatterManyV is ReduceScatterMany with blocks of different lengths; see ReduceScatterV.
func ReduceScatterManyV[T Element](
	ctx context.Context, t *Team, dst []T, srcs [][]T, counts []int, op Op, opts ...Option,
) error {
	task := ReduceScatterManyVTask(t, dst, srcs, counts, op, opts...)
	return t.do(ctx, &task)
}

// ReduceScatterManyVTask is ReduceScatterManyV as a task.
func ReduceScatterManyVTask[T Element](t *Team, dst []T, srcs [][]T, counts []int, op Op, opts ...Option) Task {
	return reduceScatterMany(t, element.Combinable[T](), operator{op: op}, reduce.MemoryOf(dst), reduce.VectorsOf(srcs), blocks(counts), opts)
}

// ReduceScatterManyFunc is ReduceScatterMany with an operation of the program; see AllReduceManyFunc.
func ReduceScatterManyFunc[T any](
	ctx context.Context, t *Team, dst []T, srcs [][]T, fn Func[T], ordered bool, opts ...Option,
) error {
	task := ReduceScatterManyFuncTask(t, dst, srcs, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// ReduceScatterManyFuncTask is ReduceScatterManyFunc as a task.
func ReduceScatterManyFuncTask[T any](t *Team, dst []T, srcs [][]T, fn Func[T], ordered bool, opts ...Option) Task {
	return reduceScatterMany(t, element.Movable[T](), function(fn, ordered), reduce.MemoryOf(dst), reduce.VectorsOf(srcs), nil, opts)
}

// reduceScatterMany is a task on several vectors.
func reduceScatterMany(t *Team, elem element.Type, by operator, dst []byte, srcs reduce.Vectors, counts []int, opts []Option) Task {
	return withOthers(reduceScatter(t, elem, by, dst, srcs.First(), counts, opts), srcs)
}

func reduceScatter(t *Team, elem element.Type, by operator, dst, src []byte, counts []int, opts []Option) Task {
	block := elem.Count(dst)
	task := newTask(schedule.Call{Op: schedule.ReduceScatter, Count: block, Counts: counts}, elem, by, src, dst, opts)
	task.blockwise(t, "dst", block, "src", elem.Count(src))
	if isInPlace(&task, t, src, dst) {
		task.call.InPlace, task.out = true, task.in
	}
	return task
}
