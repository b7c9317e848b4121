package notify

import (
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// A line is LineSize bytes of memory: data, and behind it the value that says so. A process that sees the value has the
// data with it, by one transfer of a cache line, and need not look at a notification.
const (
	LineSize    = 64 // bytes, at a multiple of which a line begins
	LinePayload = 56 // bytes of data that it holds at most

	lineValueAt = LineSize - 4
)

// PostLine copies src, of at most LinePayload bytes, to the beginning of a line, and then stores v behind it and as
// notification id, both with release order. It does not block, and wakes no waiter: see StoreRelease. In memory that
// does not begin at a multiple of 4 it stores no value behind the data.
func (b *Array) PostLine(line, src []byte, id ID, v Value) {
	word := lineValue(line)
	if word != nil && len(src) <= ShortCopy {
		cpu.CopyReleaseTwice(line, src, word, &b.words[id], uint32(v))
		return
	}
	copy(line, src)
	if word != nil {
		cpu.StoreRelease(word, uint32(v))
	}
	b.StoreRelease(id, v)
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
			if !b.wait.takesTurns() {
				return false
			}
			b.turn(spent)
			return word.Load() == uint32(v)
		}
	}
}

// lineValue returns where the value of a line lies, nil if it could not be stored in one step.
func lineValue(line []byte) *atomic.Uint32 {
	word := line[lineValueAt:LineSize]
	if !aligned(word) {
		return nil
	}
	return &wordsOf(word, 1)[0]
}
