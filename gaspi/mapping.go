package gaspi

import (
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/notify"
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
// Writes through a Mapping take no entry of a queue, and are counted only by CountMapped. They are for
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
	if uint64(id) >= uint64(p.cfg.Segments) {
		return Mapping{}, false
	}
	return p.window(r, id)
}

// window is Mapping for a segment of another rank, also for its system segment.
func (p *Proc) window(r Rank, id SegmentID) (Mapping, bool) {
	way, err := p.route(r)
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

// A BarrierMapping is where the signals of a group's barrier lie in this process, if this rank
// signals and waits once, in memory of this host. Code in another language does what Proc.Barrier
// does by it:
//
//   - It stores the number of the barrier into the first of Words of each of To, as a poster does by a
//     Mapping. The number is one more than that of the barrier before; 1 comes after 2^32-1.
//   - It loads each of From with acquire order until all have reached the number: the word less the
//     number, as a signed integer of 32 bits, is not negative.
//   - If it would sleep, or a member is lost, it calls Passed with the number of the barrier before,
//     and then Proc.Barrier. That goes on with the barrier, and does the next ones until one has
//     ended without an error.
//
// Barriers that are done so are counted only by CountMapped and are in no trace. A revocation of the group
// ends the next call of Proc.Barrier.
type BarrierMapping struct {
	Number uint32          // of the last barrier that has ended
	To     []Mapping       // one for each member that this rank signals, with one word and without Data
	Ranks  []Rank          // those of To
	From   []atomic.Uint32 // the signals to this rank

	barrier *barrier
	keep    any // what From stays mapped by
}

// BarrierMapping returns the signals of the barrier of g. False before the first barrier has ended,
// while one is under way, if calls are traced, and if the signals go through a network or this rank
// passes on those of others. The memory stays mapped as long as the BarrierMapping is kept. It does not block.
func (g *Group) BarrierMapping() (BarrierMapping, bool) {
	b := g.barrier
	if g.ready("barrier") != nil || g.p.timeline != nil || !b.busy.enter() {
		return BarrierMapping{}, false
	}
	defer b.busy.leave()
	if b.active || len(b.rounds) != 1 {
		return BarrierMapping{}, false
	}
	round := &b.rounds[0]
	_, words := g.p.system.Notifications().Memory()
	m := BarrierMapping{Number: uint32(b.epoch), From: words[round.first:][:len(round.from)], barrier: b, keep: g.p.system}
	for _, to := range round.to {
		peer, ok := g.p.window(to.rank, g.p.lay.ID)
		if !ok {
			return BarrierMapping{}, false
		}
		peer.Data, peer.Words = nil, peer.Words[to.id:][:1]
		m.To, m.Ranks = append(m.To, peer), append(m.Ranks, to.rank)
	}
	return m, true
}

// Passed tells the next call of Proc.Barrier that the caller has carried out the barriers up to a number.
// It does nothing while a barrier that was begun has not ended. The caller sees to it that no other
// goroutine is in a barrier of the group.
func (m *BarrierMapping) Passed(number uint32) {
	if !m.barrier.active {
		m.barrier.epoch = notify.Value(number)
	}
}

// MappedStats are counts of what code in another language did by a Mapping or BarrierMapping, and without a
// call of this package. They only grow.
type MappedStats struct {
	QueueWaits  uint64        // waits for queues on which nothing was under way
	Barriers    uint64        // barriers that have ended
	BarrierWait time.Duration // the time in these
	Peers       []PeerStats   // transfers by peer, each at most once; of them posts that were not issued
}

// CountMapped adds counts to those of Stats, PeerStats and CollectiveStats. read returns them; it is called by
// any goroutine, whenever somebody looks, until Close has returned. It calls no method of p, and the memory of
// Peers is the caller's. CountMapped is called once, and does not block.
func (p *Proc) CountMapped(read func() MappedStats) { p.stats.mapped.Store(&read) }

// byMappings returns the counts of what was done by mappings.
func (c *counters) byMappings() MappedStats {
	if read := c.mapped.Load(); read != nil {
		return (*read)()
	}
	return MappedStats{}
}
