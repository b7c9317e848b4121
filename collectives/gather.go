package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Gather stores src of member i in block i of dst of member root. Blocks have
// len(src) elements. It blocks. dst of others is not used, but for buffers of
// Alloc it is given by all, and may otherwise be nil. T has no pointers.
func Gather[T any](ctx context.Context, t *Team, root int, dst, src []T, opts ...Option) error {
	task := GatherTask(t, root, dst, src, opts...)
	return t.do(ctx, &task)
}

// GatherTask is Gather as a task.
func GatherTask[T any](t *Team, root int, dst, src []T, opts ...Option) Task {
	return gather(t, root, element.Movable[T](), reduce.MemoryOf(dst), reduce.MemoryOf(src), nil, opts)
}

// GatherV is Gather with blocks of different lengths: block i has counts[i]
// elements, the same on all members.
func GatherV[T any](ctx context.Context, t *Team, root int, dst, src []T, counts []int, opts ...Option) error {
	task := GatherVTask(t, root, dst, src, counts, opts...)
	return t.do(ctx, &task)
}

// GatherVTask is GatherV as a task.
func GatherVTask[T any](t *Team, root int, dst, src []T, counts []int, opts ...Option) Task {
	return gather(t, root, element.Movable[T](), reduce.MemoryOf(dst), reduce.MemoryOf(src), blocks(counts), opts)
}

func gather(t *Team, root int, elem element.Type, dst, src []byte, counts []int, opts []Option) Task {
	block, long := elem.Count(src), elem.Count(dst)
	task := newTask(schedule.Call{Op: schedule.Gather, Root: root, Count: block, Counts: counts}, elem, operator{}, src, dst, opts)
	if t.me != root && long == 0 {
		long = task.total(t)
	}
	task.blockwise(t, "src", block, "dst", long)
	return task
}
