package collectives

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// A Task is one rank's part in a collective operation: what to do, and with which
// buffers. AllReduceTask and the others of its kind make it; Start begins it, and
// NewPlan prepares it to be run often. Making a task does nothing, and finds no
// fault: errors are those of its user.
type Task struct {
	call choice.Signature // its place in the team is set in the draft of a plan
	elem element.Type
	op   Op
	user reduce.Kernel // the program's operation, or nil

	in, out []byte
	extra   [][]byte // further vectors of the rank, reduced together with out
	limited bool     // the thresholds of the options are applied
	of      int      // elements of the vector before they were
	err     error
}

// String is the call as messages show it: "allreduce (sum of 10 float64)".
func (task *Task) String() string {
	c := &task.call
	if task.elem.Type == reflect.TypeFor[blockLength]() {
		return "alltoallv"
	}
	what := fmt.Sprintf("%d %v", c.Count, task.elem.Type)
	if c.Counts != nil {
		what = fmt.Sprintf("blocks of %v", task.elem.Type)
	}
	switch {
	case c.Op == schedule.Barrier:
		return "barrier"
	case task.user != nil:
		what = "a function of " + what
	case c.Op.Reduces():
		what = task.op.String() + " of " + what
	}
	if c.Extra > 0 {
		what += fmt.Sprintf(" x %d vectors", c.Extra+1)
	}
	if c.Op.Rooted() {
		what += fmt.Sprintf(", root %d", c.Root)
	}
	if how := task.call.Options.Compress; !how.None() {
		what += fmt.Sprintf(", %v", how)
	}
	return fmt.Sprintf("%v (%s)", c.Op, what)
}

// Start begins a task; see Handle. It blocks only when the team's memory for plans
// is used up, until all members have come as far, and for a moment while an earlier operation goes on
// in the background. The buffers are the team's until the handle says that the operation has ended.
func Start(ctx context.Context, t *Team, task Task) (*Handle, error) {
	if !t.engine.Enter() {
		return nil, refused(task.String())
	}
	defer t.engine.Leave()
	if err := t.usable(&task); err != nil {
		return nil, t.failed(&task, err)
	}
	t.limit(&task)
	p, err := t.plan(ctx, &task)
	if err != nil {
		return nil, t.failed(&task, err)
	}
	r := new(run) // its handle may be asked long after
	r.prepare(p)
	t.ops.begin(r, &task)
	t.carryOn(r)
	return &r.handle, nil
}

// Do runs a task: Start and Wait. When ctx ends first, the same call made again
// goes on with the operation that is under way.
func Do(ctx context.Context, t *Team, task Task) error { return t.do(ctx, &task) }

func (t *Team) do(ctx context.Context, task *Task) error {
	if !t.engine.Enter() {
		return refused(task.String())
	}
	defer t.engine.Leave()
	return t.call(ctx, task)
}

// doMany is do of a task to which further vectors are added. It borrows them, and makes no slice of them.
func (t *Team) doMany(ctx context.Context, task *Task, others reduce.Vectors) error {
	if !t.engine.Enter() {
		return refused(task.String())
	}
	defer t.engine.Leave()
	task.add(t.others[:0], others)
	t.others = task.extra
	defer clear(t.others)
	return t.call(ctx, task)
}

// call is do in a call of the team.
func (t *Team) call(ctx context.Context, task *Task) error {
	if t.early.single != nil || t.early.plan != nil || t.closed || t.broken != nil || t.own.Revoked() != nil || task.err != nil {
		return t.doSlow(ctx, task)
	}
	return t.doNew(ctx, task)
}

// doNew is do of what is not under way.
func (t *Team) doNew(ctx context.Context, task *Task) error {
	t.limit(task)
	p, err := t.plan(ctx, task)
	if err != nil {
		return t.failed(task, err)
	}
	begun := t.member.Timeline.Begin()
	t.ops.begin(&p.run, task)
	err = t.complete(ctx, &p.run)
	t.recordCall(p.name, begun)
	return err
}

// limit applies the thresholds of a task's options to it, once.
func (t *Team) limit(task *Task) {
	if task.limited {
		return
	}
	task.limited, task.of = true, task.call.Count
	task.call.Count = kept(task.of, task.call.Options.Threshold)
	if f := task.call.Options.Engaged; f > 0 && task.call.Root >= 0 && task.call.Root < t.Size() {
		task.call.Engaged = algorithms.Engage(t.Size(), task.call.Root, f)
	}
}

// kept is how many of n elements a threshold keeps: ceil(fraction x n).
func kept(n int, fraction float64) int {
	if fraction == 0 {
		return n
	}
	return min(n, int(math.Ceil(fraction*float64(n))))
}

// doSlow is do where something is in the way.
func (t *Team) doSlow(ctx context.Context, task *Task) error {
	if err := t.usable(task); err != nil {
		return t.failed(task, err)
	}
	r := t.early.single
	if r == nil {
		return t.doNew(ctx, task)
	}
	t.limit(task)
	k := task.key(t)
	if k != r.p.key || start(task.out) != t.early.out || start(task.in) != t.early.in || !slices.Equal(starts(task.extra), t.early.others) {
		return t.failed(task, unfinished(&r.p.task))
	}
	if err := t.finish(ctx, r); err != nil {
		return r.failed(err)
	}
	t.early.single, t.early.in, t.early.out, t.early.others = nil, nil, nil, nil
	return nil
}

