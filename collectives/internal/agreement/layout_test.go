package agreement

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// Goal: no two things of a layout share a byte or a notification, and all lie in its part of
// the segment.
func TestLayout(t *testing.T) {
	for members := 1; members <= 70; members++ {
		l := LayoutOf(members)
		owner := make(map[uint64]string)
		take := func(what string, from, size uint64) {
			t.Helper()
			if from+size > l.Size() {
				t.Errorf("%d members: %s ends at byte %d of %d", members, what, from+size, l.Size())
			}
			for b := from; b < from+size; b += noteSize {
				if owner[b] != "" {
					t.Fatalf("%d members: byte %d belongs to %s and %s", members, b, owner[b], what)
				}
				owner[b] = what
			}
		}
		ids := make(map[gaspi.NotificationID]bool)
		post := func(id gaspi.NotificationID) {
			t.Helper()
			if ids[id] || uint64(id) >= l.Notifications() {
				t.Fatalf("%d members: notification %d of %d is taken twice or not of the layout", members, id, l.Notifications())
			}
			ids[id] = true
		}
		for a := range uint64(cells) {
			for round := range l.rounds {
				at := l.cell(a, round) * pairSize
				take("a cell to read", l.in+at, pairSize)
				take("a cell to send", l.out+at, pairSize)
				post(gaspi.NotificationID(l.cell(a, round)))
			}
		}
		for m := range members {
			take("a row", l.rows+uint64(m)*rowSize, rowSize)
			take("a row for a member", l.staged+uint64(m)*rowSize, rowSize)
			take("a verdict", l.verdicts+uint64(m)*pairSize, pairSize)
			post(l.rowNote(m))
			post(l.readNote(m))
			post(l.verdictNote(m))
		}
		take("the own verdict", l.own, pairSize)
		take("a trail to read", l.trailIn, trailSize)
		take("a trail to send", l.trailOut, trailSize)
		post(l.trailNote())
		post(l.trailReadNote())
		if uint64(len(ids)) != l.Notifications() || l.Size()%4096 != 0 {
			t.Errorf("%d members: %d of %d notifications are used, and the size is %d", members, len(ids), l.Notifications(), l.Size())
		}
	}
}
