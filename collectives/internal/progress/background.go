package progress

import (
	"sync/atomic"
	"time"
)

// Operations are what the goroutine of an engine carries on. It has the team in all calls but Sleep and
// Wake.
type Operations interface {
	// Advance does what can be done without waiting, and reports whether anything was. The error of
	// the Sleep before it, if there was one since the last Advance, says why no post may arrive any more.
	Advance(slept error) (moved bool)
	// Ready reports whether something can be done.
	Ready() bool
	// Blocked reports whether some operation waits for the queue, whose end nothing tells of.
	Blocked() bool
	// Stalled looks for the reason of a Sleep that has lasted for the patience.
	Stalled()
	// Patience returns how long a Sleep lasts before its reason is looked for.
	Patience() time.Duration
	// Sleep blocks until woken returns true. It calls that after each post, and after Wake.
	Sleep(woken func() bool) error
	// Wake makes Sleep look.
	Wake()
}

// A background is the goroutine that makes progress for a team while no caller does. It exists
// while operations go on that were begun and no caller is in the team: a caller that leaves starts
// it, and it ends when it meets a caller or finds nothing to do. Each team has its own, since no call
// of package gaspi waits for notifications of several segments.
type background struct {
	ops Operations

	running atomic.Bool // the goroutine exists
	serve   func()      // made once, so that starting it allocates nothing
	look    func() bool // likewise

	alarm *time.Timer // wakes the goroutine; nil before the first sleep
	rang  atomic.Bool // it has

	news bool // an operation was begun that the goroutine does not know of
}

// Pauses between looks at the queue, whose end no notification tells of. They grow by a quarter
// each, so that a look comes late by a quarter of the time it took at most.
const (
	pauseLeast = 50 * time.Microsecond
	pauseMost  = 2 * time.Millisecond
)

// leaveToProgress is Leave while operations go on.
func (e *Engine) leaveToProgress() {
	b, news := &e.background, e.background.news
	e.owner.Store(nobody)
	switch {
	case b.running.CompareAndSwap(false, true):
		go b.serve()
	case news:
		b.ops.Wake()
	}
}

// serve is the goroutine.
func (e *Engine) serve() {
	var (
		b = &e.background
		p pauses
	)
	for {
		if e.enterProgress() {
			if !e.pass(&p) {
				return
			}
			p.slept = b.ops.Sleep(b.look)
			continue
		}
		b.running.Store(false)
		// A caller that left before that has not started another goroutine.
		if e.isCalled() || !b.running.CompareAndSwap(false, true) {
			return
		}
	}
}

// look reports whether a pass would find something to do, or a caller is in the team.
func (e *Engine) look() bool {
	if e.background.rang.Load() || !e.enterProgress() {
		return true
	}
	defer e.leaveProgress()
	return e.started == 0 || e.background.news || e.background.ops.Ready()
}

// A pauses is how the goroutine has slept.
type pauses struct {
	slept error         // how the last sleep ended
	check time.Time     // when the reason of a long wait is looked for next; zero before the first sleep
	pause time.Duration // until the next look at the queue
}

// pass does what can be done without waiting, unless a caller wants the team, and reports whether
// the goroutine is to sleep. The goroutine has the team, and leaves it.
func (e *Engine) pass(p *pauses) bool {
	defer e.leaveProgress()
	b := &e.background
	for again := true; again; again = e.wanting.Load() == 0 && b.ops.Ready() {
		b.news = false
		moved := b.ops.Advance(p.slept)
		p.slept = nil
		if e.started == 0 {
			b.running.Store(false)
			return false
		}
		if p.pause = min(p.pause+p.pause/4, pauseMost); moved || p.pause == 0 {
			p.pause = pauseLeast
		}
	}
	b.setAlarm(p)
	return true
}

// setAlarm limits the next sleep of the goroutine, and looks for a reason if it has slept for the
// patience of the team.
func (b *background) setAlarm(p *pauses) {
	now := time.Now()
	if b.rang.Swap(false) && !p.check.IsZero() && !now.Before(p.check) {
		p.check = time.Time{}
		b.ops.Stalled()
	}
	if p.check.IsZero() {
		p.check = now.Add(b.ops.Patience())
	}
	sleep := p.check.Sub(now)
	if b.ops.Blocked() {
		sleep = min(sleep, p.pause)
	}
	if b.alarm == nil {
		b.alarm = time.AfterFunc(sleep, b.sound)
		return
	}
	b.alarm.Reset(sleep)
}

// sound wakes the goroutine, if it is there.
func (b *background) sound() {
	b.rang.Store(true)
	if b.running.Load() {
		b.ops.Wake()
	}
}
