package sim

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// A Verb is what a call does.
type Verb uint8

// The calls of programs.
const (
	Put Verb = iota
	Get
	Delete
	Reduce
	Wait
	Locate
)

// An Operation is a call of a program: when it began and ended, and how.
type Operation struct {
	Verb       Verb
	Rank       core.Rank
	Client     int
	ID         string
	Begin, End int64 // End is 0 while it has not ended
	Code       core.Code
	Value      string // what was put, got or made
}

// event lets a program act.
func (x *explorer) event(w *world, e *event) {
	switch e.kind {
	case act:
		x.act(w, e.client)
	case fill:
		x.fillSome(w, e)
	case let:
		x.let(w, e.hold)
	case copyOn:
		x.copyOn(w, e.follow)
	case die:
		x.die(w, e.rank)
	}
}

// act makes a client's next call.
func (x *explorer) act(w *world, i int) {
	cl := &x.clients[i]
	if x.ended {
		return
	}
	if cl.busy != 0 {
		// It has waited long enough, or it goes on waiting.
		if p := x.calls[cl.busy]; p != nil && x.rng.IntN(3) == 0 {
			w.tracef("%d cancels call %d", cl.rank, cl.busy)
			w.cores[cl.rank].Cancel(cl.busy)
		}
		return
	}
	if cl.left == 0 {
		return
	}
	cl.left--
	x.next++
	x.report.Calls++
	cl.busy = x.next
	p := &pending{client: i, op: Operation{Rank: cl.rank, Client: i, Begin: int64(w.steps)}}
	p.op.Verb, p.op.ID = x.verb(cl)
	cl.began = true
	x.calls[x.next] = p
	x.call(w, p)
	if x.rng.IntN(6) == 0 {
		x.later(w, i) // perhaps to cancel it
	}
}

// call begins a call.
func (x *explorer) call(w *world, p *pending) {
	c, id := w.cores[p.op.Rank], p.op.ID
	switch p.op.Verb {
	case Put:
		x.putSome(w, p)
	case Get:
		near := x.rng.IntN(2) == 0
		w.tracef("%d gets %s, to read it where it lies %v: call %d", p.op.Rank, id, near, x.next)
		if near {
			c.GetNear(x.next, id)
		} else {
			c.Get(x.next, id)
		}
	case Delete:
		w.tracef("%d deletes %s: call %d", p.op.Rank, id, x.next)
		c.Delete(x.next, id)
	case Reduce:
		x.reduce(w, p)
	case Wait:
		c.Wait(x.next, x.ids[:1+x.rng.IntN(len(x.ids))])
	case Locate:
		c.Locate(x.next, id, x.rng.IntN(2) == 0)
	}
}

// putSome puts the usual content of an id, seldom another one. An object that a reduction may
// also make is put with a size that no other object has: it is then another, or the same if
// sum1 is made of sum0 alone.
func (x *explorer) putSome(w *world, p *pending) {
	tag, size := uint64(p.op.ID[0]), x.sizes[p.op.ID]
	switch {
	case size == 0 && p.op.ID[0] == 's':
		size = 45
	case x.rng.IntN(8) == 0:
		tag += 1000
		size += int64(x.rng.IntN(2))
	}
	p.data = content(tag, size)
	p.op.Value = string(p.data)
	x.oracle.note(p.op.ID, origin{put: true, tag: tag, size: size})
	w.tracef("%d puts %s, %d bytes: call %d", p.op.Rank, p.op.ID, size, x.next)
	w.cores[p.op.Rank].Put(x.next, p.op.ID, size, tag)
}

// reduce adds up some of the ids into one that is made in no other way.
func (x *explorer) reduce(w *world, p *pending) {
	n := len(x.ids) - 2
	which := int(p.op.ID[len("sum")] - '0')
	var sources []string
	for _, i := range x.rng.Perm(n + which)[:1+x.rng.IntN(n)] {
		sources = append(sources, x.ids[i])
	}
	count := 1 + x.rng.IntN(len(sources))
	p.at = x.oracle.note(p.op.ID, origin{sources: sources, count: count})
	w.tracef("%d reduces %d of %v to %s: call %d", p.op.Rank, count, sources, p.op.ID, x.next)
	w.cores[p.op.Rank].Reduce(x.next, p.op.ID, sources, count, 1)
}

