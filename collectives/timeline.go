package collectives

import "github.com/gaspi-go/gaspi-go/internal/trace"

// This file records calls for gaspi-run --trace. The executor records the steps in them.

// recordCall records a call that has waited for an operation.
func (t *Team) recordCall(name trace.Name, begun int64) {
	if tl := t.member.Timeline; tl != nil {
		tl.Add(&trace.Record{Kind: trace.Collective, Name: name, Begin: begun})
	}
}

// recordQuick is recordCall of a run of a single lane, if the executor has recorded its steps.
func (r *run) recordQuick(err error) {
	tl := r.p.t.member.Timeline
	if tl == nil {
		return
	}
	begun, ended, kept := r.exec.Recorded()
	if err != nil {
		ended = 0
	}
	if kept {
		tl.Add(&trace.Record{Kind: trace.Collective, Name: r.p.name, Begin: begun, End: ended})
	}
}

// recordRun records an operation that Start has begun, by whichever goroutines it went on.
func (r *run) recordRun() {
	if tl := r.p.t.member.Timeline; tl != nil && r.begun != 0 {
		tl.Add(&trace.Record{Kind: trace.Operation, Name: r.p.name, Begin: r.begun})
		r.begun = 0
	}
}

// recordSleep records a wait for any of the operations under way.
func (t *Team) recordSleep(begun int64) {
	if tl := t.member.Timeline; tl != nil {
		tl.Add(&trace.Record{Kind: trace.StepWait, Begin: begun, Segment: uint32(t.control.ID())})
	}
}
