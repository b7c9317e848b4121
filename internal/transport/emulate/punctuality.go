package emulate

import (
	"fmt"
	"math/bits"
	"time"
)

// A Punctuality is how late what was due happened, of the messages that a rank has
// sent and asked for: whether the host could carry the emulated network.
type Punctuality struct {
	Events  uint64        // how many were due
	P50     time.Duration // half of them were at most this late
	P99     time.Duration
	Most    time.Duration
	Limit   time.Duration // what is later than this counts as late
	Late    uint64        // how many were
	Ordered bool          // the thread that delivers goes before all others of a core
}

// Share is the part of the events that were late, from 0 to 1.
func (p Punctuality) Share() float64 {
	if p.Events == 0 {
		return 0
	}
	return float64(p.Late) / float64(p.Events)
}

// mostLate is the part of the events that may be late: the medians of what was
// measured then still are those of the emulated network.
const mostLate = 0.05

// Valid reports whether the host carried the load.
func (p Punctuality) Valid() bool { return p.Share() <= mostLate }

// String is a line about it.
func (p Punctuality) String() string {
	verdict := "the host carried the load"
	if !p.Valid() {
		verdict = "INVALID: the host could not carry the load"
	}
	return fmt.Sprintf("deliveries late by p50 %v, p99 %v; %.1f%% of %d by more than %v: %s",
		p.P50, p.P99, 100*p.Share(), p.Events, p.Limit, verdict)
}

// Merge is the punctuality of two ranks together: percentiles are those of the worse.
func (p Punctuality) Merge(q Punctuality) Punctuality {
	return Punctuality{
		Events: p.Events + q.Events, P50: max(p.P50, q.P50), P99: max(p.P99, q.P99), Most: max(p.Most, q.Most),
		Limit: max(p.Limit, q.Limit), Late: p.Late + q.Late, Ordered: p.Ordered && q.Ordered,
	}
}

// A tally counts how late events were, in classes that are an eighth wide.
type tally struct {
	class [64 * 8]uint64
	most  int64
	late  uint64
	limit int64 // nanoseconds
}

// add counts an event.
func (t *tally) add(nanos int64) {
	nanos = max(nanos, 0)
	t.class[classOf(nanos)]++
	t.most = max(t.most, nanos)
	if nanos > t.limit {
		t.late++
	}
}

// classOf is the class of a time: its highest bit and the three behind it.
func classOf(nanos int64) int {
	if nanos < 8 {
		return int(nanos)
	}
	shift := bits.Len64(uint64(nanos)) - 4
	return (shift+1)*8 + int(nanos>>shift)&7
}

// topOf is the longest time of a class.
func topOf(class int) int64 {
	if class < 8 {
		return int64(class)
	}
	shift := class/8 - 1
	return int64(8+class%8+1)<<shift - 1
}

// quantile is what so large a part of the events are at most.
func (t *tally) quantile(part float64, events uint64) time.Duration {
	rest := uint64(part * float64(events))
	for i, k := range t.class {
		if rest < k {
			return time.Duration(min(topOf(i), t.most))
		}
		rest -= k
	}
	return time.Duration(t.most)
}

// lateness is how late an event may be before it counts as late: a quarter of the
// latency, but never less than what a wake-up takes on a machine that does nothing else.
func (n *Network) lateness() time.Duration { return max(n.Latency/4, 25*time.Microsecond) }

func (n *nic) punctuality() Punctuality {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := Punctuality{Limit: n.net.lateness(), Late: n.at.late, Most: time.Duration(n.at.most), Ordered: n.priority.Load()}
	for _, k := range n.at.class {
		p.Events += k
	}
	p.P50, p.P99 = n.at.quantile(0.5, p.Events), n.at.quantile(0.99, p.Events)
	return p
}
