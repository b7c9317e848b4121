package notify

import (
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// A line is LineSize bytes of memory: data, and behind it the value that says so. A process that sees the value has the
// data with it, by one transfer of a cache line, and need not look at a notification.
const (
	LineSize    = 64 // bytes, at a multiple of which a line begins
	LinePayload = 56 // bytes of data that it holds at most

	lineValueAt = LineSize - 4
)

// PostLine copies src, of at most LinePayload bytes, to the beginning of a line, and then stores v behind it with
// release order. It does not block. In memory that does not begin at a multiple of 4 it stores no value.
func PostLine(line, src []byte, v Value) {
	word := lineValue(line)
	switch {
	case word == nil:
		copy(line, src)
	case len(src) <= ShortCopy:
		cpu.CopyRelease(line, src, word, uint32(v))
	default:
		copy(line, src)
		cpu.StoreRelease(word, uint32(v))
	}
}

// PollLine reports whether v is behind the data of a line, now or within the first looks of a wait, which take about a
// microsecond. Where waiters yield and do not spin it looks once, lets others run, and looks again: what it waits for has
// mostly come then, and the notification stays in the cache of its sender. spent, if not nil, grows by about the
// nanoseconds of that. It acquires: who sees v sees the data.
func (b *Array) PollLine(line []byte, v Value, spent *atomic.Int64) bool {
	word := lineValue(line)
	if word == nil || b.closed() {
		return false
	}
	for looks := b.wait.lineLooks(); ; cpu.Relax() {
		if word.Load() == uint32(v) {
			return true
		}
		if looks--; looks == 0 {
			return b.wait.Spin == 0 && b.wait.Yield > 0 && b.yieldForLine(word, v, spent)
		}
	}
}

const (
	// timedTurns is how many turns of an array are timed, before one in sampledTurns stands for all of them: two looks at
	// the clock take a twentieth of a short collective operation of ranks that share cores.
	timedTurns   = 1024
	sampledTurns = 16
	// spread is odd, so that its multiples are spread evenly over all words, whatever turns are alike.
	spread = 0x9E3779B9
)

// turnWeight returns for how many turns the time of the n-th stands, from 0; 0 if it is not timed.
func turnWeight(n uint32) int64 {
	switch {
	case n < timedTurns:
		return 1
	case n*spread < 1<<32/sampledTurns:
		return sampledTurns
	}
	return 0
}

// yieldForLine lets others run once, and reports whether v is behind the data of a line then.
func (b *Array) yieldForLine(word *atomic.Uint32, v Value, spent *atomic.Int64) bool {
	n := b.turns.Load()
	b.turns.Store(n + 1) // turns of several goroutines may count as one
	weight := turnWeight(n)
	if spent == nil {
		weight = 0
	}
	var start time.Duration
	if weight > 0 {
		start = now()
	}
	b.wait.YieldOnce()
	b.poll()
	if weight > 0 {
		spent.Add(weight * int64(now()-start))
	}
	return word.Load() == uint32(v)
}

// lineValue returns where the value of a line lies, nil if it could not be stored in one step.
func lineValue(line []byte) *atomic.Uint32 {
	word := line[lineValueAt:LineSize]
	if !aligned(word) {
		return nil
	}
	return &wordsOf(word, 1)[0]
}
