//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// watched is the segment whose wake-ups tell of losses: beyond the ids of C.
const watched gaspi.SegmentID = ids

// ggo_watch sets gone[r] to 1 when rank r is lost, until the process is no rank any more. C looks at
// it before it writes to the rank's memory itself.
//
//export ggo_watch
func ggo_watch(gone *C.char) {
	p := library.proc.Load()
	seg, err := p.AllocSegment(watched, 8, gaspi.WithNotifications(1))
	if err != nil {
		complain(err)
		return
	}
	marks := bytesAt(gone, uint64(p.Size()))
	look := func() bool {
		for r := range marks {
			if marks[r] == 0 && p.Health(gaspi.Rank(r)) != gaspi.Healthy {
				marks[r] = 1
			}
		}
		return false
	}
	// The error is the end of this rank's part in the job.
	go func() { _ = seg.WaitFunc(context.Background(), look, gaspi.ThroughLosses, gaspi.Asleep) }()
}
