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
