package collectives

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
)

// A Handle is an operation that was started. Its buffers are the team's until Wait
// or Test has said that it ended. Operations make progress during any call of
// their team, and only then.
type Handle struct{ r *run }

// Wait blocks until the operation has ended and returns its error. When ctx ends
// first, the operation goes on, and so does Wait when called again.
func (h *Handle) Wait(ctx context.Context) error {
	t := h.r.p.t
	if !t.enter() {
		return refused(h.r.p.task.String())
	}
	defer t.leave()
	return h.wait(ctx)
}

// wait is Wait in a call of the team.
func (h *Handle) wait(ctx context.Context) error {
	r := h.r
	if r.state != ended {
		if err := r.p.t.finish(ctx, r); err != nil {
			return r.failed(err)
		}
		return nil
	}
	if r.err != nil {
		return r.failed(r.err)
	}
	return nil
}

// Status says how much of the operation is done when it has ended without error:
// all, but for a Broadcast or Reduce with a threshold.
func (h *Handle) Status() Status { return h.r.p.t.status(&h.r.p.task) }

// Test makes progress without blocking and reports whether the operation has
// ended, and its error.
func (h *Handle) Test() (bool, error) {
	r, t := h.r, h.r.p.t
	if !t.enter() {
		return false, refused(r.p.task.String())
	}
	defer t.leave()
	if r.state != ended {
		if err := t.try(); err != nil {
			return true, r.failed(t.fail(err))
		}
	}
	if r.state == ended && r.err != nil {
		return true, r.failed(r.err)
	}
	return r.state == ended, nil
}

// failed is the error of an operation, with its place and what it waited for.
func (r *run) failed(err error) error {
	e := &gaspi.OpError{Op: "collectives: " + r.p.task.String(), At: r.place(), Err: err}
	if r.state != ended {
		e.Wait = r.waitingFor()
	}
	return agree.Outermost(e)
}
