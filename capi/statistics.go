//go:build capi && cgo && linux

package main

// #include "bridge.h"
import "C"

import (
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// counted returns a function for gaspi.Proc.CountMapped: what C has carried out in a job of a number of ranks.
func counted(ranks int) func() gaspi.MappedStats {
	return func() gaspi.MappedStats {
		var done C.ggo_done
		counts := make([]C.uint64_t, ranks*C.GGO_PEER_COUNTS)
		C.ggo_counted(&done, &counts[0], C.uint32_t(ranks))
		all := gaspi.MappedStats{
			QueueWaits: uint64(done.waits), Barriers: uint64(done.barriers),
			BarrierWait: time.Duration(done.barrier_nanoseconds),
		}
		for r := range ranks {
			n := counts[r*C.GGO_PEER_COUNTS:][:C.GGO_PEER_COUNTS]
			all.Peers = append(all.Peers, gaspi.PeerStats{
				Peer:   gaspi.Rank(r),
				Writes: uint64(n[C.GGO_PEER_WRITES]), BytesWritten: uint64(n[C.GGO_PEER_BYTES_WRITTEN]),
				Reads: uint64(n[C.GGO_PEER_READS]), BytesRead: uint64(n[C.GGO_PEER_BYTES_READ]),
				Notifies: uint64(n[C.GGO_PEER_NOTIFIES]), QueueFull: uint64(n[C.GGO_PEER_FULL]),
				Atomics: uint64(n[C.GGO_PEER_ATOMICS]),
			})
		}
		return all
	}
}
