package layout_test

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/layout"
)

// sizes are small enough to look at each byte, with lengths that are and are not whole cache lines.
var sizes = []layout.Sizes{
	{Segments: 1, Groups: 1, Ranks: 1, Vector: 8, PassiveMax: 1},
	{Segments: 3, Groups: 2, Ranks: 3, Vector: 65, PassiveMax: 64},
	{Segments: 32, Groups: 5, Ranks: 7, Vector: 320, PassiveMax: 200},
}

// Ranges of bytes begin one behind the other, and the last one ends at the end of the segment.
func TestNoTwoThingsShareBytes(t *testing.T) {
	for _, s := range sizes {
		l := layout.New(s)
		end, last := uint64(0), base.Rank(s.Ranks)
		next := func(what string, at, bytes uint64) {
			t.Helper()
			if at < end {
				t.Fatalf("%+v: %s begins at byte %d, before the end of the last one, %d", s, what, at, end)
			}
			end = at + bytes
		}
		for g := range s.Groups {
			next("group", l.GroupAt(g), l.GroupAt(g+1)-l.GroupAt(g))
			if l.VectorSlot < s.Vector || l.VectorSlot%64 != 0 {
				t.Fatalf("%+v: a vector has %d bytes", s, l.VectorSlot)
			}
		}
		for r := range last {
			for g := range s.Groups {
				next("commit record", l.CommitIn(r, g), 8)
			}
		}
		for r := range last {
			next("header", l.PassiveOut(r), layout.PassiveHeader)
		}
		for r := range last {
			next("lane", l.PassiveLane(r), layout.PassiveHeader+s.PassiveMax)
		}
		if end > l.Size() || l.Size()-end >= 64 {
			t.Errorf("%+v: the last thing ends at byte %d of %d", s, end, l.Size())
		}
	}
}

// Each notification is for one purpose, and none is for nothing.
func TestNoTwoThingsShareANotification(t *testing.T) {
	for _, s := range sizes {
		l := layout.New(s)
		next := uint32(0)
		for g := range s.Groups {
			if first := uint32(l.GroupSlot(g)); first != next {
				t.Fatalf("%+v: group %d begins at notification %d, want %d", s, g, first, next)
			}
			if at := uint32(l.ConsentSlot(g, 0, 0)); at != next+uint32(l.Group.Turn)+1 {
				t.Fatalf("%+v: agreements of group %d begin at notification %d", s, g, at)
			}
			next = uint32(l.ConsentSlot(g, 1, s.Ranks-1)) + 1
		}
		for _, slot := range []func(base.Rank) uint32{
			func(r base.Rank) uint32 { return uint32(l.CommitSlot(r)) },
			func(r base.Rank) uint32 { return uint32(l.PassiveArrival(r)) },
			func(r base.Rank) uint32 { return uint32(l.PassiveReceipt(r)) },
		} {
			for r := range base.Rank(s.Ranks) {
				if slot(r) != next {
					t.Fatalf("%+v: a notification of rank %d is %d, want %d", s, r, slot(r), next)
				}
				next++
			}
		}
		if contact := uint32(l.ContactSlot()); contact != next || l.Notifications() != next+1 {
			t.Errorf("%+v: contacts have notification %d of %d, want %d", s, contact, l.Notifications(), next)
		}
	}
}
