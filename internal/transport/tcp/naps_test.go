package tcp

import (
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/notify"
)

// The thread naps for longer and longer while callers poll. It takes over after the first nap without a poll, but
// where ranks share cores only if no wait is under way, or none has polled for 10 ms. There, a nap during which
// the last wait ended is followed by a short one.
func TestNaps(t *testing.T) {
	polls, waits, quiet, computes := [2]bool{true, true}, [2]bool{true, false}, [2]bool{false, true}, [2]bool{false, false}
	for _, c := range []struct {
		name string
		spin time.Duration
		ends [][2]bool // of each nap: somebody has polled, and a wait is under way
		naps []int     // in us
	}{
		{"own core", 1, [][2]bool{polls, waits, polls, polls, polls, polls, polls, quiet}, []int{50, 100, 200, 400, 800, 1000, 1000, 1000}},
		{"computes", 0, [][2]bool{waits, computes}, []int{1000, 1000}},
		{"stops in a long nap", 0, [][2]bool{polls, polls, polls, polls, waits, computes}, []int{1000, 2000, 4000, 8000, 10000, 1000}},
		{"has no core", 0, [][2]bool{quiet, quiet, quiet, quiet}, []int{1000, 2000, 4000, 8000}},
		{"gets a core", 0, [][2]bool{quiet, quiet, polls, quiet, quiet}, []int{1000, 2000, 4000, 8000, 10000}},
		{"has no core, then computes", 0, [][2]bool{quiet, quiet, computes}, []int{1000, 2000, 4000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := napsOf(&notify.WaitPolicy{Spin: c.spin})
			var naps []int
			for i, e := range c.ends {
				naps = append(naps, int(n.nap/time.Microsecond))
				if over := n.end(e[0], e[1]); over != (i == len(c.ends)-1) {
					t.Fatalf("nap %d of %v: over is %v", i, naps, over)
				}
			}
			if !slices.Equal(naps, c.naps) {
				t.Errorf("naps of %v us, want %v", naps, c.naps)
			}
		})
	}
}
