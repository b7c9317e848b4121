package gaspi

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A layout says where things lie in the system segment, which every rank has
// under the id one above the program's. Groups, passive messages and commits
// are written with nothing but one-sided operations on it. It follows from the
// configuration and the size of the job, so it is the same on all ranks.
//
//	data:          | group 0 | group 1 | ... | commit records | passive headers out | passive lanes in |
//	notifications: | group 0 | group 1 | ... | commits        | passive arrivals    | passive receipts | contacts |
type layout struct {
	id     segment.ID
	news   segment.ID // of revocations
	ranks  int
	groups int

	vectorSlot  uint64 // bytes of one vector with its header
	groupBytes  uint64
	commitBytes uint64
	laneBytes   uint64

	passiveMax uint64
}

const (
	// A group has two barriers, so that those inside collective calls such as
	// CreateSegment cannot be mistaken for the program's own.
	slotBarrier  = 0
	slotInternal = barrierSlots
	slotVector   = 2 * barrierSlots                // from each child, then from the parent
	slotBallot   = slotVector + topology.TreeSlots // likewise
	slotTurn     = slotBallot + topology.TreeSlots // from the parent; see turns
	slotConsent  = slotTurn + 1                    // two from each rank of the job, as numbers of members; see consent

	// A group has room for the vectors of its children, for the result from its
	// parent, and for what it accumulates.
	vectorSlots = topology.TreeSlots + 1

	commitRecord  = 8  // bytes of a record; see record
	passiveHeader = 64 // bytes; one cache line
)

func newLayout(c Config, ranks int) layout {
	vector := roundUp(uint64(vectorHeader+8*c.AllReduceElements), 64)
	return layout{
		id:          segment.ID(c.Segments),
		news:        segment.ID(c.Segments) + 1,
		ranks:       ranks,
		groups:      c.Groups,
		vectorSlot:  vector,
		groupBytes:  vectorSlots * vector,
		commitBytes: uint64(commitRecord * c.Groups),
		laneBytes:   passiveHeader + roundUp(uint64(c.PassiveMax), 64),
		passiveMax:  uint64(c.PassiveMax),
	}
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// size is the number of bytes of the system segment.
func (l layout) size() uint64 { return l.passiveLane(Rank(l.ranks)) }

// notifications is the number of its notifications.
func (l layout) notifications() uint32 { return uint32(l.contactSlot()) + 1 }

// groupAt is where group g has its vectors.
func (l layout) groupAt(g int) uint64 { return uint64(g) * l.groupBytes }

// commitsIn is where rank r writes its commit records, and commitIn that of its
// group with a given number. Each has a place of its own, so that none replaces
// another that was not taken yet.
func (l layout) commitsIn(r Rank) uint64 {
	return l.groupAt(l.groups) + uint64(r)*l.commitBytes
}
func (l layout) commitIn(r Rank, index int) uint64 {
	return l.commitsIn(r) + uint64(index)*commitRecord
}

// passiveOut is where this rank keeps the header of the message it sends to r.
func (l layout) passiveOut(r Rank) uint64 {
	return roundUp(l.commitsIn(Rank(l.ranks)), 64) + uint64(r)*passiveHeader
}

// passiveLane is where rank r writes the passive message it sends here.
func (l layout) passiveLane(r Rank) uint64 {
	return l.passiveOut(Rank(l.ranks)) + uint64(r)*l.laneBytes
}

// groupSlot is the first notification of group g.
func (l layout) groupSlot(g int) notify.ID { return notify.ID(g * l.slotsOfGroup()) }

// slotsOfGroup is how many notifications a group has.
func (l layout) slotsOfGroup() int { return slotConsent + 2*l.ranks }

// consentSlot is the notification of group g that member m posts in the first or second
// part of an agreement.
func (l layout) consentSlot(g, part, m int) notify.ID {
	return l.groupSlot(g) + slotConsent + notify.ID(part*l.ranks+m)
}

// commitSlot is the notification of a commit record from rank r.
func (l layout) commitSlot(r Rank) notify.ID { return l.groupSlot(l.groups) + notify.ID(r) }

// passiveArrival is the notification of a passive message from rank r.
func (l layout) passiveArrival(r Rank) notify.ID {
	return l.commitSlot(Rank(l.ranks)) + notify.ID(r)
}

// passiveReceipt is the notification that rank r took this rank's message.
func (l layout) passiveReceipt(r Rank) notify.ID {
	return l.passiveArrival(Rank(l.ranks)) + notify.ID(r)
}

// contactSlot is the notification of a rank that connects with this one and has nothing to say;
// nobody waits for it.
func (l layout) contactSlot() notify.ID { return l.passiveReceipt(Rank(l.ranks)) }

// openSystem makes the runtime's own segments and lets every rank reach them.
func (p *Proc) openSystem() error {
	var err error
	if p.system, err = p.openOwn(p.lay.id, p.lay.size(), p.lay.notifications()); err != nil {
		return fmt.Errorf("system segment: %w", err)
	}
	if p.news, err = p.openOwn(p.lay.news, 8, uint32(p.cfg.Groups)); err != nil {
		return fmt.Errorf("segment of revocations: %w", err)
	}
	return nil
}

// openOwn makes a segment that every rank can reach.
func (p *Proc) openOwn(id segment.ID, size uint64, notifications uint32) (*segment.Segment, error) {
	seg, err := p.ownMemory(size, notifications)
	if err != nil {
		return nil, err
	}
	if err = p.wire.Expose(id, seg); err != nil {
		_ = seg.Close()
		return nil, err
	}
	for r := range Rank(p.size) {
		if err == nil {
			err = p.wire.Grant(id, r)
		}
	}
	return seg, err
}

// reserveAt is the size from which the runtime's own memory of ranks of one process is apart from
// the heap. Most of it is never used, and grows with the square of their number.
const reserveAt = 8 << 20

// ownMemory makes memory for the runtime's own segments.
func (p *Proc) ownMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	if p.inside && size+notify.Bytes(notifications) > reserveAt {
		return segment.Reserve(size, notifications, p.wire.Wait)
	}
	return p.wire.NewMemory(size, notifications)
}

// clearGroup clears the slots of a group.
func (p *Proc) clearGroup(index int) {
	first := p.lay.groupSlot(index)
	for i := range p.lay.slotsOfGroup() {
		_, _ = p.system.Notifications().Reset(first + notify.ID(i)) // the id is on the array by layout
	}
}
