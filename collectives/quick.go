package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Most calls are like the call before: same operation, same buffers. This file
// finds that out in a few nanoseconds, and runs a plan of a single lane without
// the bookkeeping of operations that are under way side by side.

// A glance is what two single calls must have in common, beside options and lengths of buffers, to be
// served by one plan, as far as it can be compared quickly. Block sizes, functions
// and further vectors cannot. It has three words, which the compiler keeps in registers.
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

// again runs the last plan again if a call is what it was made for, and returns it
// if it was.
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
	if p.repeat.glance != g || !p.bound(in, out) || !p.idle() || !p.hasOptions(opts) {
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
		r.counted()
	}
	t.engine.Leave()
	return p, err
}

// idle reports whether a run of p may take the short way: nothing else is under
// way, and the members have agreed on what p is.
func (p *Plan) idle() bool {
	t := p.t
	return p.agreed && p.prog.Single() && !p.task.isAverage() && p.run.state == ended &&
		t.ops.none() && !t.ops.trail.Ends(t.mail) && t.early.none() && t.broken == nil && !t.closed && t.own.Revoked() == nil
}

// hasOptions reports whether opts are those of p's calls.
func (p *Plan) hasOptions(opts []Option) bool {
	if len(opts) == 0 {
		return p.repeat.optionless
	}
	return p.t.options(opts) == p.call.Options
}

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

// aliased reports whether a block is the i-th of its kind in a longer vector.
func aliased(long, block []byte, i int) bool {
	at := i * len(block)
	return len(block) > 0 && at < len(long) && &long[at] == &block[0]
}

// start is where a buffer begins, nil if it is empty.
func start(mem []byte) *byte {
	if len(mem) == 0 {
		return nil
	}
	return &mem[0]
}

// alone numbers the call of a run that has nothing beside it, before exec.Run.
func (r *run) alone() {
	r.call, r.err = r.p.t.ops.next(r.p.sign, r.p.prog.Eager()), nil
	r.clock.start(r)
	r.p.t.ops.recent.add(r)
}

// slowly goes on, the way all others go, with a run that something has stopped in exec.Run.
func (r *run) slowly(ctx context.Context) error {
	t := r.p.t
	defer t.recordCall(r.p.name, t.member.Timeline.Begin())
	r.state, r.p.busy = going, r
	r.handle.renew()
	t.ops.active = append(t.ops.active, r)
	return t.complete(ctx, r)
}

// complete is finish for a single call, which another one goes on with if ctx ends
// first.
func (t *Team) complete(ctx context.Context, r *run) error {
	if err := t.finish(ctx, r); err != nil {
		if in, out := r.exec.Buffers(); r.state != ended {
			t.early.single, t.early.in, t.early.out = r, start(in), start(out)
		}
		return r.failed(err)
	}
	return nil
}
