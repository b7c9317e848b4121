package notify

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Goal: a wait that lasts is told once, with what it waits for, and its end once too; a short one is
// not told, and neither is SleepFunc, which goroutines in the background call.
func TestLastingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Condition
		ended := 0
		wait := GoroutineWait(0, 0)
		b := newArray(8, wait)
		begun := time.Now()
		wait.Lasting = func(array *Array, want Condition, since time.Time) func() {
			if array != b || !since.Equal(begun) {
				t.Errorf("array %p, want %p; since %v, want %v", array, b, since, begun)
			}
			told = append(told, want)
			return func() { ended++ }
		}
		want := Every(2, 3)
		for i, waits := range []func() error{
			func() error { _, err := b.Wait(t.Context(), want, nil, nil); return err },
			func() error { return b.WaitFunc(t.Context(), func() bool { return b.Load(2) != 0 }, nil, nil) },
			func() error { return b.SleepFunc(t.Context(), func() bool { return b.Load(2) != 0 }, nil, nil) },
		} {
			begun = time.Now()
			over := make(chan error)
			go func() { over <- waits() }()
			for range 3 {
				time.Sleep(LastsAfter / 2) // sleep: by the clock of the bubble
				b.Wake()
				synctest.Wait()
			}
			b.Set(3, 1)
			if missing := want.Missing(b); len(missing) != 2 || missing[0] != 2 || missing[1] != 4 {
				t.Errorf("missing %v, want 2 and 4", missing)
			}
			if i < 2 && ended != len(told)-1 {
				t.Errorf("%d ends of %d waits before the last ended", ended, len(told))
			}
			b.Set(2, 1)
			b.Set(4, 1)
			if err := <-over; err != nil {
				t.Error(err)
			}
			for id := range ID(8) {
				b.Reset(id)
			}
		}
		if len(told) != 2 || ended != 2 || told[0] != want || told[1] != (Condition{}) {
			t.Errorf("told %v, %d ended", told, ended)
		}
		go b.Set(2, 1)
		if _, err := b.Wait(t.Context(), Some(2, 1), nil, nil); err != nil || len(told) != 2 {
			t.Errorf("%v; a short wait was told: %v", err, told)
		}
	})
}

// A resumedContext is that of a wait that goes on for others, of which the first began then.
type resumedContext struct {
	context.Context
	began time.Time
}

func (c resumedContext) Began() time.Time { return c.began }

// Goal: a wait that goes on for others is told once they have lasted together, with the time of the first, at once.
func TestLastingWaitsInSlices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := GoroutineWait(0, 0)
		b, began := newArray(8, wait), time.Now()
		var told []time.Duration // of slices before
		ended := 0
		wait.Lasting = func(_ *Array, want Condition, since time.Time) func() {
			if want != Some(2, 1) || !since.Equal(began) {
				t.Errorf("%+v since %v, want %v", want, since, began)
			}
			told = append(told, time.Since(began))
			return func() { ended++ }
		}
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if _, err := b.Wait(resumedContext{ctx, began}, Some(2, 1), nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want the deadline", err)
			}
			cancel()
		}
		if want := []time.Duration{200 * time.Millisecond, 300 * time.Millisecond, 400 * time.Millisecond}; !slices.Equal(told, want) || ended != len(want) {
			t.Errorf("told after %v, want %v; %d ended", told, want, ended)
		}
	})
}
