package gaspi

import (
	"context"

	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/notify"
)

// NotificationID names a notification of a segment, from 0.
type NotificationID = notify.ID

// Value is what a notification carries; never 0.
type Value = notify.Value

// A Notification is what a write posts when its data has arrived.
type Notification struct {
	ID    NotificationID
	Value Value // must not be 0
	// Add adds Value to the notification instead of overwriting it, so that
	// several posts before a Reset are counted and none is lost. An extension of
	// the standard.
	Add bool
}

// Comparisons for WaitUntil.
const (
	Equal    = notify.Equal
	NotEqual = notify.NotEqual
	Greater  = notify.Greater
	AtLeast  = notify.AtLeast
	Less     = notify.Less
	AtMost   = notify.AtMost
	// Reached compares running numbers that may wrap around: the notification
	// is the value or up to 2^31-1 steps beyond it.
	Reached = notify.Reached
)

// WaitSome blocks until at least one of the count notifications from first is
// set, and returns the id of one that is. It resets nothing. With several set,
// it begins one after the last it returned, so that a busy one starves no other.
// With count 0 it returns at once. Any number of goroutines may wait; the one
// whose Reset returns non-zero owns the notification.
//
// It burns no core: it spins only while every local rank has a core, then
// yields, then sleeps. When ctx ends it returns its error and nothing is lost.
// When a rank that the segment is registered with died it returns a *RankError,
// since that rank might have been the one to write; after ResetState it waits on.
// So it does when all of them have left the job, and when the group that the segment was
// created over is revoked.
func (s *Segment) WaitSome(ctx context.Context, first NotificationID, count uint32) (NotificationID, error) {
	return s.wait(ctx, trace.WaitSome, "notify_waitsome", notify.Some(first, count))
}

// TrySome is WaitSome that never blocks; it reports whether one was set.
func (s *Segment) TrySome(first NotificationID, count uint32) (NotificationID, bool, error) {
	return s.try("notify_trysome", notify.Some(first, count))
}

// WaitAll blocks until all of the count notifications from first are set; see
// WaitSome. An extension of the standard.
func (s *Segment) WaitAll(ctx context.Context, first NotificationID, count uint32) error {
	_, err := s.wait(ctx, trace.WaitAll, "notify_waitall", notify.Every(first, count))
	return err
}

// TryAll is WaitAll that never blocks; it reports whether all were set.
func (s *Segment) TryAll(first NotificationID, count uint32) (bool, error) {
	_, ok, err := s.try("notify_tryall", notify.Every(first, count))
	return ok, err
}

// WaitUntil blocks until notification id stands in relation how to v, such as
// AtLeast 7; see WaitSome. An extension of the standard.
func (s *Segment) WaitUntil(ctx context.Context, id NotificationID, how notify.Compare, v Value) error {
	_, err := s.wait(ctx, trace.WaitUntil, "notify_waituntil", notify.Until(id, how, v))
	return err
}

// TryUntil is WaitUntil that never blocks.
func (s *Segment) TryUntil(id NotificationID, how notify.Compare, v Value) (bool, error) {
	_, ok, err := s.try("notify_tryuntil", notify.Until(id, how, v))
	return ok, err
}

// A WaitMode changes how WaitFunc waits. Modes are combined by |.
type WaitMode uint8

const (
	// ThroughLosses is for waits that no death ends, of those who serve the ranks that are there: when
	// a rank has died or left, look is called again, and decides by Proc.Health or Proc.Failure.
	ThroughLosses WaitMode = 1 << iota
	// Asleep is for goroutines in the background: the wait neither spins nor yields, which would keep
	// a core from those that have something to do, and gaspi-run takes it for no wait of the program.
	Asleep
)

// WaitFunc blocks until look reports true; look asks for notifications of s by
// Peek or a Try form, any number of them. It is called in the waiting goroutine
// again and again, at least once after every post, and must not block. Otherwise
// WaitFunc is like WaitSome, but for its modes. It is an extension of the standard, for those
// who wait for several things at once that are no range of notifications.
func (s *Segment) WaitFunc(ctx context.Context, look func() bool, modes ...WaitMode) error {
	var err error
	if len(modes) == 0 && s.timeline == nil {
		err = s.mem.Notifications().WaitFunc(ctx, look, s.stop, s.spent.Load())
	} else {
		err = s.waitFunc(ctx, look, modes)
	}
	if err != nil {
		return segmentError("notify_waitfunc", s.id, err)
	}
	return nil
}

// waitFunc is WaitFunc with modes, and recorded if calls are traced.
func (s *Segment) waitFunc(ctx context.Context, look func() bool, modes []WaitMode) error {
	var mode WaitMode
	for _, m := range modes {
		mode |= m
	}
	wait, stop := (*notify.Array).WaitFunc, s.stop
	if mode&Asleep != 0 {
		wait = (*notify.Array).SleepFunc
	}
	if mode&ThroughLosses != 0 {
		stop = s.p.stop
	}
	begun := s.timeline.Begin()
	err := wait(s.mem.Notifications(), ctx, look, stop, s.spent.Load())
	if s.timeline != nil {
		s.recordWaitFunc(begun)
	}
	return err
}

// Reset takes notification id off the array and returns its value: one atomic
// exchange with 0. 0 means that it was not set, or that another goroutine took
// it. It needs no wait before it: whoever gets a value sees all that was written
// before it was posted.
func (s *Segment) Reset(id NotificationID) (Value, error) {
	v, err := s.mem.Notifications().Reset(id)
	if err != nil {
		return 0, segmentError("notify_reset", s.id, err)
	}
	return v, nil
}

// Peek returns the present value of notification id without resetting it: 0 if it is not set,
// there is no such notification, or the segment is deleted. A rank that reads a value sees all
// bytes that were written before the value was posted.
func (s *Segment) Peek(id NotificationID) Value { return s.mem.Notifications().Load(id) }

// wait waits on the array for want.
func (s *Segment) wait(ctx context.Context, kind trace.Action, op string, want notify.Condition) (NotificationID, error) {
	if s.timeline != nil {
		return s.waitRecorded(ctx, kind, op, want)
	}
	id, err := s.mem.Notifications().Wait(ctx, want, s.stop, s.spent.Load())
	if err != nil {
		return 0, s.waitError(op, want, err)
	}
	return id, nil
}

// orphaned is why a wait for a post of anybody should end: a rank died that might
// have been the one, or none of them is left. Like a receive from any source
// after a failure, the program decides: ResetState, and wait on.
func (s *Segment) orphaned() error {
	p := s.p
	if err := p.ended(); err != nil {
		return err
	}
	lost := s.lost()
	if s.group != nil {
		return s.group.because(lost)
	}
	return lost
}

// lost is orphaned as far as it concerns those that may write here.
func (s *Segment) lost() error {
	p := s.p
	if p.peers.AllPresent() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.peers.Orphaned(s.writers)
}

func (s *Segment) try(op string, w notify.Condition) (NotificationID, bool, error) {
	id, ok, err := s.mem.Notifications().Try(w)
	if poll := s.p.wire.Wait.Poll; !ok && err == nil && poll != nil && poll() {
		id, ok, err = s.mem.Notifications().Try(w)
	}
	if err != nil {
		return 0, false, segmentError(op, s.id, err)
	}
	return id, ok, nil
}
