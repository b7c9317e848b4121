package executor

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// TestCopyNote wants one notification for each copy, and those of copies that follow each other in
// different lines, where there are several.
func TestCopyNote(t *testing.T) {
	for copies := uint32(1); copies <= 256; copies *= 2 {
		x := Executable{copies: copies - 1}
		x.spread()
		seen := map[gaspi.NotificationID]bool{}
		for k := range copies {
			id := x.copyNote(k)
			if seen[id] || uint32(id) >= copies {
				t.Errorf("%d copies: copy %d has notification %d, seen before: %t", copies, k, id, seen[id])
			}
			seen[id] = true
			if next := x.copyNote((k + 1) % copies); copies > notesPerLine && id/notesPerLine == next/notesPerLine {
				t.Errorf("%d copies: copies %d and %d have notifications %d and %d, in one line", copies, k, k+1, id, next)
			}
		}
	}
}
