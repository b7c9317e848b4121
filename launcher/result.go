package launcher

import (
	"syscall"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher/internal/policy"
)

// A Result says how a job ended.
type Result struct {
	// ExitCode is 0 when all ranks ended with status 0. Otherwise it is that of
	// the first rank that failed, 128 plus the signal if it was killed; or 124
	// after a timeout; or 128 plus the signal that ended the whole job.
	ExitCode int
	// Sentence says why ExitCode is not 0; it is what Config.Notice was called with,
	// and says of the other ranks that they have ended.
	Sentence string
	// First is the first rank that failed by itself; nil if none did.
	First *RankExit
	// Ranks is how each rank ended; the index is the rank. A PID of 0 means that
	// the rank was not started.
	Ranks []RankExit
	// Stats is what ranks have done that have joined the job; the index is the rank. It is nil if none
	// has told, as with a program that does not use package gaspi.
	Stats []RankStats
	// Measured is what ranks have measured of their connections and processors; the index is the rank. It is
	// nil unless Config.Measure is set.
	Measured []RankMeasures
	// Trace is what came of Config.Trace; nil without it.
	Trace *TraceResult
	// Elapsed is the time from the start of the first rank to the end of the job.
	Elapsed time.Duration
}

// setExits says how the ranks ended.
func (r *Result) setExits(all []policy.RankExit, first *policy.RankExit) {
	for _, e := range all {
		r.Ranks = append(r.Ranks, RankExit(e))
	}
	r.First = (*RankExit)(first)
}

// A RankExit says how a rank ended.
type RankExit struct {
	Rank   Rank
	PID    int
	Status int            // exit status, when Signal is 0
	Signal syscall.Signal // the signal that killed it, or 0
	Core   bool           // it left a core dump
	After  time.Duration  // since the start of the job
	Ended  bool           // the launcher had told it to end before it did
	Lost   string         // why nobody saw it end, such as "host b is lost: no sign of life for 10 s" or what the system has against it; Status is 1 then
	Why    string         // what the launcher killed it for, such as "stopped by signal 19 for 10s"; empty if it did not
}

// Failed reports whether the rank ended other than with status 0.
func (e RankExit) Failed() bool { return policy.RankExit(e).Failed() }

// Code is the exit status as a shell shows it: 128 plus the signal if one
// killed the rank.
func (e RankExit) Code() int { return policy.RankExit(e).Code() }

// A RankStats is what a rank has done, until it left or, of one that died, until half a second before
// or later.
type RankStats struct {
	Rank          Rank          `json:"rank"`
	Host          string        `json:"host"`
	Ran           time.Duration `json:"ran_ns"`    // from its joining to its leaving
	Waited        time.Duration `json:"waited_ns"` // of all goroutines, for notifications and in barriers and small reductions
	Writes        uint64        `json:"writes"`    // one-sided writes issued
	BytesWritten  uint64        `json:"bytes_written"`
	Reads         uint64        `json:"reads"`
	BytesRead     uint64        `json:"bytes_read"`
	Notifications uint64        `json:"notifications"` // issued without data
	QueueWaits    uint64        `json:"queue_waits"`
	QueueFull     uint64        `json:"queue_full"` // posts that were refused for want of room
	Barriers      uint64        `json:"barriers"`
	AllReduces    uint64        `json:"allreduces"` // small ones, of package gaspi
	Atomics       uint64        `json:"atomics"`
	Messages      uint64        `json:"messages"` // passive ones, sent and received

	Peers       []PeerStats       `json:"peers,omitempty"` // in the order of ranks; those of which something was counted
	Collectives []CollectiveStats `json:"collectives,omitempty"`
}

// PeerStats are what a rank has done with one peer; see package gaspi.
type PeerStats struct {
	Peer          Rank          `json:"peer"`
	Writes        uint64        `json:"writes,omitempty"`
	BytesWritten  uint64        `json:"bytes_written,omitempty"`
	Reads         uint64        `json:"reads,omitempty"`
	BytesRead     uint64        `json:"bytes_read,omitempty"`
	Notifications uint64        `json:"notifications,omitempty"` // issued without data
	QueueFull     uint64        `json:"queue_full,omitempty"`    // posts that were refused for want of room
	Atomics       uint64        `json:"atomics,omitempty"`
	Messages      uint64        `json:"messages,omitempty"`  // passive ones that the peer has received
	Waited        time.Duration `json:"waited_ns,omitempty"` // where the peer alone could end the wait
}

// CollectiveStats are what one algorithm has done for a rank in one collective operation; see package
// gaspi.
type CollectiveStats struct {
	Operation string        `json:"operation"`
	Algorithm string        `json:"algorithm"`
	Calls     uint64        `json:"calls"`
	Bytes     uint64        `json:"bytes"`
	Time      time.Duration `json:"time_ns"`
}

// Busy returns the time in which the rank did not wait.
func (s RankStats) Busy() time.Duration { return max(0, s.Ran-s.Waited) }
