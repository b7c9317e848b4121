package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Reduce combines the vectors buf of all members element by element and stores the
// result in buf of member root; those of the others keep what they held. It
// blocks. With Threshold only the first part is combined, with Processes only the
// contributions of some ranks: the Status says how much and whose.
func Reduce[T Element](ctx context.Context, t *Team, root int, buf []T, op Op, opts ...Option) (Status, error) {
	mem := reduce.BytesOf(buf)
	g := glanceOf(schedule.Reduce, true, op, root, reduce.TypeWord[T]())
	if p, err := t.again(ctx, g, opts, mem, mem); p != nil || err != nil {
		return t.statusOf(p), err
	}
	task := ReduceTask(root, buf, op, opts...)
	return t.limited(ctx, &task)
}

// ReduceTask is Reduce as a task.
func ReduceTask[T Element](root int, buf []T, op Op, opts ...Option) Task {
	return inPlace(schedule.Reduce, root, element.Combinable[T](), operator{op: op}, reduce.BytesOf(buf), opts)
}

// ReduceInto is Reduce from src into dst of member root; dst of others is not used,
// but for buffers of Alloc it is given by all, and may otherwise be nil.
func ReduceInto[T Element](ctx context.Context, t *Team, root int, dst, src []T, op Op, opts ...Option) (Status, error) {
	task := ReduceIntoTask(root, dst, src, op, opts...)
	if t.me == root || len(dst) > 0 {
		task.lengths("dst", len(dst), len(src))
	}
	return t.limited(ctx, &task)
}

// ReduceIntoTask is ReduceInto as a task.
func ReduceIntoTask[T Element](root int, dst, src []T, op Op, opts ...Option) Task {
	call := schedule.Call{Op: schedule.Reduce, Count: len(src), Root: root}
	return newTask(call, element.Combinable[T](), operator{op: op}, reduce.BytesOf(src), reduce.BytesOf(dst), opts)
}

// ReduceFunc is Reduce with an operation of the program; see AllReduceFunc.
func ReduceFunc[T any](ctx context.Context, t *Team, root int, buf []T, fn Func[T], ordered bool, opts ...Option) (Status, error) {
	task := ReduceFuncTask(root, buf, fn, ordered, opts...)
	return t.limited(ctx, &task)
}

// ReduceFuncTask is ReduceFunc as a task.
func ReduceFuncTask[T any](root int, buf []T, fn Func[T], ordered bool, opts ...Option) Task {
	return inPlace(schedule.Reduce, root, element.Movable[T](), function(fn, ordered), reduce.BytesOf(buf), opts)
}
