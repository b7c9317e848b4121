//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// watched is the segment whose wake-ups tell of losses: beyond the ids of C.
const watched gaspi.SegmentID = ids

// lostRanks are the marks by which C sees who is lost.
type lostRanks struct{ marks atomic.Pointer[[]byte] }

// mark sets the mark of each rank that is lost, before C hears of one of them by a code: what C does then
// must not reach the memory of that rank, and its state vector is made of the marks.
func (l *lostRanks) mark(p *gaspi.Proc) {
	marks := l.marks.Load()
	if marks == nil || p == nil {
		return
	}
	for r := range *marks {
		if (*marks)[r] == 0 && p.Health(gaspi.Rank(r)) != gaspi.Healthy {
			(*marks)[r] = 1
		}
	}
}

// ggo_watch sets gone[r] to 1 when rank r is lost, until the process is no rank any more. C looks at
// it before it writes to the rank's memory itself. It returns 0 if there is no memory for that.
//
//export ggo_watch
func ggo_watch(gone *C.char) int32 {
	p, lost := library.proc.Load(), &library.lost
	marks := bytesAt(gone, uint64(p.Size()))
	lost.marks.Store(&marks)
	seg, err := p.AllocSegment(watched, 8, gaspi.WithNotifications(1))
	if err != nil {
		complain(err)
		return 0
	}
	look := func() bool {
		lost.mark(p)
		return false
	}
	// The error is the end of this rank's part in the job.
	go func() { _ = seg.WaitFunc(context.Background(), look, gaspi.ThroughLosses, gaspi.Asleep) }()
	return 1
}
