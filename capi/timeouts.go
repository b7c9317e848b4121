//go:build capi && cgo && linux

package main

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// block is the timeout of a call that waits as long as it takes, in milliseconds.
const block = math.MaxUint64

// endless reports whether a timeout in milliseconds is longer than time.Duration counts.
func endless(ms uint64) bool { return ms >= math.MaxInt64/uint64(time.Millisecond) }

// A lookOnce is the context of a call that looks and does not wait. It has ended. Its error is
// Bare: package gaspi returns it as it is and formats nothing.
type lookOnce struct{ done <-chan struct{} }

// Deadline returns a time in the past.
func (lookOnce) Deadline() (time.Time, bool) { return time.Time{}, true }

// Done returns a closed channel.
func (c lookOnce) Done() <-chan struct{} { return c.done }

// Err returns errNotYet.
func (lookOnce) Err() error { return errNotYet }

// Value returns nil.
func (lookOnce) Value(any) any { return nil }

// A notYet is the error of a call that has only looked.
type notYet struct{}

// Error returns the text of the error.
func (notYet) Error() string { return "not finished yet" }

// Is reports whether target is the end of a time limit.
func (notYet) Is(target error) bool { return target == context.DeadlineExceeded }

// Bare marks the error as one that is returned without an OpError around it.
func (notYet) Bare() {}

var (
	errNotYet error           = notYet{}
	once      context.Context = newLookOnce()
)

func newLookOnce() lookOnce {
	done := make(chan struct{})
	close(done)
	return lookOnce{done}
}

// A deadline is the context of a call that ends at a time. A timer is made for whoever asks for its
// channel, which calls that look, spin and yield do not. Its error is that of lookOnce.
type deadline struct {
	at     time.Time
	began  time.Time          // the call, or the first of those that it goes on for
	over   atomic.Bool        // the call has ended
	made   sync.Once          // of what follows
	timed  context.Context    // ends at the same time
	cancel context.CancelFunc // ends it
}

// Deadline returns the time.
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// Began returns when the call began, or the first of those that it goes on for: so long has it waited, for gaspi-run.
func (d *deadline) Began() time.Time { return d.began }

// Done returns the channel of a timer.
func (d *deadline) Done() <-chan struct{} { return d.timer().Done() }

// Err returns errNotYet when the time or the call is over.
func (d *deadline) Err() error {
	if d.over.Load() || !time.Now().Before(d.at) {
		return errNotYet
	}
	return nil
}

// Value is for contexts that are made from this one.
func (d *deadline) Value(key any) any { return d.timer().Value(key) }

func (d *deadline) timer() context.Context {
	d.made.Do(func() { d.timed, d.cancel = context.WithDeadline(context.Background(), d.at) })
	return d.timed
}

// end ends the context, for those who still have it, and the timer if there is one.
func (d *deadline) end() {
	d.over.Store(true)
	d.made.Do(func() { d.timed, d.cancel = once, func() {} })
	d.cancel()
}

// within calls f with a context that ends after ms milliseconds. It tries first with one that has
// ended, which allocates nothing. f goes on where an earlier call left off.
func within(ms uint64, f func(ctx context.Context) error) error {
	if endless(ms) {
		return f(context.Background())
	}
	err := f(once)
	if ms == 0 || err == nil || !late(err) {
		return err
	}
	return during(ms, f)
}

// during is within for an f that does not go on where an earlier call left off.
func during(ms uint64, f func(ctx context.Context) error) error {
	if endless(ms) {
		return f(context.Background())
	}
	now := time.Now()
	d := &deadline{at: now.Add(time.Duration(ms) * time.Millisecond), began: now.Add(-waited())}
	defer d.end()
	return f(d)
}

// late reports whether err is the end of a time limit.
func late(err error) bool {
	return err == errNotYet || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
