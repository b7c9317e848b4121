package testenv

import (
	"context"
	"errors"
	"testing"
	"time"
)

const (
	// limitless is how long a test may wait that has no deadline: what go test allows.
	limitless = 10 * time.Minute
	// reportTime is what is left of the time before a deadline for a report of what hangs, if
	// that is less than an eighth of it.
	reportTime = 10 * time.Second
	// pollTime is how long Eventually sleeps between two looks.
	pollTime = time.Millisecond
)

// Limit returns how long a test may wait for what must come, from now on: until its deadline
// (go test -timeout), less what a report needs. Only a test that fails waits that long. It is
// not for bubbles of testing/synctest, in which a test has no deadline.
func Limit(t testing.TB) time.Duration {
	timed, is := t.(interface{ Deadline() (time.Time, bool) })
	if !is {
		return limitless
	}
	deadline, is := timed.Deadline()
	if !is {
		return limitless
	}
	return Before(time.Until(deadline))
}

// Before returns the limit of what has to end before something else that ends after limit, so
// that it can say why.
func Before(limit time.Duration) time.Duration {
	return limit - min(reportTime, limit/8)
}

// Context returns the context of t, with Limit.
func Context(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Limit(t))
	t.Cleanup(cancel)
	return ctx
}

// Eventually blocks until a condition holds, for which there is no event to wait for. It ends
// the test with what it is that has not come about, after Limit.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	EventuallySucceeds(t, func() error {
		if holds() {
			return nil
		}
		return errors.New(what)
	})
}

// EventuallySucceeds is Eventually for a condition that says why it does not hold.
func EventuallySucceeds(t testing.TB, try func() error) {
	t.Helper()
	for ctx := Context(t); ; {
		err := try()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("it has not come about: %v", err)
			return
		}
		time.Sleep(pollTime) // sleep: nothing tells
	}
}
