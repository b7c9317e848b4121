package notify

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// countingParker counts the sleeps of waiters.
type countingParker struct {
	Goroutines
	parked atomic.Int32
}

func (p *countingParker) Park(word *atomic.Uint32, val uint32, limit time.Duration) {
	p.parked.Add(1)
	p.Goroutines.Park(word, val, limit)
}

// Each poll takes 100 us by the clock of the bubble, and every so many of them make progress. Goal: a
// wait whose polls move something goes on polling, in either phase, and hears of the end of its
// context meanwhile. One whose polls do not, or seldom, sleeps after its time, as does one that has put
// off its sleep for long, and one whose policy is to sleep at once.
func TestWaitsThatMoveDoNotSleep(t *testing.T) {
	const poll, phase = 100 * time.Microsecond, time.Millisecond
	for _, c := range []struct {
		name        string
		spin, yield time.Duration
		every       int // one in so many polls moves something; 0: none
		polls       int // after which the wait is over
		ctxEnds     time.Duration
		sleeps      bool
	}{
		{name: "spins on", spin: phase, every: 4, polls: 200},
		{name: "spins on, then yields", spin: phase, yield: phase, every: 12, polls: 200},
		{name: "yields on", yield: phase, every: 4, polls: 200},
		{name: "its context ends", spin: phase, yield: phase, every: 1, polls: 1500, ctxEnds: 20 * time.Millisecond},
		{name: "nothing moves", spin: phase, yield: phase, polls: 200, sleeps: true},
		{name: "little moves", spin: phase, yield: phase, every: 50, polls: 200, sleeps: true},
		{name: "for long", spin: phase, yield: phase, every: 1, polls: int(movingMost/poll) + 200, sleeps: true},
		{name: "sleeps at once", every: 1, polls: 200, sleeps: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parker := new(countingParker)
				wait := GoroutineWait(c.spin, c.yield)
				wait.Sleep, wait.PollFirst = parker, true
				b := newArray(1, wait)
				polls := 0
				wait.Poll = func() bool {
					time.Sleep(poll) // sleep: by the clock of the bubble, what a poll takes
					if polls++; polls == c.polls {
						b.Set(0, 1)
					}
					return c.every > 0 && polls%c.every == 0
				}
				if c.sleeps {
					time.AfterFunc(time.Second, func() { b.Set(0, 1) })
				}
				ctx := t.Context()
				if c.ctxEnds > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.ctxEnds)
					defer cancel()
				}
				begun := time.Now()
				_, err := b.Wait(ctx, Some(0, 1), nil, nil)
				if slept := parker.parked.Load() > 0; slept != c.sleeps {
					t.Errorf("slept: %v, want %v; %d polls", slept, c.sleeps, polls)
				}
				switch took := time.Since(begun); {
				case c.ctxEnds == 0 && err != nil:
					t.Error(err)
				case c.ctxEnds > 0 && (!errors.Is(err, context.DeadlineExceeded) || took > c.ctxEnds+2*phase):
					t.Errorf("ended with %v after %v, want that of its context, which ended after %v", err, took, c.ctxEnds)
				}
			})
		})
	}
}
