package ssp

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// A step is what happens on one link in every call.
type step struct {
	link int
	kind stepKind
}

type stepKind uint8

const (
	exchange stepKind = iota // between two corners: send what there is, combine with what came
	listen                   // a corner takes its extra's contribution
	reply                    // and at the end sends it the rest
	ask                      // the extra's side of both
)

// stepsOf is the order in which a member serves its links.
func stepsOf(s shape) []step {
	if s.extra() {
		return []step{{link: 0, kind: ask}}
	}
	var steps []step
	if s.speaks() {
		steps = append(steps, step{link: s.dims, kind: listen})
	}
	for k := range s.dims {
		steps = append(steps, step{link: k, kind: exchange})
	}
	if s.speaks() {
		steps = append(steps, step{link: s.dims, kind: reply})
	}
	return steps
}

// begin starts a call. mine is nil in calls that Close makes, whose contribution
// is the last one. An error leaves everything as it was.
func (r *Reduction[T]) begin(ctx context.Context, mine []T) error {
	if r.wire != nil {
		// So that the first message carries the latest news of free slots.
		if err := r.wire.collect(); err != nil {
			return err
		}
	}
	if r.ownIsSource() {
		if err := r.wire.reuse(ctx, &r.wire.links[0]); err != nil {
			return err
		}
	}
	r.clock++
	if mine != nil {
		copy(r.own, mine)
		cpu.StoreRelease64(&r.told, uint64(r.clock))
		r.ownStamp = stamp{fresh: r.clock, oldest: r.clock, newest: r.clock, count: 1}
	} else {
		r.ownStamp.fresh = final
	}
	r.partial, r.restStamp = r.ownStamp, r.ownStamp
	r.active, r.at = true, 0
	if r.wire != nil {
		r.wire.waited = 0
	}
	return nil
}

// ownIsSource reports whether own is the source of link 0: it is on every rank
// whose first step sends it.
func (r *Reduction[T]) ownIsSource() bool { return r.wire != nil && !r.shape.speaks() }

// finish does the steps that remain of a call.
func (r *Reduction[T]) finish(ctx context.Context) error {
	for r.at < len(r.steps) {
		if err := r.step(ctx, r.steps[r.at]); err != nil {
			return err
		}
		r.at++
	}
	if r.wire != nil {
		if err := r.wire.supply(ctx, r.need()); err != nil {
			return err
		}
		if err := r.wire.credits(ctx); err != nil {
			return err
		}
	}
	r.active = false
	return nil
}

// step does one step, or goes on with it: everything before its last part may be
// done twice.
func (r *Reduction[T]) step(ctx context.Context, s step) error {
	l := &r.wire.links[s.link]
	switch s.kind {
	case listen:
		return r.listen(ctx, s.link, l)
	case exchange:
		return r.exchange(ctx, s.link, l)
	case reply:
		return r.reply(ctx, s.link, l)
	default:
		return r.ask(ctx, s.link, l)
	}
}

func (r *Reduction[T]) listen(ctx context.Context, link int, l *neighbour) error {
	slot, err := r.wire.await(ctx, l, r.clock, r.need())
	if err != nil {
		return err
	}
	if err := r.wire.reuse(ctx, &r.wire.links[0]); err != nil {
		return err
	}
	r.partial = r.combine(r.out[0], r.own, r.ownStamp, r.in[link][slot], l.stamps[slot])
	l.in.used(r.clock)
	return nil
}

func (r *Reduction[T]) exchange(ctx context.Context, link int, l *neighbour) error {
	if err := r.wire.offer(ctx, l, r.clock, r.partial); err != nil {
		return err
	}
	slot, err := r.wire.await(ctx, l, r.clock, r.need())
	if err != nil {
		return err
	}
	last := link == r.shape.dims-1
	if last && r.shape.speaks() {
		err = r.wire.reuse(ctx, &r.wire.links[r.shape.dims])
	} else if !last {
		err = r.wire.reuse(ctx, &r.wire.links[link+1])
	}
	if err != nil {
		return err
	}
	to := r.result
	if !last {
		to = r.out[link+1]
	}
	in, inStamp := r.in[link][slot], l.stamps[slot]
	r.partial = r.combine(to, r.out[link], r.partial, in, inStamp)
	if r.shape.speaks() {
		r.forExtra(link, in, inStamp)
	}
	l.in.used(r.clock)
	return nil
}

// forExtra prepares what the extra gets: with slack, all but its own
// contribution, so that it can add the one that it has just made instead of one
// that has been here and may be old; without, the result itself, whose bits all
// ranks share.
func (r *Reduction[T]) forExtra(link int, in []T, inStamp stamp) {
	last := link == r.shape.dims-1
	back := r.out[r.shape.dims]
	if r.slack == 0 {
		if last {
			copy(back, r.result)
			r.restStamp = r.partial
		}
		return
	}
	from, to := r.rest, r.rest
	if link == 0 {
		from = r.own
	}
	if last {
		to = back
	}
	r.restStamp = r.combine(to, from, r.restStamp, in, inStamp)
}

func (r *Reduction[T]) reply(ctx context.Context, link int, l *neighbour) error {
	return r.wire.offer(ctx, l, r.clock, r.restStamp)
}

func (r *Reduction[T]) ask(ctx context.Context, link int, l *neighbour) error {
	if err := r.wire.offer(ctx, l, r.clock, r.ownStamp); err != nil {
		return err
	}
	slot, err := r.wire.await(ctx, l, r.clock, r.need())
	if err != nil {
		return err
	}
	in, inStamp := r.in[link][slot], l.stamps[slot]
	if r.slack == 0 {
		copy(r.result, in)
		r.partial = inStamp
	} else {
		r.partial = r.combine(r.result, r.own, r.ownStamp, in, inStamp)
	}
	l.in.used(r.clock)
	return nil
}

// need is the freshness that this call requires.
func (r *Reduction[T]) need() int64 { return r.clock - int64(r.slack) }

// combine stores a op b in to, where a vector without any contribution is none.
func (r *Reduction[T]) combine(to, a []T, as stamp, b []T, bs stamp) stamp {
	switch {
	case bs.count == 0:
		copy(to, a)
	case as.count == 0:
		copy(to, b)
	default:
		reduce.Into(r.op, to, a, b)
	}
	return as.merge(bs)
}
