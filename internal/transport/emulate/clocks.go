package emulate

import (
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// clocks are what all ranks know of the card of one, in memory that all reach. Times
// are nanoseconds of the system's monotonic clock, which is one for all processes.
//
//	| out | short out | in | short in | under way | silent at | delivered | reaction |
//
// Each is a word of 64 bits.
type clocks struct {
	memory   segment.Span // keeps it mapped
	out, in  port
	underway *atomic.Uint64 // messages of the rank that have not ended
	silent   *atomic.Uint64 // when it falls silent, 0 for never

	delivered *atomic.Uint64 // when what was delivered last was due, until the rank has noticed; 0 for nothing
	reaction  *atomic.Uint64 // how many nanoseconds the rank takes to notice; see reactor
}

// A port is one direction of a card: when it is free for a message.
type port struct {
	all   *atomic.Uint64 // for one of any length
	short *atomic.Uint64 // for a short one, as if there were no longer ones
}

// clockBytes is the memory of clocks.
const clockBytes = 64

// clocksOn lays clocks over memory of clockBytes.
func clocksOn(memory segment.Span) (*clocks, error) {
	var words [clockBytes / 8]*atomic.Uint64
	for i := range words {
		w, err := memory.Segment().Word(memory.Offset() + uint64(8*i))
		if err != nil {
			return nil, err
		}
		words[i] = w
	}
	return &clocks{
		memory: memory, out: port{words[0], words[1]}, in: port{words[2], words[3]},
		underway: words[4], silent: words[5], delivered: words[6], reaction: words[7],
	}, nil
}

// clocksOf returns the clocks of rank r.
func clocksOf(shared transport.Transport, r base.Rank) (*clocks, error) {
	l, err := shared.Link(r)
	if err != nil {
		return nil, err
	}
	if _, _, err := l.Size(clockSegment); err != nil {
		return nil, err
	}
	memory, ok := l.Mapped(transport.Addr{Segment: clockSegment}, clockBytes)
	if !ok {
		return nil, fmt.Errorf("%w: the card of rank %d cannot be reached through %s", base.ErrNotSupported, r, shared.Name())
	}
	return clocksOn(memory)
}

// shortMessage is how many bytes a message may have that does not wait for longer
// ones: about a packet of 4 KiB and its header.
const shortMessage = 4096

// take occupies the port for a message from a time on, at the earliest, for so many
// nanoseconds, and returns when it begins.
func (p port) take(from, nanos int64, bytes uint64) (start int64) {
	if bytes > shortMessage {
		return occupy(p.all, from, nanos)
	}
	start = occupy(p.short, from, nanos)
	occupy(p.all, start, nanos) // longer ones are that much slower
	return start
}

// occupy moves the time in word, from which on something is free, behind its next use.
func occupy(word *atomic.Uint64, from, nanos int64) (start int64) {
	for {
		free := word.Load()
		start = max(from, int64(free))
		if word.CompareAndSwap(free, uint64(start+nanos)) {
			return start
		}
	}
}
