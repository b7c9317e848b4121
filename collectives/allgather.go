package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// AllGather stores src of member i in block i of dst, on all members. Blocks have
// len(src) elements. It blocks. src may be this member's block of dst itself, on
// all members alike. T has no pointers.
func AllGather[T any](ctx context.Context, t *Team, dst, src []T, opts ...Option) error {
	out := reduce.BytesOf(dst)
	in, inPlace := within(out, reduce.BytesOf(src), t)
	g := glanceOf(schedule.AllGather, inPlace, 0, 0, reduce.TypeWord[T]())
	if p, err := t.again(ctx, g, opts, in, out); p != nil || err != nil {
		return err
	}
	task := AllGatherTask(t, dst, src, opts...)
	return t.do(ctx, &task)
}

// AllGatherTask is AllGather as a task.
func AllGatherTask[T any](t *Team, dst, src []T, opts ...Option) Task {
	return allGather(t, element.Movable[T](), reduce.MemoryOf(dst), reduce.MemoryOf(src), nil, opts)
}

// AllGatherV is AllGather with blocks of different lengths: block i has counts[i]
// elements, the same on all members.
func AllGatherV[T any](ctx context.Context, t *Team, dst, src []T, counts []int, opts ...Option) error {
	task := AllGatherVTask(t, dst, src, counts, opts...)
	return t.do(ctx, &task)
}

// AllGatherVTask is AllGatherV as a task.
func AllGatherVTask[T any](t *Team, dst, src []T, counts []int, opts ...Option) Task {
	return allGather(t, element.Movable[T](), reduce.MemoryOf(dst), reduce.MemoryOf(src), blocks(counts), opts)
}

func allGather(t *Team, elem element.Type, dst, src []byte, counts []int, opts []Option) Task {
	block := elem.Count(src)
	task := newTask(schedule.Call{Op: schedule.AllGather, Count: block, Counts: counts}, elem, operator{}, src, dst, opts)
	task.blockwise(t, "src", block, "dst", elem.Count(dst))
	if isInPlace(&task, t, dst, src) {
		task.call.InPlace, task.in = true, task.out
	}
	return task
}
