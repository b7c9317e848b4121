package nap_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/nap"
)

func TestNapEndsAfterItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n nap.Nap
		defer n.End()
		ctx := n.In(t.Context(), time.Second)
		time.Sleep(time.Hour) // sleep: by the clock of the bubble the limit is over, but nobody waits yet
		if err := ctx.Err(); err != nil {
			t.Errorf("before anybody sleeps: %v", err)
		}
		begin := time.Now()
		<-ctx.Done()
		if d := time.Since(begin); d != time.Second {
			t.Errorf("ended after %v, want 1 s", d)
		}
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the deadline", err)
		}
		if err := n.In(t.Context(), time.Second).Err(); err != nil {
			t.Errorf("the next one: %v", err)
		}
	})
}

func TestNapEndsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n nap.Nap
		defer n.End()
		first, cancelFirst := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		defer cancelSecond()
		<-n.In(first, time.Second).Done()
		cancelFirst()
		if err := n.In(first, time.Second).Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want canceled before anybody sleeps", err)
		}
		ctx := n.In(second, time.Minute)
		if err := ctx.Err(); err != nil {
			t.Errorf("%v, but the parent is another", err)
		}
		woken := make(chan struct{})
		stop := context.AfterFunc(ctx, func() { close(woken) })
		defer stop()
		cancelSecond()
		<-woken
		if err := ctx.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want canceled", err)
		}
	})
}

// One timer serves sleep after sleep, and a parent that cannot be compared is none.
func TestNapKeepsItsTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n nap.Nap
		defer n.End()
		done := n.In(t.Context(), time.Second).Done()
		if n.In(t.Context(), time.Second).Done() != done {
			t.Error("another timer, though the first has not ended")
		}
		odd := incomparable{t.Context(), nil}
		done = n.In(odd, time.Second).Done()
		<-n.In(odd, time.Second).Done()
		<-done
	})
}

// Contexts made from one of a Nap end in goroutines of their own, while the Nap serves the next waits.
// The race detector finds fields of it that change meanwhile.
func TestContextsAreMadeFromANap(t *testing.T) {
	var n nap.Nap
	defer n.End()
	const each = 200
	ended := make(chan struct{}, 2*each)
	for i := range each {
		parent, cancelParent := context.WithCancel(t.Context())
		ctx := n.In(parent, time.Minute)
		child, cancelChild := context.WithTimeout(ctx, time.Duration(i%20)*time.Microsecond)
		defer cancelChild()
		context.AfterFunc(child, func() { ended <- struct{}{} })
		context.AfterFunc(ctx, func() { ended <- struct{}{} })
		if i%2 == 0 {
			n.End()
		}
		defer cancelParent()
	}
	n.End()
	for range 2 * each {
		<-ended
	}
}

// incomparable is a context that == panics on.
type incomparable struct {
	context.Context
	_ []int
}
