package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
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
	return reduceScatter(t, dst, src, nil, element.Combinable[T](), op, opts)
}

// ReduceScatterV is ReduceScatter with blocks of different lengths: block i has
// counts[i] elements, the same on all members.
func ReduceScatterV[T Element](ctx context.Context, t *Team, dst, src []T, counts []int, op Op, opts ...Option) error {
	task := ReduceScatterVTask(t, dst, src, counts, op, opts...)
	return t.do(ctx, &task)
}

// ReduceScatterVTask is ReduceScatterV as a task.
func ReduceScatterVTask[T Element](t *Team, dst, src []T, counts []int, op Op, opts ...Option) Task {
	return reduceScatter(t, dst, src, blocks(counts), element.Combinable[T](), op, opts)
}

// ReduceScatterFunc is ReduceScatter with an operation of the program; see
// AllReduceFunc.
func ReduceScatterFunc[T any](ctx context.Context, t *Team, dst, src []T, fn Func[T], ordered bool, opts ...Option) error {
	task := ReduceScatterFuncTask(t, dst, src, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// ReduceScatterFuncTask is ReduceScatterFunc as a task.
func ReduceScatterFuncTask[T any](t *Team, dst, src []T, fn Func[T], ordered bool, opts ...Option) Task {
	task := reduceScatter(t, dst, src, nil, element.Movable[T](), 0, opts)
	task.user, task.call.Ordered = element.KernelOf(fn), ordered
	return task
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
	return reduceScatterMany(srcs, func(src []T) Task { return ReduceScatterTask(t, dst, src, op, opts...) })
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
	return reduceScatterMany(srcs, func(src []T) Task { return ReduceScatterVTask(t, dst, src, counts, op, opts...) })
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
	return reduceScatterMany(srcs, func(src []T) Task { return ReduceScatterFuncTask(t, dst, src, fn, ordered, opts...) })
}

// reduceScatterMany is a task on several vectors, of which one makes that on the first.
func reduceScatterMany[T any](srcs [][]T, one func(src []T) Task) Task {
	if len(srcs) == 0 {
		return noVectors(one(nil))
	}
	return withOthers(one(srcs[0]), srcs)
}

func reduceScatter[T any](t *Team, dst, src []T, counts []int, elem element.Type, op Op, opts []Option) Task {
	task := Task{
		call: choice.Signature{Call: schedule.Call{Op: schedule.ReduceScatter, Count: len(dst), Counts: counts}},
		elem: elem, op: op, in: memoryOf(src), out: memoryOf(dst),
	}
	task.set(opts)
	task.blockwise(t, "dst", len(dst), "src", len(src))
	if isInPlace(&task, t, src, dst) {
		task.call.InPlace, task.out = true, task.in
	}
	return task
}
