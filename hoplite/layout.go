package hoplite

import "github.com/gaspi-go/gaspi-go/gaspi"

const (
	// slotSize is the unit in which rings are handed out. A message without data fits into
	// one if its id has at most 70 letters or so.
	slotSize = 256
	// Bytes of one ring: room for ringObjects of the greatest objects that messages carry,
	// within bounds. Two per member take at most ringTotal, unless that would leave less than
	// ringLeast: a message goes in parts if it must, but parts wait for credit.
	ringObjects = 4
	ringTotal   = 4 << 20
	ringMost    = 256 << 10
	ringLeast   = 16 << 10
)

// A layout says where things lie in the segment of a member, the same at all:
//
//	| rings: in from member 0 | in from 1 | ... | out to 0 | out to 1 | ... | objects |
//
// and on its array:
//
//	| doorbell | word of slot 0 | ... | mail of member 0: slot 0 | slot 1 | ... | credit of 0 | credit of 1 | ... |
//
// The word of a slot is the watermark of what it receives. The mail of a member is one
// notification per slot of its ring, as only a notification for just this write says that
// its bytes have landed. A credit is how much of a ring its reader has read.
type layout struct {
	members int
	ring    int // bytes
	slots   int // transfers
}

func newLayout(members, slots int, inline int64) layout {
	ring := ringMost
	for ring > ringLeast && (2*members*ring > ringTotal || int64(ring/2) >= ringObjects*inline) {
		ring /= 2
	}
	return layout{members: members, ring: ring, slots: slots}
}

func (y layout) ringSlots() int     { return y.ring / slotSize }
func (y layout) in(from int) uint64 { return uint64(from) * uint64(y.ring) }
func (y layout) out(to int) uint64  { return y.in(y.members + to) }
func (y layout) objects() uint64    { return y.in(2 * y.members) }

func (y layout) doorbell() gaspi.NotificationID { return 0 }
func (y layout) word(slot uint32) gaspi.NotificationID {
	return 1 + gaspi.NotificationID(slot)
}
func (y layout) mail(from, slot int) gaspi.NotificationID {
	return gaspi.NotificationID(1 + y.slots + from*y.ringSlots() + slot)
}
func (y layout) credit(of int) gaspi.NotificationID {
	return y.mail(y.members, 0) + gaspi.NotificationID(of)
}
func (y layout) ids() uint32 { return uint32(y.credit(y.members)) }
