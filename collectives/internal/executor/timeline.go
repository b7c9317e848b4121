package executor

import (
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// recorded are the kinds of records of steps.
var recorded = [...]trace.Action{
	schedule.Put: trace.StepPut, schedule.Signal: trace.StepSignal, schedule.Await: trace.StepAwait,
	schedule.Combine: trace.StepCombine, schedule.Encode: trace.StepEncode, schedule.Decode: trace.StepDecode,
	schedule.Flush: trace.StepFlush, schedule.Credit: trace.StepCredit, schedule.AwaitCredit: trace.StepAwaitCredit,
}

// A stretch is where a walk is in the timeline.
type stretch struct {
	on    bool  // there is a timeline
	kept  bool  // steps are recorded, and the call that the walk is for
	begun int64 // when the walk began; 0 before its first await, if it is a small one that blocks
	ended int64 // when its last step ended; 0 if that is not known
}

// beginStretch begins a walk, if there is a timeline.
func (e *Execution) beginStretch(block bool) {
	if tl := e.member.Timeline; tl != nil {
		e.stretch = e.stretchFrom(tl, block)
	}
}

func (e *Execution) stretchFrom(tl *trace.Recorder, block bool) stretch {
	if block && !e.large {
		return stretch{on: true}
	}
	now := tl.Now()
	return stretch{on: true, kept: true, begun: now, ended: now}
}

// beginLate begins a small walk that has come to its first await, or to its end: its posts are on their way
// while the clock is read. Of such walks in rapid succession only some are recorded, beside the waits of the
// others: see trace.Recorder.Keep.
func (e *Execution) beginLate(done []instruction) {
	s, tl := &e.stretch, e.member.Timeline
	now := tl.Now()
	s.begun, s.ended, s.kept = now, now, tl.Keep(0, now, trace.RunPrice)
	for i := range done {
		if s.kept {
			e.record(done[i:i+1], true)
		}
	}
}

// Recorded returns when the last walk began and ended in the timeline, and whether it is recorded; an end of 0
// is not known.
func (e *Execution) Recorded() (begun, ended int64, kept bool) {
	return e.stretch.begun, e.stretch.ended, e.stretch.kept
}

// smallest is how many bytes a put or a combine has at most that counts as part of the step behind it: to
// look at the clock would take longer.
const smallest = 4 << 10

// small reports whether a step takes no time.
func (e *Execution) small(in *instruction) bool {
	switch in.kind {
	case schedule.Put:
		return in.mapped && e.source(in).Len() <= smallest
	case schedule.Combine:
		return e.of.written(in) <= smallest
	}
	return false
}

// hasLarge reports whether a step of a schedule takes time, beside awaits and bare posts.
func (e *Execution) hasLarge() bool {
	for _, code := range e.of.lanes {
		for i := range code {
			switch in := &code[i]; in.kind {
			case schedule.Await, schedule.AwaitCredit, schedule.Signal, schedule.Credit:
			default:
				if !e.small(in) {
					return true
				}
			}
		}
	}
	return false
}

// quickLooks is how often an await looks before it counts as a wait: for about a microsecond.
const quickLooks = 32

// reach begins a small walk that has come to its first await, or to its end, if there is a timeline; so far it has done
// some instructions.
func (e *Execution) reach(done []instruction) {
	if e.stretch.on && e.stretch.begun == 0 {
		e.beginLate(done)
	}
}

// quick reports whether the posts of a row of awaits that was reached have come so soon that the row need not be
// recorded. Without a timeline, or where all is recorded, it looks for nothing; otherwise the walk is recorded from
// here on if it returns false.
func (e *Execution) quick(row []instruction) bool {
	return e.stretch.on && !e.stretch.kept && e.look(row)
}

func (e *Execution) look(row []instruction) bool {
	for looks := quickLooks; looks > 0; {
		if !e.arrived(&row[0]) {
			looks--
			cpu.Relax()
		} else if row = row[1:]; len(row) == 0 {
			return true
		}
	}
	e.stretch.kept, e.stretch.ended = true, e.member.Timeline.Now()
	return false
}

// record records a step of a walk that is kept, or a row of awaits that were one wait, unless it was short and
// posts nothing. A step begins where the one before has ended. A wait that ended without its post was for none.
func (e *Execution) record(steps []instruction, done bool) {
	m, s := e.member, &e.stretch
	if in := &steps[0]; in.kind == schedule.Credit && !e.credits() || in.kind == schedule.AwaitCredit && !e.waits(in) {
		return
	}
	begun, ended := s.ended, s.ended
	if !e.small(&steps[0]) {
		ended = m.Timeline.Now()
		s.ended = ended
	}
	if !steps[0].kind.Posts() && m.Timeline.Short(begun, ended) {
		return
	}
	for i := range steps {
		in := &steps[i]
		rec := e.recordOf(in, recorded[in.kind])
		rec.Begin, rec.End = begun, ended
		switch in.kind {
		case schedule.Await, schedule.AwaitCredit:
			if !done {
				rec.Note, rec.Count, rec.Value = 0, 0, 0
			}
		case schedule.Put:
			rec.Bytes = e.source(in).Len()
		case schedule.Combine:
			rec.Bytes = e.of.written(in)
		}
		m.Timeline.Add(&rec)
	}
}

// recordOf returns the record of a step without its times: whom it posts to, and what it posts or waits for.
func (e *Execution) recordOf(in *instruction, kind trace.Action) trace.Record {
	rec := trace.Record{Kind: kind, Peer: gaspi.Rank(in.peer)}
	if in.kind == schedule.Await || in.kind == schedule.AwaitCredit || in.posts {
		n := e.notification(in)
		rec.Segment, rec.Note, rec.Count, rec.Value = uint32(e.member.Control.ID()), uint32(n.ID), 1, uint32(n.Value)
	}
	if in.posts {
		rec.Segment = uint32(e.of.board)
	}
	return rec
}

// Waited appends records of the row of awaits that Wait has waited for, without times, or nothing if posts are
// missing.
func (e *Execution) Waited(to []trace.Record) []trace.Record {
	lane := e.of.lanes[0][e.next[0]:]
	row, before := lane[:int(lane[0].row)], len(to)
	for i := range row {
		if !e.waits(&row[i]) || !e.arrived(&row[i]) {
			return to[:before]
		}
		to = append(to, e.recordOf(&row[i], recorded[row[i].kind]))
	}
	return to
}

// Arrivals appends records of the awaits at which lanes have stopped and whose posts are there, without times: a wait
// for any of several steps has ended by the first of these. It returns false if a lane waits for nothing.
func (e *Execution) Arrivals(to []trace.Record) ([]trace.Record, bool) {
	for i, code := range e.of.lanes {
		at := e.next[i]
		if at == len(code) {
			continue
		}
		switch in := &code[at]; {
		case !e.waits(in):
			return to, false
		case e.arrived(in):
			to = append(to, e.recordOf(in, trace.StepWait))
		}
	}
	return to, true
}
