package collectives

import (
	"context"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
)

// Members whose calls do not match may claim unlike memory, and what one member claims
// may be more than its arena has, so that it alone would wait in a collective growth.
// So a plan that the arena has no room for is agreed on before it is claimed, by the
// agreement that its first run would have begun with: a run without lanes, as a call of
// its own. A member with room for another plan meets it in the agreement of that one.

// reserve claims the memory of a plan. It is collective if the arena has no room, and
// then all members mean the same. When ctx ends first, the same call made again goes on.
func (t *Team) reserve(ctx context.Context, p *Plan) error {
	if !p.bid.Available() && !p.agreed {
		if err := t.settle(ctx, p); err != nil {
			return err
		}
	}
	var err error
	p.claim, err = t.claim(ctx, &p.bid)
	if !nap.Ended(err) {
		t.early.plan, t.recycling = nil, untouched
	}
	return err
}

// settle makes the members agree on a plan, behind all operations under way.
func (t *Team) settle(ctx context.Context, p *Plan) error {
	r := &p.run
	if t.early.plan == nil {
		if err := t.drain(ctx); err != nil {
			return err
		}
		r.prepare(p)
		r.call = t.ops.next(p.sign, false)
		t.early.plan = p
		t.ops.activate(r)
	}
	if err := t.finish(ctx, r); err != nil {
		return r.failed(err)
	}
	return nil
}

// interrupted holds the call that ended early, for the same call to go on with.
type interrupted struct {
	single  *run
	in, out *byte    // where its buffers begin, which it gives back when it ends
	plan    *Plan    // that members agree on before they claim its memory
	lengths *telling // of an AllToAllV
	held    holding  // an Alloc or a Release
}

// none reports whether no call ended early.
func (e *interrupted) none() bool {
	return e.single == nil && e.plan == nil && e.lengths == nil && e.held.call == 0
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

// unfinished is the error of a call made after one that ended early.
func unfinished(earlier fmt.Stringer) error {
	return fmt.Errorf("%w: %v ended early and is to be finished first", gaspi.ErrMismatch, earlier)
}
