package emulation

import (
	"fmt"
	"time"
)

// A Punctuality is whether the host could carry the emulated network: how late, by the
// clock of that network, ranks were told what they waited for.
type Punctuality struct {
	Delivered Lateness // what a rank has sent and asked for, when it was delivered
	Noticed   Lateness // what a rank slept for, when it went on
	// Humble says that the threads that deliver do not go before all others of a core,
	// because the system did not permit it.
	Humble bool
}

// A Lateness is how late events were.
type Lateness struct {
	Events uint64
	P50    time.Duration // half of them were at most this late
	P99    time.Duration
	Limit  time.Duration // what is later than this counts as late
	Late   uint64        // how many were
}

// Share is the part of the events that were late, from 0 to 1.
func (l Lateness) Share() float64 {
	if l.Events == 0 {
		return 0
	}
	return float64(l.Late) / float64(l.Events)
}

// String is a part of a sentence about it.
func (l Lateness) String() string {
	return fmt.Sprintf("late by p50 %v, p99 %v, %.1f%% of %d by more than %v", l.P50, l.P99, 100*l.Share(), l.Events, l.Limit)
}

// Merge is the lateness of the events of two ranks: the percentiles are those of the
// worse one.
func (l Lateness) Merge(m Lateness) Lateness {
	return Lateness{Events: l.Events + m.Events, P50: max(l.P50, m.P50), P99: max(l.P99, m.P99), Limit: max(l.Limit, m.Limit), Late: l.Late + m.Late}
}

// mostLate is the part of the events that may be late: the medians of what was
// measured then still are those of the emulated network.
const mostLate = 0.05

// Valid reports whether the host carried the load.
func (p Punctuality) Valid() bool {
	return p.Delivered.Share() <= mostLate && p.Noticed.Share() <= mostLate
}

// String is a sentence about it.
func (p Punctuality) String() string {
	verdict := "the host carried the load"
	if !p.Valid() {
		verdict = "INVALID: the host could not carry the load"
	}
	return fmt.Sprintf("%s: deliveries were %v; ranks went on %v", verdict, p.Delivered, p.Noticed)
}

// Merge is the punctuality of two ranks together.
func (p Punctuality) Merge(q Punctuality) Punctuality {
	return Punctuality{p.Delivered.Merge(q.Delivered), p.Noticed.Merge(q.Noticed), p.Humble || q.Humble}
}
