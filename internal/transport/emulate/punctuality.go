package emulate

import (
	"math/bits"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
)

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

// lateness returns how late an event may be before it counts as late: a quarter of the
// latency, but never less than what a wake-up takes on a machine that does nothing else.
func lateness(n *emulation.Network) time.Duration { return max(n.Latency/4, 25*time.Microsecond) }

// lateness is what a tally comes to.
func (t *tally) lateness() emulation.Lateness {
	l := emulation.Lateness{Limit: time.Duration(t.limit), Late: t.late}
	for _, k := range t.class {
		l.Events += k
	}
	l.P50, l.P99 = t.quantile(0.5, l.Events), t.quantile(0.99, l.Events)
	return l
}

// punctuality is how it was since the last call with begin, or ever.
func (n *nic) punctuality(begin bool) emulation.Punctuality {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := emulation.Punctuality{Delivered: n.at.lateness(), Noticed: n.up.lateness(), Humble: n.humble.Load()}
	if begin {
		n.at, n.up = tally{limit: n.at.limit}, tally{limit: n.up.limit}
	}
	return p
}

// occupies returns how long a message of so many bytes keeps a card busy, in nanoseconds.
func occupies(n *emulation.Network, bytes uint64) int64 {
	if n.Bandwidth == 0 {
		return 0
	}
	return int64(float64(bytes) / n.Bandwidth * 1e9)
}
