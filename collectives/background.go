package collectives

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/nap"
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

// carryOn notes that Start has begun r.
func (t *Team) carryOn(r *run) {
	r.begun = t.member.Timeline.Begin()
	if t.cfg.Progress == Caller {
		return
	}
	r.started = true
	t.engine.Begin()
}

// A background is the operations of a team as the goroutine of its engine carries them on.
type background struct {
	t    *Team
	bell gaspi.Notification // to this rank itself; wakes the goroutine
	seen []trace.Record     // what ended the last sleep, where there is a timeline
}

// Advance implements progress.Operations.
func (b *background) Advance(slept error) (moved bool) {
	moved, err := b.t.progress(endedContext)
	if err == nil && slept != nil {
		err = b.hopeless()
	}
	if err != nil {
		_ = b.t.fail(err) // the handles say it
	}
	return moved
}

// hopeless returns why no wait for posts can end well any more, or nil.
func (b *background) hopeless() error {
	if err := b.t.control.WaitFunc(endedContext, func() bool { return false }); !nap.Ended(err) {
		return err
	}
	return nil
}

// Ready implements progress.Operations.
func (b *background) Ready() bool {
	ready := b.t.look()
	if ready && b.t.member.Timeline != nil {
		b.seen = b.t.arrivals(b.seen)
	}
	return ready
}

// Blocked implements progress.Operations.
func (b *background) Blocked() bool {
	return slices.ContainsFunc(b.t.ops.active, func(r *run) bool { return r.blocked })
}

// Stalled implements progress.Operations.
func (b *background) Stalled() {
	t := b.t
	if err := t.stalled(t.member.NapOf(context.Background(), stallCheck)); err != nil && !nap.Ended(err) {
		_ = t.fail(err) // the handles say it
	}
}

// Patience implements progress.Operations.
func (b *background) Patience() time.Duration { return b.t.member.Patience }

// Sleep implements progress.Operations.
func (b *background) Sleep(woken func() bool) error {
	b.seen = b.seen[:0]
	begun := b.t.member.Timeline.Begin()
	err := b.t.control.WaitFunc(context.Background(), woken, gaspi.Asleep)
	b.t.recordSleep(begun, b.seen)
	return err
}

// Wake implements progress.Operations. It fails only when the segment is gone, whose end wakes the
// goroutine too.
func (b *background) Wake() { _ = b.t.queue.Notify(b.t.control.At(b.t.proc.Rank(), 0), b.bell) }
