package collectives

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// A Progress says who carries on operations that Start has begun.
type Progress int

const (
	// Auto is Background.
	Auto Progress = iota
	// Caller leaves operations to calls of the team: they go on while one waits or tests. No
	// goroutine is started.
	Caller
	// Background carries on operations, until they have ended, in a goroutine of the team as well,
	// while no call does. It sleeps while it waits for peers, and ends when nothing is under way.
	Background
)

// String returns the name of the constant.
func (p Progress) String() string {
	switch p {
	case Auto:
		return "auto"
	case Caller:
		return "caller"
	case Background:
		return "background"
	}
	return fmt.Sprintf("Progress(%d)", int(p))
}

// A background is the goroutine that makes progress for a team while no caller does. It exists
// while operations of Start are under way and no caller is in the team: a caller that leaves starts
// it, and it ends when it meets a caller or finds nothing to do. Each team has its own, since no call
// of package gaspi waits for notifications of several segments.
type background struct {
	mode    Progress
	running atomic.Bool        // the goroutine exists
	serve   func()             // made once, so that starting it allocates nothing
	look    func() bool        // likewise
	bell    gaspi.Notification // to this rank itself; wakes the goroutine

	alarm *time.Timer // rings the bell; nil before the first sleep
	rang  atomic.Bool // it has

	seen []trace.Record // what ended the last sleep, where there is a timeline

	news bool // an operation was begun that the goroutine does not know of
}

// Pauses between looks at the queue, whose end no notification tells of. They grow by a quarter
// each, so that a look comes late by a quarter of the time it took at most.
const (
	pauseLeast = 50 * time.Microsecond
	pauseMost  = 2 * time.Millisecond
)

// prepareBackground makes a team ready to start its goroutine.
func (t *Team) prepareBackground(bell gaspi.NotificationID) {
	b := &t.background
	b.mode, b.bell = t.cfg.Progress, gaspi.Notification{ID: bell, Value: 1}
	b.serve, b.look = t.serve, t.lookInBackground
}

// carryOn notes that Start has begun r.
func (t *Team) carryOn(r *run) {
	r.begun = t.member.Timeline.Begin()
	if t.background.mode == Caller {
		return
	}
	r.started = true
	t.ops.started++
	t.background.news = true
}

// leaveToProgress is leave while operations of Start are under way.
func (t *Team) leaveToProgress() {
	b, news := &t.background, t.background.news
	t.busy.owner.Store(nobody)
	switch {
	case b.running.CompareAndSwap(false, true):
		go b.serve()
	case news:
		t.ring()
	}
}

// ring wakes the goroutine. It fails only when the segment is gone, whose end wakes it too.
func (t *Team) ring() { _ = t.queue.Notify(t.control.At(t.proc.Rank(), 0), t.background.bell) }

// serve is the goroutine.
func (t *Team) serve() {
	var (
		b = &t.background
		p patience
	)
	for {
		if t.busy.enterProgress() {
			if !t.pass(&p) {
				return
			}
			begun := t.member.Timeline.Begin()
			p.woken = t.control.WaitFunc(context.Background(), b.look, gaspi.Asleep)
			t.recordSleep(begun, b.seen)
			continue
		}
		b.running.Store(false)
		// A caller that left before that has not started another goroutine.
		if t.busy.isCalled() || !b.running.CompareAndSwap(false, true) {
			return
		}
	}
}

// lookInBackground reports whether a pass would find something to do, or a caller is in the team.
func (t *Team) lookInBackground() bool {
	t.background.seen = t.background.seen[:0]
	if t.background.rang.Load() || !t.busy.enterProgress() {
		return true
	}
	defer t.busy.leaveProgress()
	if t.closed || t.ops.started == 0 || t.background.news {
		return true
	}
	ended := t.look()
	if ended && t.member.Timeline != nil {
		t.background.seen = t.arrivals(t.background.seen)
	}
	return ended
}

// A patience is how the goroutine has slept.
type patience struct {
	woken error         // how the last sleep ended
	check time.Time     // when the reason of a long wait is looked for next; zero before the first sleep
	pause time.Duration // until the next look at the queue
}

// pass does what can be done without waiting, unless a caller wants the team, and reports whether
// the goroutine is to sleep. The goroutine has the team, and leaves it.
func (t *Team) pass(p *patience) bool {
	defer t.busy.leaveProgress()
	for again := true; again; again = t.busy.wanting.Load() == 0 && t.look() {
		t.background.news = false
		moved, err := t.progress(endedContext)
		if err == nil && p.woken != nil {
			err, p.woken = t.hopeless(), nil
		}
		if err != nil {
			_ = t.fail(err) // the handles say it
		}
		if t.closed || t.ops.started == 0 {
			t.background.running.Store(false)
			return false
		}
		if p.pause = min(p.pause+p.pause/4, pauseMost); moved || p.pause == 0 {
			p.pause = pauseLeast
		}
	}
	t.setAlarm(p)
	return true
}

// hopeless returns why no wait for posts can end well any more, or nil.
func (t *Team) hopeless() error {
	if err := t.control.WaitFunc(endedContext, func() bool { return false }); !ctxErr(err) {
		return err
	}
	return nil
}

// setAlarm limits the next sleep of the goroutine, and looks for a reason if it has slept for the
// patience of the team.
func (t *Team) setAlarm(p *patience) {
	b, now := &t.background, time.Now()
	if b.rang.Swap(false) && !p.check.IsZero() && !now.Before(p.check) {
		p.check = time.Time{}
		if err := t.stalled(t.member.NapOf(context.Background(), stallCheck)); err != nil && !ctxErr(err) {
			_ = t.fail(err) // the handles say it
		}
	}
	if p.check.IsZero() {
		p.check = now.Add(t.member.Patience)
	}
	sleep := p.check.Sub(now)
	if slices.ContainsFunc(t.ops.active, func(r *run) bool { return r.blocked }) {
		sleep = min(sleep, p.pause)
	}
	if b.alarm == nil {
		b.alarm = time.AfterFunc(sleep, t.soundAlarm)
		return
	}
	b.alarm.Reset(sleep)
}

// soundAlarm wakes the goroutine, if it is there.
func (t *Team) soundAlarm() {
	t.background.rang.Store(true)
	if t.background.running.Load() {
		t.ring()
	}
}
