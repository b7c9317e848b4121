package launcher

import "time"

// pausingTimer is a time limit that can stand still. The zero value has none.
type pausingTimer struct {
	timer    *time.Timer
	deadline time.Time
	paused   time.Time
}

func (t *pausingTimer) start(d time.Duration) {
	if d > 0 {
		t.timer, t.deadline = time.NewTimer(d), time.Now().Add(d)
	}
}

func (t *pausingTimer) expired() <-chan time.Time {
	if t.timer == nil || !t.paused.IsZero() {
		return nil
	}
	return t.timer.C
}

func (t *pausingTimer) pause() {
	if t.paused.IsZero() {
		t.paused = time.Now()
	}
}

func (t *pausingTimer) resume() {
	if t.timer != nil && !t.paused.IsZero() {
		t.deadline = t.deadline.Add(time.Since(t.paused))
		t.timer.Reset(time.Until(t.deadline))
	}
	t.paused = time.Time{}
}
