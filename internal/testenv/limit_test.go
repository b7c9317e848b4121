package testenv

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// A fake is a test with a deadline of its own, if that is not zero, which keeps how it was ended.
type fake struct {
	testing.TB
	deadline time.Time
	fatal    string
}

func (f *fake) Deadline() (time.Time, bool) { return f.deadline, !f.deadline.IsZero() }

func (f *fake) Fatalf(format string, args ...any) { f.fatal = fmt.Sprintf(format, args...) }

func TestBefore(t *testing.T) {
	for _, c := range []struct{ limit, want time.Duration }{
		{10 * time.Minute, 10*time.Minute - 10*time.Second},
		{80 * time.Second, 70 * time.Second},
		{8 * time.Second, 7 * time.Second},
		{0, 0},
	} {
		if got := Before(c.limit); got != c.want {
			t.Errorf("before %v: %v, want %v", c.limit, got, c.want)
		}
	}
}

func TestLimit(t *testing.T) {
	if got := Limit(&fake{TB: t}); got != limitless {
		t.Errorf("without a deadline %v, want %v", got, limitless)
	}
	if got := Limit(struct{ testing.TB }{t}); got != limitless { // as a benchmark
		t.Errorf("where there are no deadlines %v, want %v", got, limitless)
	}
	over := &fake{TB: t, deadline: time.Now().Add(-time.Hour)}
	if got := Limit(over); got > 0 {
		t.Errorf("after the deadline %v, want nothing", got)
	}
	if err := Context(over).Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline %v, want %v", err, context.DeadlineExceeded)
	}
	hour := &fake{TB: t, deadline: time.Now().Add(time.Hour)}
	if got := Limit(hour); got > time.Hour-reportTime {
		t.Errorf("an hour before the deadline %v, want at least %v less", got, reportTime)
	}
	if at, is := Context(hour).Deadline(); !is || at.After(hour.deadline) {
		t.Errorf("the context ends at %v, want before %v", at, hour.deadline)
	}
}

func TestEventually(t *testing.T) {
	looks := 0
	good := &fake{TB: t}
	Eventually(good, "the third look", func() bool { looks++; return looks == 3 })
	if looks != 3 || good.fatal != "" {
		t.Errorf("%d looks, %q; want 3 and no failure", looks, good.fatal)
	}
	bad := &fake{TB: t, deadline: time.Now().Add(20 * time.Millisecond)}
	Eventually(bad, "pigs fly", func() bool { return false })
	if want := "it has not come about: pigs fly"; bad.fatal != want {
		t.Errorf("%q, want %q", bad.fatal, want)
	}
	bad.fatal = ""
	EventuallySucceeds(bad, func() error { return errors.New("2 of 3 pigs fly") })
	if want := "it has not come about: 2 of 3 pigs fly"; bad.fatal != want {
		t.Errorf("%q, want %q", bad.fatal, want)
	}
}
