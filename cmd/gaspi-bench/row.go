package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A row is the figures of one contender, as they are written to JSON.
type row struct {
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
	PerS   float64 `json:"per_s,omitempty"`    // operations per second at p50
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

	// Only rows beside peers have the following fields. Their figures are combined from rounds.
	Version    string     `json:"version,omitempty"`
	Way        string     `json:"way,omitempty"`        // of a peer, such as in-place
	Congestion string     `json:"congestion,omitempty"` // control of TCP
	MeanCI95US float64    `json:"mean_ci95_us,omitempty"`
	Rounds     []roundRow `json:"rounds,omitempty"`
	Note       string     `json:"note,omitempty"` // why figures are missing
}

// newRow makes the row of a contender that did so many operations in all.
func newRow(w workload, impl string, s summary, iters int) row {
	r := row{
		Op: w.op, Impl: impl, Bytes: w.bytes, Iters: iters,
		MinUS: round(s.min), P50US: round(s.p50), P99US: round(s.p99), MeanUS: round(s.mean),
	}
	if w.moves && s.p50 > 0 {
		r.GBPerS = round(float64(w.bytes) / s.p50 / 1e3)
	}
	if w.rate && s.p50 > 0 {
		r.PerS = math.Round(1e6 / s.p50)
	}
	return r
}

// round keeps what the clock can tell of microseconds, tenths of a nanosecond, but four
// digits of whatever is less than 1: a rate or a ratio may be tiny.
func round(x float64) float64 {
	if math.Abs(x) >= 1 {
		return math.Round(x*1e4) / 1e4
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	return x
}

// writeJSON writes one object per line.
func writeJSON(w io.Writer, rows []row) error {
	enc := json.NewEncoder(w)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("writing rows: %w", err)
		}
	}
	return nil
}
