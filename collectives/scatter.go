package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Scatter stores block i of src of member root in dst of member i. Blocks have
// len(dst) elements. It blocks. src of others is not used, but for buffers of
// Alloc it is given by all, and may otherwise be nil. T has no pointers.
func Scatter[T any](ctx context.Context, t *Team, root int, dst, src []T, opts ...Option) error {
	task := ScatterTask(t, root, dst, src, opts...)
	return t.do(ctx, &task)
}

// ScatterTask is Scatter as a task.
func ScatterTask[T any](t *Team, root int, dst, src []T, opts ...Option) Task {
	return scatter(t, root, element.Movable[T](), reduce.MemoryOf(dst), reduce.MemoryOf(src), nil, opts)
}

// ScatterV is Scatter with blocks of different lengths: block i has counts[i]
// elements, the same on all members.
func ScatterV[T any](ctx context.Context, t *Team, root int, dst, src []T, counts []int, opts ...Option) error {
	task := ScatterVTask(t, root, dst, src, counts, opts...)
	return t.do(ctx, &task)
}

// ScatterVTask is ScatterV as a task.
func ScatterVTask[T any](t *Team, root int, dst, src []T, counts []int, opts ...Option) Task {
	return scatter(t, root, element.Movable[T](), reduce.MemoryOf(dst), reduce.MemoryOf(src), blocks(counts), opts)
}

func scatter(t *Team, root int, elem element.Type, dst, src []byte, counts []int, opts []Option) Task {
	block, long := elem.Count(dst), elem.Count(src)
	task := newTask(schedule.Call{Op: schedule.Scatter, Root: root, Count: block, Counts: counts}, elem, operator{}, src, dst, opts)
	if t.me != root && long == 0 {
		long = task.total(t)
	}
	task.blockwise(t, "dst", block, "src", long)
	return task
}
