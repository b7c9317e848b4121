package collectives

import (
	"context"
	"fmt"

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
	return inPlace(schedule.AllReduce, 0, element.Combinable[T](), operator{op: op}, reduce.BytesOf(buf), opts)
}

// AllReduceInto is AllReduce from src, which it leaves as it is, into dst. The two
// have the same length and do not overlap.
func AllReduceInto[T Element](ctx context.Context, t *Team, dst, src []T, op Op, opts ...Option) error {
	task := AllReduceIntoTask(dst, src, op, opts...)
	return t.do(ctx, &task)
}

// AllReduceIntoTask is AllReduceInto as a task.
func AllReduceIntoTask[T Element](dst, src []T, op Op, opts ...Option) Task {
	return allReduceInto(element.Combinable[T](), op, reduce.BytesOf(dst), reduce.BytesOf(src), opts)
}

func allReduceInto(elem element.Type, op Op, dst, src []byte, opts []Option) Task {
	task := newTask(schedule.Call{Op: schedule.AllReduce, Count: elem.Count(src)}, elem, operator{op: op}, src, dst, opts)
	task.lengths("dst", elem.Count(dst), elem.Count(src))
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
	return allReduceMany(element.Combinable[T](), operator{op: op}, reduce.VectorsOf(bufs), opts)
}

// AllReduceManyFunc is AllReduceMany with an operation of the program; see AllReduceFunc. If it is
// ordered, the result is the fold in the order of the members, of each member's vectors in their order.
func AllReduceManyFunc[T any](ctx context.Context, t *Team, bufs [][]T, fn Func[T], ordered bool, opts ...Option) error {
	task := AllReduceManyFuncTask(bufs, fn, ordered, opts...)
	return t.do(ctx, &task)
}

// AllReduceManyFuncTask is AllReduceManyFunc as a task.
func AllReduceManyFuncTask[T any](bufs [][]T, fn Func[T], ordered bool, opts ...Option) Task {
	return allReduceMany(element.Movable[T](), function(fn, ordered), reduce.VectorsOf(bufs), opts)
}

func allReduceMany(elem element.Type, by operator, bufs reduce.Vectors, opts []Option) Task {
	return withOthers(inPlace(schedule.AllReduce, 0, elem, by, bufs.First(), opts), bufs)
}

// withOthers adds all vectors but the first to a task. To have none is an error.
func withOthers(task Task, all reduce.Vectors) Task {
	if all.Len() == 0 {
		task.err = fmt.Errorf("%w: no vectors; want at least one", gaspi.ErrOutOfRange)
		return task
	}
	task.add(make([][]byte, 0, all.Len()-1), all.Rest())
	return task
}

// add adds further vectors to a task, whose memory it appends to a slice.
func (task *Task) add(to [][]byte, others reduce.Vectors) {
	task.call.Extra = others.Len()
	for i := range others.Len() {
		mem := others.At(i)
		if to = append(to, mem); len(mem) != len(task.in) { // or else the name would be made for nothing
			task.lengths(fmt.Sprintf("vector %d", i+1), task.elem.Count(mem), task.elem.Count(task.in))
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
	return inPlace(schedule.AllReduce, 0, element.Movable[T](), function(fn, ordered), reduce.BytesOf(buf), opts)
}

// PlanAllReduce is NewPlan of an AllReduce.
func PlanAllReduce[T Element](ctx context.Context, t *Team, buf []T, op Op, opts ...Option) (*Plan, error) {
	return NewPlan(ctx, t, AllReduceTask(buf, op, opts...))
}
