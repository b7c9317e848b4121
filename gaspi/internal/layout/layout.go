// Package layout says where things lie in the system segment of a rank.
package layout

import (
	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Sizes are what a layout follows from, the same on all ranks.
type Sizes struct {
	Segments   int    // of the program
	Groups     int    // that a rank has room for
	Ranks      int    // of the job
	Vector     uint64 // bytes of the longest vector of a small reduction, with its header
	PassiveMax uint64 // bytes of the longest passive message
}

// A System says where things lie in the system segment, which every rank has
// under the id one above the program's. Groups, passive messages and commits
// are written with nothing but one-sided operations on it. It follows from the
// configuration and the size of the job, so it is the same on all ranks.
//
//	data:          | group 0 | group 1 | ... | commit records | passive headers out | passive lanes in |
//	notifications: | group 0 | group 1 | ... | commits        | passive arrivals    | passive receipts | contacts |
type System struct {
	ID         segment.ID
	News       segment.ID // of revocations
	Groups     int
	VectorSlot uint64 // bytes of one vector with its header
	PassiveMax uint64
	Group      InGroup

	ranks       int
	groupBytes  uint64
	commitBytes uint64
	laneBytes   uint64
}

// The notifications of a barrier: of a member that ends it because another one has left, and of the signals.
const (
	Left    = 0
	Signals = Left + 1
)

// InGroup says where the notifications of a group are, from its first one.
type InGroup struct {
	// A group has two barriers, so that those inside collective calls such as
	// CreateSegment cannot be mistaken for the program's own.
	Barrier, Internal notify.ID

	Vector  notify.ID // from each child, then from the parent
	Ballot  notify.ID // likewise
	Turn    notify.ID // from the parent; see turns
	consent notify.ID // two from each rank of the job, as numbers of members; see consent
}

func inGroup(ranks int) (g InGroup) {
	barrier := notify.ID(Signals + topology.BarrierSlots(ranks))
	g.Internal = g.Barrier + barrier
	g.Vector = g.Internal + barrier
	g.Ballot = g.Vector + topology.TreeSlots
	g.Turn = g.Ballot + topology.TreeSlots
	g.consent = g.Turn + 1
	return g
}

const (
	// A group has room for the vectors of its children, for the result from its
	// parent, and for what it accumulates.
	vectorSlots = topology.TreeSlots + 1

	commitRecord = 8 // bytes

	// PassiveHeader is how many bytes precede a passive message in its lane; one cache line.
	PassiveHeader = 64
)

// New returns the layout of a job.
func New(s Sizes) System {
	vector := roundUp(s.Vector, 64)
	return System{
		ID:          segment.ID(s.Segments),
		News:        segment.ID(s.Segments) + 1,
		Groups:      s.Groups,
		VectorSlot:  vector,
		PassiveMax:  s.PassiveMax,
		Group:       inGroup(s.Ranks),
		ranks:       s.Ranks,
		groupBytes:  vectorSlots * vector,
		commitBytes: uint64(commitRecord * s.Groups),
		laneBytes:   PassiveHeader + roundUp(s.PassiveMax, 64),
	}
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

// Size is the number of bytes of the system segment.
func (l System) Size() uint64 { return l.PassiveLane(base.Rank(l.ranks)) }

// Notifications is the number of its notifications.
func (l System) Notifications() uint32 { return uint32(l.ContactSlot()) + 1 }

// GroupAt is where group g has its vectors.
func (l System) GroupAt(g int) uint64 { return uint64(g) * l.groupBytes }

// commitsIn is where rank r writes its commit records.
func (l System) commitsIn(r base.Rank) uint64 {
	return l.GroupAt(l.Groups) + uint64(r)*l.commitBytes
}

// CommitIn is where rank r writes the commit record of its group with a given number. Each has a
// place of its own, so that none replaces another that was not taken yet.
func (l System) CommitIn(r base.Rank, index int) uint64 {
	return l.commitsIn(r) + uint64(index)*commitRecord
}

// PassiveOut is where this rank keeps the header of the message it sends to r.
func (l System) PassiveOut(r base.Rank) uint64 {
	return roundUp(l.commitsIn(base.Rank(l.ranks)), 64) + uint64(r)*PassiveHeader
}

// PassiveLane is where rank r writes the passive message it sends here.
func (l System) PassiveLane(r base.Rank) uint64 {
	return l.PassiveOut(base.Rank(l.ranks)) + uint64(r)*l.laneBytes
}

// GroupSlot is the first notification of group g.
func (l System) GroupSlot(g int) notify.ID { return notify.ID(g * l.SlotsOfGroup()) }

// SlotsOfGroup is how many notifications a group has.
func (l System) SlotsOfGroup() int { return int(l.Group.consent) + 2*l.ranks }

// ConsentSlot is the notification of group g that member m posts in the first or second
// part of an agreement.
func (l System) ConsentSlot(g, part, m int) notify.ID {
	return l.GroupSlot(g) + l.Group.consent + notify.ID(part*l.ranks+m)
}

// CommitSlot is the notification of a commit record from rank r.
func (l System) CommitSlot(r base.Rank) notify.ID { return l.GroupSlot(l.Groups) + notify.ID(r) }

// PassiveArrival is the notification of a passive message from rank r.
func (l System) PassiveArrival(r base.Rank) notify.ID {
	return l.CommitSlot(base.Rank(l.ranks)) + notify.ID(r)
}

// PassiveReceipt is the notification that rank r took this rank's message.
func (l System) PassiveReceipt(r base.Rank) notify.ID {
	return l.PassiveArrival(base.Rank(l.ranks)) + notify.ID(r)
}

// ContactSlot is the notification of a rank that connects with this one and has nothing to say;
// nobody waits for it.
func (l System) ContactSlot() notify.ID { return l.PassiveReceipt(base.Rank(l.ranks)) }
