package sim

import (
	"bytes"
	"slices"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// Programs follow what they get, as the runner does: they copy behind the watermark, later
// than it moves.

// A follower is a Get that copies what has come.
type follower struct {
	call   core.CallID
	rank   core.Rank
	part   core.PartialObject
	have   int64  // that the program was told of
	gone   bool   // it was told that what it has copied means nothing
	copied []byte // by the program
	busy   bool   // it is about to copy
	ended  bool   // the Get has its result
	let    bool   // the reference was given up
}

// turned begins to follow what a rank has begun to fetch, and tells followers how far it is.
func (x *explorer) turned(w *world, r core.Rank, pulled []string) {
	for _, id := range pulled {
		for _, c := range sortedKeys(x.calls) {
			p := x.calls[c]
			if p.op.Verb != Get || p.op.Rank != r || p.op.ID != id || p.op.End != 0 || p.follow != nil || x.rng.IntN(3) == 0 {
				continue
			}
			if part, ok := w.cores[r].Follow(c); ok {
				w.tracef("%d follows %s: call %d", r, id, c)
				p.follow = &follower{call: c, rank: r, part: part}
				x.follows = append(x.follows, p.follow)
			}
		}
	}
	x.moveOn(w, r)
}

// moveOn tells the followers of a rank how far their objects are.
func (x *explorer) moveOn(w *world, r core.Rank) {
	x.follows = slices.DeleteFunc(x.follows, func(f *follower) bool {
		if f.rank != r {
			return w.dead[f.rank]
		}
		have, ok := w.cores[r].Progress(f.part.Ref)
		switch {
		case !ok:
			f.gone = true
		case have < f.have:
			w.failf("rank %d had %d bytes of what call %d follows, and now has %d", r, f.have, f.call, have)
		case have == f.have:
			return false
		default:
			f.have = have
		}
		x.wake(w, f)
		return f.gone
	})
}

// wake lets a program copy, soon.
func (x *explorer) wake(w *world, f *follower) {
	if !f.busy {
		f.busy = true
		w.at(w.now+x.delay(), copyOn, f.rank).follow = f
	}
}

// copyOn lets a program copy what it was told of. It gives up a follower that is no longer of
// use, or whose Get has ended.
func (x *explorer) copyOn(w *world, f *follower) {
	f.busy = false
	if !f.gone && !f.ended {
		f.copied = append(f.copied, w.memory[f.rank][f.part.Off:][:f.part.Size][len(f.copied):f.have]...)
	}
	if (f.gone && !x.clings || f.ended) && !f.let {
		f.let = true
		w.cores[f.rank].Release(f.part.Ref)
	}
}

// caught compares what a program has copied with what its Get has brought, and lets it give
// up the reference, later.
func (x *explorer) caught(w *world, f *follower, res core.CallResult) {
	x.moveOn(w, f.rank)
	x.follows = slices.DeleteFunc(x.follows, func(o *follower) bool { return o == f })
	f.ended = true
	x.wake(w, f)
	if res.Code != core.OK || f.gone {
		return
	}
	got := res.Data
	if res.Held {
		got = w.memory[f.rank][res.Off : res.Off+res.Size]
	}
	if res.Size != f.part.Size || res.Held && res.Off != f.part.Off || !bytes.HasPrefix(got, f.copied) {
		w.failf("call %d of rank %d followed other bytes than it got: %x of %x", f.call, f.rank, f.copied, got)
	}
}