// fill copies an object into the store, a piece at a time.
func (x *explorer) fill(w *world, r core.Rank, cmd core.Command) {
	p := x.calls[cmd.Call]
	p.room, p.filling = cmd.Off, true
	w.at(w.now+x.delay(), fill, r).cmd.Call = cmd.Call
}

func (x *explorer) fillSome(w *world, e *event) {
	p := x.calls[e.cmd.Call]
	to := min(p.filled+1+x.rng.Int64N(int64(len(p.data))), int64(len(p.data)))
	copy(w.memory[e.rank][p.room+p.filled:], p.data[p.filled:to])
	p.filled = to
	w.cores[e.rank].Filled(e.cmd.Call, to)
	if to < int64(len(p.data)) {
		w.at(w.now+x.delay(), fill, e.rank).cmd.Call = e.cmd.Call
	} else if p.op.End != 0 {
		delete(x.calls, e.cmd.Call)
	}
}

// result ends a call.
func (x *explorer) result(w *world, r core.Rank, res core.CallResult) {
	p := x.calls[res.Call]
	if p == nil || p.op.End != 0 {
		if !x.ended {
			w.failf("rank %d gave a result to call %d, which has ended", r, res.Call)
		}
		return
	}
	w.tracef("%d: call %d ends: %s %s", r, res.Call, res.Code, res.ID)
	if !res.Final {
		return
	}
	if p.follow != nil {
		x.caught(w, p.follow, res)
	}
	p.op.End, p.op.Code = int64(w.steps)+1, res.Code
	if !p.filling || p.filled == int64(len(p.data)) {
		delete(x.calls, res.Call)
	}
	switch res.Code {
	case core.Lost:
		x.report.Lost++
	case core.Full:
		x.report.Full++
	case core.OK:
		x.succeeded(w, p, res)
	}
	if x.history {
		x.report.History = append(x.report.History, p.op)
	}
	cl := &x.clients[p.client]
	cl.busy = 0
	if !x.ended {
		x.later(w, p.client)
	}
}

func (x *explorer) succeeded(w *world, p *pending, res core.CallResult) {
	switch p.op.Verb {
	case Reduce:
		from := &x.oracle.made[p.op.ID][p.at]
		if len(res.Used) != from.count {
			w.failf("a reduction of %d used %v", from.count, res.Used)
		}
		from.used = res.Used
		clear(x.oracle.memo)
		fallthrough
	case Get:
		got := res.Data
		if res.Held {
			got = w.memory[res.At][res.Off : res.Off+res.Size]
			h := hold{rank: p.op.Rank, ref: res.Ref, id: p.op.ID, at: res.At, off: res.Off, size: res.Size}
			x.holds[h] = bytes.Clone(got)
			w.at(w.now+x.holdFor(), let, h.rank).hold = h
		}
		p.op.Value = string(got)
		if p.op.Verb == Reduce {
			from := x.oracle.made[p.op.ID][p.at]
			if !slices.Contains(x.oracle.sums(from), p.op.Value) {
				w.failf("rank %d reduced %v with %v to %x, which is not their sum", p.op.Rank, from.sources, from.used, got)
			}
		} else if err := x.oracle.check(p.op.ID, got); err != nil {
			w.failf("rank %d: %w", p.op.Rank, err)
		}
	}
}

// holdFor is how long a program reads an object: at times so long that others are put where it was deleted.
func (x *explorer) holdFor() int64 {
	d := x.delay()
	if x.rng.IntN(4) == 0 {
		d += 10 * longDelay
	}
	return d
}

// let releases a reference, under which nothing may have changed.
func (x *explorer) let(w *world, h hold) {
	want, ok := x.holds[h]
	if !ok {
		return
	}
	delete(x.holds, h)
	if !w.dead[h.at] && !w.cores[h.at].Keeps(h.off, h.size) {
		w.failf("rank %d has freed %s while the program of rank %d held it", h.at, h.id, h.rank)
	}
	if !bytes.Equal(want, w.memory[h.at][h.off:h.off+h.size]) {
		w.failf("%s changed at rank %d while the program held it", h.id, h.rank)
	}
	w.cores[h.rank].Release(h.ref)
}
