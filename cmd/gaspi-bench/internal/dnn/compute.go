package dnn

import (
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// A sleeper emulates an accelerator: the processor is free while it computes.
// It takes the time that it oversleeps off the next layer, so that a step of hundreds of short
// layers still has its length. Its clock is the system's: time.Sleep rounds to milliseconds,
// and many layers are shorter.
type sleeper struct {
	late  time.Duration
	never atomic.Uint32 // nobody wakes who waits on it
}

func (s *sleeper) compute(d time.Duration) {
	d -= s.late
	begin := time.Now()
	for left := d; left > 0; left = d - time.Since(begin) {
		thread.FutexWait(&s.never, 0, left)
	}
	s.late = time.Since(begin) - d
}

// A spinner emulates computing on the processor: it does a fixed amount of work,
// which takes longer while communication uses the same core.
type spinner struct {
	rate float64 // turns per second
	sum  float64
}

// newSpinner finds out how fast the processor is now.
func newSpinner() *spinner {
	const some, probe = 1 << 12, 20 * time.Millisecond
	s := &spinner{sum: 1}
	turns := 0
	begin := time.Now()
	for time.Since(begin) < probe {
		s.turn(some)
		turns += some
	}
	s.rate = float64(turns) / time.Since(begin).Seconds()
	return s
}

func (s *spinner) compute(d time.Duration) { s.turn(int(d.Seconds() * s.rate)) }

// turn works n turns. Each needs the result of the one before, so that none can be
// left out.
func (s *spinner) turn(n int) {
	sum := s.sum
	for range n {
		sum = sum*0.999 + 0.001
	}
	s.sum = sum
}
