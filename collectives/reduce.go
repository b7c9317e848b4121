package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
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
	mem := reduce.BytesOf(buf)
	task := Task{
		call: choice.Signature{Call: schedule.Call{Op: schedule.Reduce, Count: len(buf), Root: root, InPlace: true}},
		elem: element.Combinable[T](), op: op, in: mem, out: mem,
	}
	task.set(opts)
	return task
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
	task := Task{
		call: choice.Signature{Call: schedule.Call{Op: schedule.Reduce, Count: len(src), Root: root}},
		elem: element.Combinable[T](), op: op, in: reduce.BytesOf(src), out: reduce.BytesOf(dst),
	}
	task.set(opts)
	return task
}

// ReduceFunc is Reduce with an operation of the program; see AllReduceFunc.
func ReduceFunc[T any](ctx context.Context, t *Team, root int, buf []T, fn Func[T], ordered bool, opts ...Option) (Status, error) {
	task := ReduceFuncTask(root, buf, fn, ordered, opts...)
	return t.limited(ctx, &task)
}

// ReduceFuncTask is ReduceFunc as a task.
func ReduceFuncTask[T any](root int, buf []T, fn Func[T], ordered bool, opts ...Option) Task {
	mem := reduce.BytesOf(buf)
	task := Task{
		call: choice.Signature{Call: schedule.Call{Op: schedule.Reduce, Count: len(buf), Root: root, InPlace: true}, Ordered: ordered},
		elem: element.Movable[T](), user: element.KernelOf(fn), in: mem, out: mem,
	}
	task.set(opts)
	return task
}
