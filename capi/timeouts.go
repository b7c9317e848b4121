//go:build capi && cgo && linux

package main

import (
	"context"
	"errors"
	"math"
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

// within calls f with a context that ends after ms milliseconds. It tries first with one that
// has ended, which makes no timer. f goes on where an earlier call left off.
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
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	defer cancel()
	return f(ctx)
}

// late reports whether err is the end of a time limit.
func late(err error) bool {
	return err == errNotYet || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
