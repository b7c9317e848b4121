//go:build linux && !portable && !race

package segment

import (
	"testing"

	"github.com/gaspi-go/gaspi-go/notify"
)

// Close gives pages back though views are still there; Leave does not.
func TestCloseGivesReservedPagesBack(t *testing.T) {
	for want, end := range []func(s *Segment) error{(*Segment).Close, (*Segment).Leave} {
		s, err := Reserve(3*pageSize, 64, notify.GoroutineWait(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		view := s.All()
		for i := range view.Bytes() {
			view.Bytes()[i] = 1
		}
		if err := end(s); err != nil {
			t.Fatal(err)
		}
		for i, got := range view.Bytes() {
			if int(got) != want {
				t.Fatalf("byte %d is %d, want %d", i, got, want)
			}
		}
	}
}
