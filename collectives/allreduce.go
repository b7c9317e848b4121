package collectives

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// AllReduce combines the vectors buf of all members element by element and stores
// the result in buf on all of them, the same bits everywhere. It blocks. The length
// is the same on all members.
func AllReduce[T Element](ctx context.Context, t *Team, buf []T, op Op, opts ...Option) error {
	mem := reduce.BytesOf(buf)
	g := glanceOf(schedule.AllReduce, true, op, 0, reduce.TypeWord[T]())
	if p, err := t.again(ctx, g, opts, mem, mem); p != nil || err != nil {
		return err
	}
	task := AllReduceTask(buf, op, opts...)
	return t.do(ctx, &task)
}

// AllReduceTask is AllReduce as a task.
func AllReduceTask[T Element](buf []T, op Op, opts ...Option) Task {
	mem := reduce.BytesOf(buf)
	task := Task{
		call: choice.Signature{Call: schedule.Call{Op: schedule.AllReduce, Count: len(buf), InPlace: true}},
		elem: element.Combinable[T](), op: op, in: mem, out: mem,
	}
	task.set(opts)
	return task
}

// AllReduceInto is AllReduce from src, which it leaves as it is, into dst. The two
// have the same length and do not overlap.
func AllReduceInto[T Element](ctx context.Context, t *Team, dst, src []T, op Op, opts ...Option) error {
	task := AllReduceIntoTask(dst, src, op, opts...)
	return t.do(ctx, &task)
}

// AllReduceIntoTask is AllReduceInto as a task.
func AllReduceIntoTask[T Element](dst, src []T, op Op, opts ...Option) Task {
	task := Task{
		call: choice.Signature{Call: schedule.Call{Op: schedule.AllReduce, Count: len(src)}},
		elem: element.Combinable[T](), op: op, in: reduce.BytesOf(src), out: reduce.BytesOf(dst),
	}
	task.set(opts)
	task.lengths("dst", len(dst), len(src))
	return task
}

// AllReduceMany combines several vectors of each member, all of one length, and
// stores the result in each of them: a local reduction, an exchange and a local
// copy, fused where the vector is cut into segments.
func AllReduceMany[T Element](ctx context.Context, t *Team, bufs [][]T, op Op, opts ...Option) error {
	if len(bufs) == 0 {
		return Do(ctx, t, AllReduceManyTask(bufs, op))
	}
	mem, others := reduce.BytesOf(bufs[0]), reduce.VectorsOf(bufs[1:])
	g := glanceOf(schedule.AllReduce, true, op, 0, reduce.TypeWord[T]())
	if p, err := t.againMany(ctx, g, opts, mem, mem, others); p != nil || err != nil {
		return err
	}
	task := AllReduceTask(bufs[0], op, opts...)
	return t.doMany(ctx, &task, others)
}

// AllReduceManyTask is AllReduceMany as a task.
func AllReduceManyTask[T Element](bufs [][]T, op Op, opts ...Option) Task {
	if len(bufs) == 0 {
		return noVectors(AllReduceTask[T](nil, op))
	}
	return withOthers(AllReduceTask(bufs[0], op, opts...), bufs)
}

// AllReduceManyFunc is AllReduceMany with an operation of the program; see AllReduceFunc. If it is
// ordered, the result is the fold in the order of the members, of each member's vectors in their order.
func AllReduceManyFunc[T any](ctx context.Context, t *Team, bufs [][]T, fn Func[T], ordered bool, opts ...Option) error {
	task := AllReduceManyFuncTask(bufs, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// AllReduceManyFuncTask is AllReduceManyFunc as a task.
func AllReduceManyFuncTask[T any](bufs [][]T, fn Func[T], ordered bool, opts ...Option) Task {
	if len(bufs) == 0 {
		return noVectors(AllReduceFuncTask(nil, fn, ordered))
	}
	return withOthers(AllReduceFuncTask(bufs[0], fn, ordered, opts...), bufs)
}

// noVectors is a task that has no vector, which is an error.
func noVectors(task Task) Task {
	task.err = fmt.Errorf("%w: no vectors; want at least one", gaspi.ErrOutOfRange)
	return task
}

// withOthers adds all vectors but the first to a task.
func withOthers[T any](task Task, bufs [][]T) Task {
	task.add(make([][]byte, 0, len(bufs)-1), reduce.VectorsOf(bufs[1:]))
	return task
}

// add adds further vectors to a task, whose memory it appends to a slice.
func (task *Task) add(to [][]byte, others reduce.Vectors) {
	task.call.Extra = others.Len()
	for i := range others.Len() {
		mem := others.At(i)
		if to = append(to, mem); len(mem) != len(task.in) { // or else the name would be made for nothing
			task.lengths(fmt.Sprintf("vector %d", i+1), len(mem)/task.elem.Size, len(task.in)/task.elem.Size)
		}
	}
	task.extra = to
}

// AllReduceFunc is AllReduce with an operation of the program on elements of any
// type without pointers. ordered says that it does not commute: then the result is
// the fold in the order of the members.
func AllReduceFunc[T any](ctx context.Context, t *Team, buf []T, fn Func[T], ordered bool, opts ...Option) error {
	task := AllReduceFuncTask(buf, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// AllReduceFuncTask is AllReduceFunc as a task.
func AllReduceFuncTask[T any](buf []T, fn Func[T], ordered bool, opts ...Option) Task {
	mem := reduce.BytesOf(buf)
	task := Task{
		call: choice.Signature{Call: schedule.Call{Op: schedule.AllReduce, Count: len(buf), InPlace: true}, Ordered: ordered},
		elem: element.Movable[T](), user: element.KernelOf(fn), in: mem, out: mem,
	}
	task.set(opts)
	return task
}

// PlanAllReduce is NewPlan of an AllReduce.
func PlanAllReduce[T Element](ctx context.Context, t *Team, buf []T, op Op, opts ...Option) (*Plan, error) {
	return NewPlan(ctx, t, AllReduceTask(buf, op, opts...))
}
