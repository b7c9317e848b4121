package notify

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// Two goroutines wake each other again and again, with contexts that end some day,
// while a third sleeps with another. Goal: waits that sleep allocate nothing.
func TestSleepingWaitsAllocateNothing(t *testing.T) {
	eachWay(t, func(t *testing.T, wait *WaitPolicy) {
		ping, pong := newArray(2, wait), newArray(2, wait)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asleep, wakeUp := context.WithCancel(t.Context())
		slept := make(chan error)
		for _, b := range []*Array{ping, pong} {
			go func() {
				_, err := b.Wait(asleep, Some(1, 1), nil, nil)
				slept <- err
			}()
		}
		defer func() {
			wakeUp()
			for range 2 {
				if err := <-slept; !errors.Is(err, context.Canceled) {
					t.Errorf("the third: %v", err)
				}
			}
		}()
		const runs = 200
		other := make(chan error)
		go func() {
			var err error
			for range runs + 1 { // AllocsPerRun runs once more than it counts
				if err = once(ctx, ping); err != nil {
					break
				}
				pong.Set(0, 1)
			}
			other <- err
		}()
		var failed error
		n := testing.AllocsPerRun(runs, func() {
			ping.Set(0, 1)
			failed = errors.Join(failed, once(ctx, pong))
		})
		if err := errors.Join(failed, <-other); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			t.Errorf("%v allocations for two waits", n)
		}
	})
}

// once waits for notification 0 and takes it.
func once(ctx context.Context, b *Array) error {
	_, err := b.Wait(ctx, Some(0, 1), nil, nil)
	b.Reset(0)
	return err
}

// Goal: the end of a context wakes its own sleepers, also those that came when the
// alarm was set for another, and those that sleep after a wait with the same context
// has ended.
func TestEachContextHasAnAlarm(t *testing.T) {
	eachWay(t, func(t *testing.T, wait *WaitPolicy) {
		b := newArray(3, wait)
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		defer endFirst()
		defer endSecond()
		sleepers := func(ctx context.Context) chan error {
			ended := make(chan error, 2)
			for id := range ID(2) {
				go func() {
					_, err := b.Wait(ctx, Some(id, 1), nil, nil)
					ended <- err
				}()
			}
			return ended
		}
		b.Set(2, 1)
		if _, err := b.Wait(first, Some(2, 1), nil, nil); err != nil {
			t.Fatal(err)
		}
		a, c := sleepers(first), sleepers(second)
		untilSomebodySleeps(b)
		for _, end := range []struct {
			cancel context.CancelFunc
			ended  chan error
		}{{endSecond, c}, {endFirst, a}} {
			end.cancel()
			for range 2 {
				if err := <-end.ended; !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want %v", err, context.Canceled)
				}
			}
		}
	})
}

// Goal: a context that lives on does not keep what a closed array was to do.
func TestCloseUnsetsTheAlarm(t *testing.T) {
	b := newArray(1, GoroutineWait(0, 0))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		untilSomebodySleeps(b)
		b.Set(0, 1)
	}()
	if err := once(ctx, b); err != nil {
		t.Fatal(err)
	}
	b.Close()
	for _, a := range b.alarms.set {
		if a.stop() {
			t.Error("an alarm was still set")
		}
	}
}

// TestAlarmsOfManyContexts has two goroutines sleep at one array, each in one context after the
// other, so that each takes the places of the other's old alarms.
func TestAlarmsOfManyContexts(t *testing.T) {
	array := newArray(1, &WaitPolicy{YieldOnce: func() {}, Sleep: Futex{}})
	never := func() bool { return false }
	var sleepers sync.WaitGroup
	for range 2 {
		sleepers.Go(func() {
			for range 1000 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Microsecond)
				if err := array.WaitFunc(ctx, never, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v, want the deadline", err)
				}
				cancel()
			}
		})
	}
	sleepers.Wait()
}

// TestAlarmAfterClose has a context end when its wait is over and the array is closed: the memory
// of the array may be gone.
func TestAlarmAfterClose(t *testing.T) {
	b := newArray(1, GoroutineWait(0, 0))
	b.Close()
	before := b.wake.Load()
	b.alarms.ring(b)
	if after := b.wake.Load(); after != before {
		t.Errorf("the word by which sleepers wake went from %d to %d", before, after)
	}
}
