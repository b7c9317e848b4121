package collectives

import (
	"context"
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/schedule"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
)

// AllToAll stores block j of src of member i in block i of dst of member j. Both
// consist of a block per member, all of one length. It blocks. dst may be src. T
// has no pointers.
func AllToAll[T any](ctx context.Context, t *Team, dst, src []T, opts ...Option) error {
	in, out := reduce.BytesOf(src), reduce.BytesOf(dst)
	g := glance{schedule.AllToAll, same(dst, src), 0, 0, reduce.TypeWord[T](), len(in), len(out)}
	if p, err := t.again(ctx, &g, opts, in, out); p != nil || err != nil {
		return err
	}
	task := AllToAllTask(t, dst, src, opts...)
	return t.do(ctx, &task)
}

// AllToAllTask is AllToAll as a task.
func AllToAllTask[T any](t *Team, dst, src []T, opts ...Option) Task {
	task := Task{
		call: schedule.Call{Op: schedule.AllToAll, Count: len(src) / t.Size(), InPlace: len(src) > 0 && same(dst, src)},
		elem: movable[T](), in: reduce.BytesOf(src), out: reduce.BytesOf(dst),
	}
	task.tuned(opts)
	task.lengths("src", len(src), task.call.Count*t.Size())
	task.lengths("dst", len(dst), len(src))
	return task
}

// AllToAllV is AllToAll with blocks of different lengths: this member sends
// sends[j] elements to member j and gets receives[i] from member i. Blocks lie one
// behind the other. It first tells all members the lengths, by an AllGather.
func AllToAllV[T any](ctx context.Context, t *Team, dst []T, receives []int, src []T, sends []int, opts ...Option) error {
	task, err := AllToAllVTask(ctx, t, dst, receives, src, sends, opts...)
	if err != nil {
		return err
	}
	return t.do(ctx, &task)
}

// AllToAllVTask is AllToAllV as a task. It is collective and blocks until the
// lengths are known.
func AllToAllVTask[T any](ctx context.Context, t *Team, dst []T, receives []int, src []T, sends []int, opts ...Option) (Task, error) {
	task := Task{
		call: schedule.Call{Op: schedule.AllToAll, InPlace: same(dst, src)},
		elem: movable[T](), in: memoryOf(src), out: memoryOf(dst),
	}
	task.tuned(opts)
	task.lengths("sends", len(sends), t.Size())
	task.lengths("receives", len(receives), t.Size())
	if task.err == nil {
		task.lengths("src", len(src), sum(sends))
		task.lengths("dst", len(dst), sum(receives))
	}
	if task.err != nil {
		return task, t.failed(&task, task.err)
	}
	matrix, err := task.tellCounts(ctx, t, sends)
	if err != nil {
		return task, err
	}
	task.call.Counts = matrix
	for i, want := range receives {
		if n := matrix[i*t.Size()+t.me]; n != want {
			task.err = fmt.Errorf("%w: rank %d sends %d elements to this one, which wants %d", gaspi.ErrMismatch, t.ranks[i], n, want)
		}
	}
	if task.err != nil {
		return task, t.failed(&task, task.err)
	}
	return task, nil
}

// What members say of their buffers beside the lengths: only those that have
// elements know whether dst is src.
const (
	apart = iota
	together
	noElements
)

// tellCounts tells all members how much this one sends to each, and returns what
// all do. It also finds out whether the operation is in place.
func (task *Task) tellCounts(ctx context.Context, t *Team, sends []int) ([]int, error) {
	size := t.Size()
	row, rows := make([]int64, size+1), make([]int64, size*(size+1))
	for i, n := range sends {
		row[i] = int64(n)
	}
	switch {
	case len(task.in) == 0 && len(task.out) == 0:
		row[size] = noElements
	case task.call.InPlace:
		row[size] = together
	}
	if err := AllGather(ctx, t, rows, row); err != nil {
		return nil, err
	}
	var matrix []int
	said := make(map[int64]bool)
	for row := range slices.Chunk(rows, size+1) {
		for _, n := range row[:size] {
			matrix = append(matrix, int(n))
		}
		said[row[size]] = true
	}
	if row[size] == noElements {
		task.call.InPlace = said[together]
	}
	return matrix, nil
}

func sum(counts []int) int {
	n := 0
	for _, k := range counts {
		n += k
	}
	return n
}
