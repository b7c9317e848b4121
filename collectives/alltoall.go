package collectives

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// AllToAll stores block j of src of member i in block i of dst of member j. Both
// consist of a block per member, all of one length. It blocks. dst may be src. T
// has no pointers.
func AllToAll[T any](ctx context.Context, t *Team, dst, src []T, opts ...Option) error {
	in, out := reduce.BytesOf(src), reduce.BytesOf(dst)
	g := glanceOf(schedule.AllToAll, same(out, in), 0, 0, reduce.TypeWord[T]())
	if p, err := t.again(ctx, g, opts, in, out); p != nil || err != nil {
		return err
	}
	task := AllToAllTask(t, dst, src, opts...)
	return t.do(ctx, &task)
}

// AllToAllTask is AllToAll as a task.
func AllToAllTask[T any](t *Team, dst, src []T, opts ...Option) Task {
	return allToAll(t, element.Movable[T](), reduce.BytesOf(dst), reduce.BytesOf(src), opts)
}

func allToAll(t *Team, elem element.Type, dst, src []byte, opts []Option) Task {
	block := elem.Count(src) / t.Size()
	call := schedule.Call{Op: schedule.AllToAll, Count: block, InPlace: len(src) > 0 && same(dst, src)}
	task := newTask(call, elem, operator{}, src, dst, opts)
	task.lengths("src", elem.Count(src), block*t.Size())
	task.lengths("dst", elem.Count(dst), elem.Count(src))
	return task
}

// AllToAllV is AllToAll with blocks of different lengths: this member sends
// sends[j] elements to member j and gets receives[i] from member i. Blocks lie one
// behind the other. It first tells all members the lengths, by an AllGather. When ctx
// ends in any part of it, the same call made again, with the same lengths, goes on.
func AllToAllV[T any](ctx context.Context, t *Team, dst []T, receives []int, src []T, sends []int, opts ...Option) error {
	task := allToAllV(t, element.Movable[T](), reduce.MemoryOf(dst), receives, reduce.MemoryOf(src), sends, opts)
	return task.tellAnd(ctx, t, sends, receives, (*Team).call)
}

// AllToAllVTask is AllToAllV as a task. It is collective and blocks until the
// lengths are known. When ctx ends first, the same call made again goes on.
func AllToAllVTask[T any](ctx context.Context, t *Team, dst []T, receives []int, src []T, sends []int, opts ...Option) (Task, error) {
	task := allToAllV(t, element.Movable[T](), reduce.MemoryOf(dst), receives, reduce.MemoryOf(src), sends, opts)
	err := task.tellAnd(ctx, t, sends, receives, func(*Team, context.Context, *Task) error { return nil })
	return task, err
}

// allToAllV is the task as far as one member alone knows it.
func allToAllV(t *Team, elem element.Type, dst []byte, receives []int, src []byte, sends []int, opts []Option) Task {
	task := newTask(schedule.Call{Op: schedule.AllToAll, Counts: []int{}, InPlace: same(dst, src)}, elem, operator{}, src, dst, opts)
	task.lengths("sends", len(sends), t.Size())
	task.lengths("receives", len(receives), t.Size())
	if task.err == nil {
		task.lengths("src", elem.Count(src), sum(sends))
		task.lengths("dst", elem.Count(dst), sum(receives))
	}
	return task
}

// tellAnd tells all members the lengths, and then has the team do something.
func (task *Task) tellAnd(ctx context.Context, t *Team, sends, receives []int, next func(*Team, context.Context, *Task) error) error {
	if !t.engine.Enter() {
		return refused(task.String())
	}
	defer t.engine.Leave()
	x, err := task.tellCounts(ctx, t, sends, receives)
	if err == nil {
		err = next(t, ctx, task)
	}
	if nap.Ended(err) {
		t.early.lengths = x
	}
	return err
}

// Statements of a member about its buffers, beside their lengths: only members that have
// elements know whether dst is src.
const (
	apart = iota
	together
	noElements
)

// A blockLength is what a member tells of a block: the length in elements. Its AllGather matches no
// call of the program.
type blockLength int64

// A telling is how members tell each other the lengths of an AllToAllV. The team keeps
// that of a call that ended early, for the same call to go on with.
type telling struct {
	task            Task // as far as this member alone knows it
	sends, receives []int
	row, rows       []blockLength
	done            bool
}

// newTelling copies the lengths: the caller's are its own when the call has ended.
func newTelling(t *Team, task *Task, sends, receives []int) *telling {
	size := t.Size()
	x := &telling{
		task: *task, sends: slices.Clone(sends), receives: slices.Clone(receives),
		row: make([]blockLength, size+1), rows: make([]blockLength, size*(size+1)),
	}
	for i, n := range sends {
		x.row[i] = blockLength(n)
	}
	switch {
	case len(task.in) == 0 && len(task.out) == 0:
		x.row[size] = noElements
	case task.call.InPlace:
		x.row[size] = together
	}
	return x
}

// of reports whether x is that of a call.
func (x *telling) of(task *Task, sends, receives []int) bool {
	return start(x.task.in) == start(task.in) && start(x.task.out) == start(task.out) && x.task.elem == task.elem &&
		x.task.call.Options == task.call.Options && slices.Equal(x.sends, sends) && slices.Equal(x.receives, receives)
}

// tellCounts tells all members how much this one sends to each, and stores in the task
// how much all do. It also finds out whether the operation is in place. It takes what an
// earlier call left in the team, and returns what to leave there if this one ends early.
func (task *Task) tellCounts(ctx context.Context, t *Team, sends, receives []int) (*telling, error) {
	if err := t.usable(task); err != nil {
		return nil, t.failed(task, err)
	}
	x := t.early.lengths
	if x == nil {
		x = newTelling(t, task, sends, receives)
	} else if !x.of(task, sends, receives) {
		return nil, t.failed(task, unfinished(&x.task))
	}
	t.early.lengths = nil
	if !x.done {
		lengths := AllGatherTask(t, x.rows, x.row)
		if err := t.call(ctx, &lengths); err != nil {
			return x, err
		}
		x.done = true
	}
	return x, x.complete(t, task, receives)
}

// complete stores in the task what all members told.
func (x *telling) complete(t *Team, task *Task, receives []int) error {
	size := t.Size()
	matrix := make([]int, 0, size*size)
	said := make(map[blockLength]bool)
	for row := range slices.Chunk(x.rows, size+1) {
		for _, n := range row[:size] {
			matrix = append(matrix, int(n))
		}
		said[row[size]] = true
	}
	if x.row[size] == noElements {
		task.call.InPlace = said[together]
	}
	task.call.Counts = matrix
	for i, want := range receives {
		if n := matrix[i*size+t.me]; n != want {
			task.err = fmt.Errorf("%w: rank %d sends %d elements to this one, which wants %d", gaspi.ErrMismatch, t.ranks[i], n, want)
		}
	}
	if task.err != nil {
		return t.failed(task, task.err)
	}
	return nil
}

// sum is the elements of all blocks, math.MaxInt where they are more.
func sum(counts []int) int {
	n := 0
	for _, k := range counts {
		if n > 0 && k > math.MaxInt-n {
			return math.MaxInt
		}
		n += k
	}
	return n
}
