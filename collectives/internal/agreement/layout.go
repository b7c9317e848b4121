package agreement

import (
	"math/bits"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

const (
	// Window is how many operations of a team are under way at a time, at most. Further ones
	// begin when earlier ones end.
	Window = 16
	// cells is how many agreements have cells of their own. A member that begins the one 32
	// later has finished the one 16 later; so all members have begun that, and therefore
	// finished this: see Begin.
	cells = 2 * Window
)

// A Layout says where things lie in the control segment of a member. In its data:
//
//	| agreement cells: in | out | rows of all members | rows for all members | verdicts of all members | own verdict |
//	trail: in | out | free |
//
// and on its array:
//
//	| one per agreement cell | rows | rows that were read | verdicts | trail | trail that was read | free |
//
// A cell is a message of one round of one agreement, a row the calls that a member has
// made last, a verdict two calls that it found to differ, a trail a period of calls.
type Layout struct {
	members, rounds                             int
	in, out, rows, staged, verdicts, own, after uint64
	trailIn, trailOut                           uint64
}

// rowSize is the length of a row in bytes.
const rowSize = Window * noteSize

// LayoutOf returns the layout for a team of so many members.
func LayoutOf(members int) Layout {
	l := Layout{members: members, rounds: bits.Len(uint(members - 1))}
	size := uint64(cells * max(l.rounds, 1) * pairSize)
	rows := uint64(members) * rowSize
	l.out = l.in + size
	l.rows = l.out + size
	l.staged = l.rows + rows
	l.verdicts = l.staged + rows
	l.own = l.verdicts + uint64(members)*pairSize
	l.trailIn = l.own + pairSize
	l.trailOut = l.trailIn + trailSize
	l.after = (l.trailOut + trailSize + 4095) / 4096 * 4096
	return l
}

// Size is the bytes from the beginning of the segment that are not free. It is a multiple of
// 4096.
func (l *Layout) Size() uint64 { return l.after }

// Notifications is how many notifications from 0 on are not free.
func (l *Layout) Notifications() uint64 { return uint64(l.trailReadNote()) + 1 }

// cell is the number of the cell of a round of the a-th agreement.
func (l *Layout) cell(a uint64, round int) uint64 {
	return (a%cells)*uint64(l.rounds) + uint64(round)
}

// rowNote is the notification for the rows of a member, readNote that for those of
// ours that it has read, and verdictNote that for its verdict.
func (l *Layout) rowNote(member int) gaspi.NotificationID {
	return gaspi.NotificationID(cells*l.rounds + member)
}
func (l *Layout) readNote(member int) gaspi.NotificationID {
	return l.rowNote(l.members + member)
}
func (l *Layout) verdictNote(member int) gaspi.NotificationID {
	return l.rowNote(2*l.members + member)
}

// trailNote is the notification for the trail of the member before, trailReadNote that for the
// next one having read ours.
func (l *Layout) trailNote() gaspi.NotificationID     { return l.rowNote(3 * l.members) }
func (l *Layout) trailReadNote() gaspi.NotificationID { return l.trailNote() + 1 }