// check returns what is wrong with a task before it is planned.
func (task *Task) check(t *Team) error {
	if task.call.Op == schedule.Barrier {
		return nil
	}
	if err := task.elem.Check(); err != nil {
		return err
	}
	if task.call.Op.Reduces() && task.user == nil {
		if err := task.combinable(); err != nil {
			return err
		}
	}
	c := task.call
	c.Size, c.Line = len(t.ranks), 1
	if c.Op.Rooted() && (c.Root < 0 || c.Root >= c.Size) {
		return fmt.Errorf("%w: root %d of %d members", gaspi.ErrBadRank, c.Root, c.Size)
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("%w: %w", gaspi.ErrOutOfRange, err)
	}
	return task.room(t)
}

// combinable returns why the operation of a task is nothing on its elements, or nil.
func (task *Task) combinable() error {
	if _, err := task.elem.Folds(task.op); err != nil || !task.isAverage() {
		return err
	}
	switch op := task.call.Op; {
	case op != schedule.AllReduce && op != schedule.ReduceScatter:
		return fmt.Errorf("%w: %v has no average; only allreduce and reducescatter have", gaspi.ErrNotSupported, op)
	case task.elem.Quotient() == nil:
		return fmt.Errorf("%w: average of elements of type %v; it is for floating-point numbers", gaspi.ErrOutOfRange, task.elem.Type)
	}
	return nil
}

// isAverage reports whether sums of the task are divided.
func (task *Task) isAverage() bool {
	return task.op == Average && task.user == nil && task.call.Op.Reduces()
}

// room returns why the root's result of a Reduce does not fit, which nobody else
// knows, or nil.
func (task *Task) room(t *Team) error {
	if c := &task.call; c.Op == schedule.Reduce && !c.InPlace && c.Root == t.me && len(task.out) != len(task.in) {
		size := task.elem.Size
		return fmt.Errorf("%w: dst has %d elements; want %d", gaspi.ErrOutOfRange, len(task.out)/size, len(task.in)/size)
	}
	return nil
}

// blocks is the block sizes that a caller passed: a copy, and never nil. Its callers are compiled for
// each type of elements.
//
//go:noinline
func blocks(counts []int) []int { return append([]int{}, counts...) }

// blockwise checks the lengths of the buffers of an operation on blocks: one is
// this member's block, the other all of them.
func (task *Task) blockwise(t *Team, short string, block int, long string, all int) {
	c := &task.call
	if c.Counts != nil {
		c.Count = 0 // choices see what all members know alike, and not this member's block
		if len(c.Counts) != t.Size() {
			task.lengths("counts", len(c.Counts), t.Size())
			return
		}
		if i := slices.IndexFunc(c.Counts, func(n int) bool { return n < 0 }); i >= 0 {
			if task.err == nil {
				task.err = fmt.Errorf("%w: a block has %d elements; want 0 or more", gaspi.ErrOutOfRange, c.Counts[i])
			}
			return
		}
		if n := sum(c.Counts); n > task.elem.Most() && task.err == nil {
			task.err = fmt.Errorf("%w: the blocks have %d elements of type %v or more; want at most %d", gaspi.ErrOutOfRange, n, task.elem.Type, task.elem.Most())
			return
		}
		task.lengths(short, block, c.Counts[t.me])
	}
	task.lengths(long, all, task.total(t))
}

// total is the elements of all blocks.
func (task *Task) total(t *Team) int {
	if task.call.Counts == nil {
		return task.call.Count * t.Size()
	}
	return sum(task.call.Counts)
}

// An operator combines elements: an operation of the package, or a function of the program. Operations
// that combine nothing have the zero operator.
type operator struct {
	op      Op
	user    reduce.Kernel
	ordered bool
}

// function is the operator of a function of the program.
func function[T any](fn Func[T], ordered bool) operator {
	return operator{user: element.KernelOf(fn), ordered: ordered}
}

// newTask is a task with its options set.
func newTask(call schedule.Call, elem element.Type, by operator, in, out []byte, opts []Option) Task {
	task := Task{call: choice.Signature{Call: call, Ordered: by.ordered}, elem: elem, op: by.op, user: by.user, in: in, out: out}
	task.set(opts)
	return task
}

// inPlace is a task on a vector that is input and result.
func inPlace(op schedule.Operation, root int, elem element.Type, by operator, mem []byte, opts []Option) Task {
	return newTask(schedule.Call{Op: op, Count: elem.Count(mem), Root: root, InPlace: true}, elem, by, mem, mem, opts)
}

// isInPlace reports whether a member's block is the part of the longer vector that the
// operation takes it for. Of an empty block nobody can say: one behind the vector and an
// empty part at its end are the same slice. So where some block is empty, none is in
// place, and what is done is right for both.
func isInPlace(task *Task, t *Team, long, block []byte) bool {
	if task.err != nil || task.call.Counts == nil && len(block) == 0 || task.call.SomeBlockEmpty() {
		return false
	}
	off, _ := task.call.Block(t.me)
	return reduce.SameStart(block, long[off*task.elem.Size:])
}

// within returns the longer vector and true if a block is this member's of it, where blocks are of one length; else the
// block and false.
func within(long, block []byte, t *Team) ([]byte, bool) {
	if len(block) > 0 && len(block)*len(t.ranks) == len(long) && &long[t.me*len(block)] == &block[0] {
		return long, true
	}
	return block, false
}

// same reports whether two slices are the same memory. Of empty ones it says
// whether they are the same part of a slice.
func same(x, y []byte) bool { return len(x) == len(y) && x != nil && reduce.SameStart(x, y) }

// lengths notes that a buffer has another length than it must have.
func (task *Task) lengths(what string, got, want int) {
	if got != want && task.err == nil {
		task.err = fmt.Errorf("%w: %s has %d elements; want %d", gaspi.ErrOutOfRange, what, got, want)
	}
}
