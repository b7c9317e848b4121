package executor

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// recorded are the kinds of records of steps.
var recorded = [...]trace.Action{
	schedule.Put: trace.StepPut, schedule.Signal: trace.StepSignal, schedule.Await: trace.StepAwait,
	schedule.Combine: trace.StepCombine, schedule.Encode: trace.StepEncode, schedule.Decode: trace.StepDecode,
	schedule.Flush: trace.StepFlush,
}

// Times returns when the last walk began and ended, in the timeline; an end of 0 is not known.
func (e *Execution) Times() (begun, ended int64) { return e.begun, e.ended }

// smallest is how many bytes a put or a combine has at most that counts as part of the step behind it: to
// look at the clock would take longer.
const smallest = 4 << 10

// small reports whether a step takes no time.
func (e *Execution) small(in *instruction) bool {
	switch in.kind {
	case schedule.Put:
		return in.mapped && in.src[e.number&1].Len() <= smallest
	case schedule.Combine:
		return in.dst[0].n <= smallest
	}
	return false
}

// record records a step, or a row of awaits that were one wait, unless it was short and posts nothing. A
// step begins where the one before has ended.
func (e *Execution) record(steps []instruction) {
	m := e.member
	begun, ended := e.ended, e.ended
	if !e.small(&steps[0]) {
		ended = m.Timeline.Now()
		e.ended = ended
	}
	if kind := steps[0].kind; kind != schedule.Put && kind != schedule.Signal && m.Timeline.Short(begun, ended) {
		return
	}
	for i := range steps {
		in := &steps[i]
		rec := trace.Record{Kind: recorded[in.kind], Begin: begun, End: ended, Peer: in.board.Rank}
		if in.kind == schedule.Await || in.posts {
			n := e.notification(in)
			rec.Segment, rec.Note, rec.Count, rec.Value = uint32(m.Control.ID()), uint32(n.ID), 1, uint32(n.Value)
		}
		if in.posts {
			rec.Segment = uint32(in.board.Segment)
		}
		switch in.kind {
		case schedule.Put:
			rec.Bytes = in.src[e.number&1].Len()
		case schedule.Combine:
			for _, dst := range in.dst {
				rec.Bytes += uint64(dst.n)
			}
		}
		m.Timeline.Add(&rec)
	}
}
