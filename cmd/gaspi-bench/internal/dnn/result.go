package dnn

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A ContenderResult is the figures of one contender, as they are written to JSON. Times are
// of the slowest rank.
type ContenderResult struct {
	Op        string `json:"op"`               // "dnn"
	Impl      string `json:"impl"`             // "gaspi", or "model" if it was simulated
	Algorithm string `json:"algorithm"`        // as ParseWay takes it
	Chosen    string `json:"chosen,omitempty"` // of auto: the way of the longest message
	Transport string `json:"transport,omitempty"`
	N         int    `json:"n"`     // ranks
	Bytes     uint64 `json:"bytes"` // of all messages
	Iters     int    `json:"iters"` // steps that were timed

	Model    string `json:"model"`
	Batch    int    `json:"batch"` // samples per rank and step
	Compute  string `json:"compute"`
	Mode     Mode   `json:"mode"`
	Fuse     int    `json:"fuse_bytes"` // 0: a message per gradient
	Messages int    `json:"messages"`

	MinUS float64 `json:"min_us"` // of a step
	P50US float64 `json:"p50_us"`
	P99US float64 `json:"p99_us"`
	// ComputeUS is a step without communication, CommUS the time in which some
	// reduction was under way, and ExposedUS what communication adds to a step.
	ComputeUS float64 `json:"compute_us"`
	CommUS    float64 `json:"comm_us"`
	ExposedUS float64 `json:"exposed_us"`
	// Hidden is the share of CommUS that did not lengthen the step, from 0 to 1.
	Hidden float64 `json:"hidden"`
	// SamplesPerS is the throughput of all ranks together.
	SamplesPerS float64 `json:"samples_per_s"`
	// Emulated is the network between the ranks, if one is emulated. Invalid says that
	// the host could not carry it on some rank: the figures are none of that network.
	Emulated string `json:"emulated,omitempty"`
	Invalid  bool   `json:"invalid,omitempty"`
	// Gain is the time of the first contender that communicates by this one's.
	Gain float64 `json:"gain,omitempty"`
}

// Exposed is what communication adds to a step that takes compute without it, and
// the share of the communication that is hidden behind computing: what a step is
// shorter than by clocks that are not exact counts as nothing.
func Exposed(step, compute, comm time.Duration) (exposed time.Duration, hidden float64) {
	exposed = max(0, step-compute)
	if comm <= 0 {
		return exposed, 0
	}
	return exposed, max(0, 1-float64(exposed)/float64(comm))
}

// fill sets what follows from the times of steps, which it sorts, and of
// communication in them. steps is not empty.
func (r *ContenderResult) fill(steps []Times, compute time.Duration) {
	slices.SortFunc(steps, func(a, b Times) int { return cmp.Compare(a.Step, b.Step) })
	median := median(steps)
	exposed, hidden := Exposed(median.Step, compute, median.Comm)
	if r.Mode == Blocking {
		hidden = 0 // by definition; what ranks wait for each other counts as communication
	}
	r.Iters = len(steps)
	r.MinUS, r.P50US, r.P99US = micros(steps[0].Step), micros(median.Step), micros(steps[nearest(len(steps), 99)].Step)
	r.ComputeUS, r.CommUS, r.ExposedUS = micros(compute), micros(median.Comm), micros(exposed)
	r.Hidden = math.Round(hidden*1e4) / 1e4
	if median.Step > 0 {
		r.SamplesPerS = math.Round(float64(r.Batch*r.N)/median.Step.Seconds()*100) / 100
	}
}

// fillSilent is fill for steps without communication. It returns the time of computing, that of the median step.
func (r *ContenderResult) fillSilent(steps []Times) (compute time.Duration) {
	r.fill(steps, 0)
	r.ComputeUS, r.ExposedUS = r.P50US, 0
	return median(steps).Step
}

// median returns the median of steps, which are sorted and not empty.
func median(steps []Times) Times { return steps[nearest(len(steps), 50)] }

// nearest is the index of the percentile p of n sorted values: the smallest that p
// percent do not exceed.
func nearest(n int, p float64) int {
	return max(int(math.Ceil(p/100*float64(n))), 1) - 1
}

// micros rounds to what the clock can tell.
func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// compare sets the gains.
func compare(all []ContenderResult) {
	first := 0.0
	for i := range all {
		r := &all[i]
		if r.Mode == Silent || r.P50US == 0 {
			continue
		}
		if first == 0 {
			first = r.P50US
		}
		r.Gain = math.Round(first/r.P50US*1e4) / 1e4
	}
}
