package testenv

import (
	"sync"
	"testing"
	"time"
)

// A Lag knows when this process did not run although it was to: what takes longer than it may on a machine that has no
// processor for it is no defect. A test that compares times with a limit subtracts what Between returns.
type Lag struct {
	mu   sync.Mutex
	late []lateness // guarded by mu; in the order of time
}

// A lateness is from when a process was to run until it did.
type lateness struct{ due, woke time.Time }

const (
	lagPeriod = 10 * time.Millisecond
	lagSlack  = time.Millisecond // that each sleep takes longer also on an idle machine
)

// WatchLag watches until the test ends.
func WatchLag(t testing.TB) *Lag {
	l := new(Lag)
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	go func() {
		for due := time.Now().Add(lagPeriod); ; due = time.Now().Add(lagPeriod) {
			select {
			case <-end:
				return
			case <-time.After(lagPeriod):
				l.woke(due, time.Now())
			}
		}
	}()
	return l
}

// woke notes that the process was to run at one time and did at another.
func (l *Lag) woke(due, at time.Time) {
	if at.Sub(due) <= lagSlack {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = append(l.late, lateness{due, at})
}

// Between returns how long, of the time between two moments, the process was late.
func (l *Lag) Between(from, to time.Time) (sum time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.late {
		if s.due.Before(from) {
			s.due = from
		}
		if s.woke.After(to) {
			s.woke = to
		}
		sum += max(0, s.woke.Sub(s.due))
	}
	return sum
}
