package gaspi

import (
	"sync/atomic"
)

// A Mapping is the memory of a rank's segment in this process, with its notification array. Code
// in another language does what queues and waits do by it:
//
//   - A poster copies its bytes, stores a value that is not 0 into Words[id] with release order,
//     and then loads Wake. If bit 0 is set, it clears that bit, adds 2, and wakes all sleepers of
//     the futex Wake.
//   - A waiter loads Words[id] with acquire order, and takes a notification by an exchange with 0.
//     A waiter that sleeps calls WaitSome.
//
// Writes through a Mapping take no entry of a queue and are not counted by Stats. They are for
// ranks that have not been lost.
type Mapping struct {
	Data  []byte          // all bytes of the segment
	Wake  *atomic.Uint32  // bit 0: somebody may sleep; the bits above count wake-ups
	Words []atomic.Uint32 // the notifications, by id; 0 is not set

	// The Mapping of another rank's segment is to be written to while *Live is Generation: the
	// owner changes the word when it deletes the segment. Nil for a segment of this rank.
	Live       *atomic.Uint64
	Generation uint64

	keep any // what the memory stays mapped by
}

// Mapping returns segment id of rank r where this process has it in its memory: a segment of this
// rank, or one of a rank of the same host that is registered with this one and is no memory of
// the program. False where it cannot be addressed. The memory stays mapped as long as
// the Mapping is kept, also after the segment is deleted. It may ask the peer's process for a
// descriptor, and otherwise does not block.
func (p *Proc) Mapping(r Rank, id SegmentID) (Mapping, bool) {
	if r == p.rank {
		s := p.segments.Get(int(id))
		if s == nil {
			return Mapping{}, false
		}
		wake, words := s.mem.Notifications().Memory()
		return Mapping{Data: s.Bytes(), Wake: wake, Words: words, keep: s.mem}, true
	}
	way, err := p.reach(Remote{Rank: r, Segment: id})
	if err != nil || way.direct == nil || p.closed.Load() {
		return Mapping{}, false
	}
	w, err := way.direct.Window(id)
	if err != nil {
		return Mapping{}, false
	}
	wake, words := w.Segment.Notifications().Memory()
	return Mapping{Data: w.Segment.All().Bytes(), Wake: wake, Words: words, Live: w.Live, Generation: w.Generation, keep: w}, true
}
