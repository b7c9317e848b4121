package collectives

import (
	"cmp"
	"context"
	"iter"

	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/element"
	"github.com/gaspi-go/gaspi-go/collectives/internal/memory"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file finds the plan that serves a single call. Most calls are like the call before: same
// operation, same buffers. Team.again finds that out in a few nanoseconds, and runs a plan of a single
// lane without the bookkeeping of operations that are under way side by side. Team.plan finds the plan
// of any other call by its key, or makes it.

// A glance is what two single calls must have in common, beside options, further vectors and lengths of buffers, to be
// served by one plan, as far as it can be compared quickly. Block sizes and functions
// cannot. It has three words, which the compiler keeps in registers.
type glance struct {
	what uint32 // operation, fold, and whether it is in place
	root int
	typ  uintptr // of reduce.TypeWord
}

func glanceOf(op schedule.Operation, inPlace bool, fold Op, root int, typ uintptr) glance {
	what := uint32(op)<<16 | uint32(fold)<<8
	if inPlace {
		what |= 1
	}
	return glance{what, root, typ}
}

// many is the glance of a call with so many further vectors, which another one may have only if there are none.
func (g glance) many(others int) glance {
	if others > 0 {
		g.what |= 2
	}
	return g
}

// again runs the last plan again if a call is what it was made for, and returns it
// if it was. It is as run.quickly does it, with no calls between that the shortest operations would feel.
func (t *Team) again(ctx context.Context, g glance, opts []Option, in, out []byte) (*Plan, error) {
	if !t.engine.Enter() {
		return nil, refused(schedule.Operation(g.what >> 16).String())
	}
	p := t.plans.last
	if p == nil {
		t.engine.Leave()
		return nil, nil
	}
	p.prog.Expect() // before the checks, so that it comes meanwhile
	if p.repeat.glance != g || !p.bound(in, out) || !p.idle(ctx) || !p.hasOptions(opts) {
		t.engine.Leave()
		return nil, nil
	}
	r := &p.run
	r.exec.Bind(in, out, nil, nil)
	r.alone()
	err := r.exec.Run(ctx, r.call) // calls nothing of the program, which might panic
	if t.member.Timeline != nil {
		r.recordQuick(err)
	}
	if err != nil {
		err = r.slowly(ctx)
	} else {
		r.divide()
		r.counted()
	}
	t.engine.Leave()
	return p, err
}

// againMany is again of a call with further vectors beside in and out. They are borrowed until the call ends, and the
// slice that holds them until againMany returns.
func (t *Team) againMany(ctx context.Context, g glance, opts []Option, in, out []byte, others reduce.Vectors) (*Plan, error) {
	g = g.many(others.Len())
	if !t.engine.Enter() {
		return nil, refused(schedule.Operation(g.what >> 16).String())
	}
	defer t.engine.Leave()
	p := t.plans.last
	if p == nil || p.repeat.glance != g || !p.bound(in, out) || !p.boundOthers(others) || !p.idle(ctx) || !p.hasOptions(opts) {
		return nil, nil
	}
	p.run.exec.Bind(in, out, nil, nil)
	for i := range others.Len() {
		p.run.exec.BindExtra(i, others.At(i))
	}
	return p, p.run.quickly(ctx)
}

// plan is the plan of a single call.
func (t *Team) plan(ctx context.Context, task *Task) (*Plan, error) {
	k := task.key(t)
	if err := cmp.Or(t.hindered(k), task.room(t)); err != nil {
		return nil, err
	}
	if t.plans.last != nil && t.plans.last.key == k {
		return t.plans.last, nil
	}
	p := t.plans.byKey[k]
	if p == nil {
		if err := task.check(t); err != nil {
			return nil, err
		}
		made, err := t.newPlan(ctx, task, k)
		if err != nil {
			return nil, err
		}
		made.task.in, made.task.out, made.task.extra = nil, nil, nil
		if task.call.Counts == nil && task.user == nil {
			made.repeat.optionless = task.call.Options == (choice.Settings{})
			made.repeat.glance = glanceOf(task.call.Op, task.call.InPlace, task.op, task.call.Root, reduce.TypeWordOf(task.elem.Type)).many(len(task.extra))
			made.repeat.inBytes, made.repeat.outBytes = len(task.in), len(task.out)
		}
		t.plans.byKey[k] = made
		p = made
	}
	t.plans.last = p
	p.repeat.in, p.repeat.out = nil, nil
	if !p.plain() {
		p.repeat.in, p.repeat.out = start(task.in), start(task.out)
	}
	return p, nil
}

// hindered returns why a call cannot be begun whose plan has that key: another one
// ended early while members told each other lengths, or agreed on it.
func (t *Team) hindered(k key) error {
	switch {
	case t.early.lengths != nil:
		return unfinished(&t.early.lengths.task)
	case t.early.held.call != 0:
		return unfinished(t.early.held)
	case t.early.plan != nil && t.early.plan.key != k:
		return unfinished(&t.early.plan.task)
	}
	return nil
}

// idle reports whether a run of p may take the short way: nothing else is under way, the members have agreed on what p
// is, and those of their calls that it compares when a period has ended match. The long way finds again what does not.
func (p *Plan) idle(ctx context.Context) bool {
	t := p.t
	return p.agreed && p.prog.Single() && p.run.state == ended &&
		t.ops.none() && t.early.none() && t.broken == nil && !t.closed && t.own.Revoked() == nil &&
		(!t.ops.trail.Ends(t.mail) || t.matches(ctx))
}

// hasOptions reports whether opts are those of p's calls.
func (p *Plan) hasOptions(opts []Option) bool {
	if len(opts) == 0 {
		return p.repeat.optionless
	}
	return p.hasAll(opts)
}

// hasAll is hasOptions of some, apart so that hasOptions is inlined.
func (p *Plan) hasAll(opts []Option) bool { return p.t.options(opts) == p.call.Options }

// bound reports whether buffers are as long as those of p's calls, and lie where those do.
func (p *Plan) bound(in, out []byte) bool {
	if len(in) != p.repeat.inBytes || len(out) != p.repeat.outBytes {
		return false
	}
	if !p.plain() {
		return start(in) == p.repeat.in && start(out) == p.repeat.out
	}
	return p.t.heap.Empty() || !p.t.heap.Holds(in, out)
}

// boundOthers reports whether there are as many further vectors as in p's calls, each as long as the
// first. Peers cannot reach them, wherever they lie.
func (p *Plan) boundOthers(others reduce.Vectors) bool {
	if others.Len() != p.call.Extra {
		return false
	}
	for i := range others.Len() {
		if len(others.At(i)) != p.repeat.inBytes {
			return false
		}
	}
	return true
}

// A key says which plan serves a task. It is alike on all members for calls that
// match.
type key struct {
	call    choice.Key
	fold    Op
	user    bool
	elem    element.Type
	in, out memory.Location
	plan    int // number of a plan of its own, 0 for single calls
}

func (task *Task) key(t *Team) key {
	k := key{call: task.call.Key(), fold: task.op, user: task.user != nil, elem: task.elem}
	if !t.heap.Empty() {
		k.in, k.out = t.places(task)
	}
	return k
}

// plain reports whether the buffers are where peers cannot reach them.
func (k *key) plain() bool { return k.in.Number == 0 && k.out.Number == 0 }

// places are where the buffers of a task lie, nowhere unless both lie in
// allocations: peers could not reach the other. It is the same on all members that
// pass buffers alike, also where some have nothing to give or to get: then it is nowhere.
func (t *Team) places(task *Task) (in, out memory.Location) {
	if task.call.Count == 0 && task.call.Counts == nil {
		return memory.Location{}, memory.Location{}
	}
	out = t.heap.Locate(task.out)
	if op := task.call.Op; op == schedule.Broadcast || task.call.InPlace && op != schedule.AllToAll {
		return out, out // all have what it is part of
	}
	if in = t.heap.Locate(task.in); in.Number == 0 || out.Number == 0 || t.someEmpty(task) {
		return memory.Location{}, memory.Location{}
	}
	return in, out
}

// someEmpty reports whether some member has no block to give or to get, and so
// cannot show where its buffer lies.
func (t *Team) someEmpty(task *Task) bool {
	c := task.call
	c.Size = len(t.ranks)
	for r := range t.ranks {
		if c.Counts != nil && (c.InLen(r) == 0 && c.Op != schedule.Scatter || c.OutLen(r) == 0 && c.Op != schedule.Gather) {
			return true
		}
	}
	return false
}

// start is where a buffer begins, nil if it is empty.
func start(mem []byte) *byte {
	if len(mem) == 0 {
		return nil
	}
	return &mem[0]
}

// starts are where buffers begin.
func starts(all [][]byte) []*byte {
	var at []*byte
	for _, mem := range all {
		at = append(at, start(mem))
	}
	return at
}

// repeat is for Team.again, which finds out quickly whether a single call is like those of a plan.
type repeat struct {
	optionless bool   // those calls have no options
	glance     glance // zero if again does not serve them
	in, out    *byte  // where their buffers begin, if peers can reach them

	inBytes, outBytes int // of their buffers
}

// A planCache holds the plans of a team.
type planCache struct {
	byKey map[key]*Plan
	last  *Plan // of the last single call
	made  int   // plans of NewPlan so far

	counters counters // of the calls of all plans, also of those that were dropped
}

// forget drops a plan. Its place in the arena is free after the next sweep.
func (c *planCache) forget(p *Plan) {
	p.claim.Release()
	delete(c.byKey, p.key)
	if c.last == p {
		c.last = nil
	}
}

// forgetSingle drops the plans of single calls.
func (c *planCache) forgetSingle() {
	for _, p := range c.byKey {
		if !p.pinned {
			c.forget(p)
		}
	}
}

// first returns a number that only the same plans of NewPlan have, of the first n that were made.
func (c *planCache) first(n int) uint64 {
	var sum uint64
	for k, p := range c.byKey {
		if k.plan > 0 && k.plan <= n {
			sum += p.sign // which has the number of the plan in it
		}
	}
	return sum ^ sum>>32
}

// keepFirst drops all plans of NewPlan but the first n that were made.
func (c *planCache) keepFirst(n int) {
	for k, p := range c.byKey {
		if k.plan > n {
			c.forget(p)
		}
	}
	c.made = n
}

// claims returns the claims of all plans.
func (c *planCache) claims() iter.Seq[*memory.Claim] {
	return func(yield func(*memory.Claim) bool) {
		for _, p := range c.byKey {
			if !yield(&p.claim) {
				return
			}
		}
	}
}
