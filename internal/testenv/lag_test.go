package testenv

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestLag has moments in milliseconds: the process was late from 100 to 150, from 300 to 301, which is no lateness, and
// from 400 to 900.
func TestLag(t *testing.T) {
	var l Lag
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	l.woke(at(100), at(150))
	l.woke(at(300), at(301))
	l.woke(at(400), at(900))
	for _, c := range []struct{ from, to, want int }{
		{0, 1000, 550}, {0, 100, 0}, {120, 140, 20}, {140, 410, 20}, {150, 400, 0}, {500, 600, 100}, {900, 1000, 0}, {600, 500, 0},
	} {
		if got := l.Between(at(c.from), at(c.to)); got != time.Duration(c.want)*time.Millisecond {
			t.Errorf("from %d to %d: late for %v, want %d ms", c.from, c.to, got, c.want)
		}
	}
}

// TestWatchLag: by a clock that nothing delays, the process is never late.
func TestWatchLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, began := WatchLag(t), time.Now()
		time.Sleep(10 * time.Second) // sleep: by the clock of the bubble
		if late := l.Between(began, time.Now()); late != 0 {
			t.Errorf("late for %v", late)
		}
	})
}
