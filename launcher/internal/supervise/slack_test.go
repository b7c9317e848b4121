package supervise

import (
	"runtime"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestSpareCores looks at the slack of the thread that starts ranks, meanwhile and afterwards: it is never less than
// the thread's own.
func TestSpareCores(t *testing.T) {
	runtime.LockOSThread() // and never back: the thread ends
	cores := runtime.GOMAXPROCS(0)
	for _, own := range []time.Duration{50 * time.Microsecond, 400 * time.Microsecond, 3 * time.Millisecond} {
		if err := thread.SetTimerSlack(own); err != nil {
			testenv.Lack(t, "the slack of timers cannot be set here: "+err.Error())
		}
		for _, c := range []struct {
			ranks int
			want  time.Duration
		}{{1, 0}, {cores, 0}, {3 * cores, 150 * time.Microsecond}, {3*cores + 1, 200 * time.Microsecond}, {100 * cores, 5 * time.Millisecond}, {1000 * cores, 5 * time.Millisecond}} {
			restore := (&Ranks{ranks: make([]*rank, c.ranks)}).spareCores()
			if got, err := thread.TimerSlack(); err != nil || got != max(own, c.want) {
				t.Errorf("%d ranks on %d cores, of a thread with %v: %v, %v; want %v", c.ranks, cores, own, got, err, max(own, c.want))
			}
			restore()
			if got, err := thread.TimerSlack(); err != nil || got != own {
				t.Errorf("afterwards the thread has %v, %v; want %v", got, err, own)
			}
		}
	}
}
