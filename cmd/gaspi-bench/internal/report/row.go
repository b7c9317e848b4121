package report

import (
	"math"
	"strconv"
	"time"
)

// The impl of rows.
const (
	ImplGaspi = "gaspi"
	ImplLimit = "limit"

	ImplChain  = "chain"  // bare writes along a chain, where something else is faster
	ImplStatic = "static" // a collective operation beside what objects do
)

// A Row is the figures of one contender, as they are written to JSON.
type Row struct {
	Op        string  `json:"op"`
	Impl      string  `json:"impl"`
	Algorithm string  `json:"algorithm,omitempty"` // of a collective operation
	Transport string  `json:"transport"`
	N         int     `json:"n"`
	Bytes     uint64  `json:"bytes"`
	Iters     int     `json:"iters"` // operations timed, over all blocks
	MinUS     float64 `json:"min_us"`
	P50US     float64 `json:"p50_us"`
	P99US     float64 `json:"p99_us"`
	MeanUS    float64 `json:"mean_us"`

	GBPerS float64 `json:"gb_per_s,omitempty"` // 10^9 bytes per second at p50
	// CPUSPerGB is how many processor seconds all ranks together used for 10^9 bytes.
	CPUSPerGB float64 `json:"cpu_s_per_gb,omitempty"`
	// CPUUSPerCall is how many processor microseconds a rank used in a call, the mean of all ranks.
	CPUUSPerCall float64 `json:"cpu_us_per_call,omitempty"`
	PerS         float64 `json:"per_s,omitempty"` // operations per second at p50
	// AllocsPerOp counts heap objects on the rank that made most, as whole
	// numbers; absent for contenders that are not ours, and if checks allocate too.
	AllocsPerOp *uint64 `json:"allocs_per_op,omitempty"`

	// Emulated is the network that was emulated. Invalid says that this host could not
	// carry it, because too many messages were late: LateShare of them.
	Emulated  string  `json:"emulated,omitempty"`
	Invalid   bool    `json:"invalid,omitempty"`
	LateShare float64 `json:"late_share,omitempty"`

	// LinksUS is how long the operation takes if nothing but the links of the emulated
	// network takes time, by the formula LinksBy.
	LinksUS float64 `json:"links_us,omitempty"`
	LinksBy string  `json:"links_by,omitempty"`

	Remark string `json:"remark,omitempty"` // about the rows of a workload; of the first

	// Only rows beside peers have the following fields. Their figures are combined from rounds.
	Version    string     `json:"version,omitempty"`
	Way        string     `json:"way,omitempty"`        // of a peer, such as in-place
	Congestion string     `json:"congestion,omitempty"` // control of TCP
	MeanCI95US float64    `json:"mean_ci95_us,omitempty"`
	Rounds     []RoundRow `json:"rounds,omitempty"`
	Note       string     `json:"note,omitempty"` // why figures are missing
}

// A Subject is what the rows of contenders are about.
type Subject struct {
	Op    string // name in the rows
	Bytes uint64 // moved by one operation; 0 if that is not the point
	Moves bool   // bytes over time is of interest
	Rate  bool   // operations over time is of interest
}

// NewRow makes the row of a contender that did so many operations in all.
func NewRow(w Subject, impl string, s Summary, iters int) Row {
	r := Row{
		Op: w.Op, Impl: impl, Bytes: w.Bytes, Iters: iters,
		MinUS: Round(s.Min), P50US: Round(s.P50), P99US: Round(s.P99), MeanUS: Round(s.Mean),
	}
	if w.Moves && s.P50 > 0 {
		r.GBPerS = Round(float64(w.Bytes) / s.P50 / 1e3)
	}
	if w.Rate && s.P50 > 0 {
		r.PerS = math.Round(1e6 / s.P50)
	}
	return r
}

// Used records the processor time that all ranks together used for the operations of the row, if bytes
// over time is of interest.
func (r *Row) Used(processors time.Duration) {
	if r.GBPerS > 0 && r.Iters > 0 {
		r.CPUSPerGB = Round(processors.Seconds() * 1e9 / (float64(r.Bytes) * float64(r.Iters)))
	}
}

// Round keeps what the clock can tell of microseconds, tenths of a nanosecond, but four
// digits of whatever is less than 1: a rate or a ratio may be tiny.
func Round(x float64) float64 {
	if math.Abs(x) >= 1 {
		return math.Round(x*1e4) / 1e4
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return x
}
