package notify

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurnWeight: those turns that are timed stand for all, however many there are.
func TestTurnWeight(t *testing.T) {
	sum, timed := int64(0), 0
	for n := range uint32(100_000) {
		w := turnWeight(n)
		if sum += w; w > 0 {
			timed++
		}
		if all := int64(n) + 1; n < timedTurns && sum != all || sum < all*9/10 || sum > all*11/10 {
			t.Fatalf("of %d turns, %d stand for %d", all, timed, sum)
		}
	}
	if timed > timedTurns+110_000/sampledTurns {
		t.Errorf("%d of 100,000 turns are timed", timed)
	}
}

// TestLongTurns: of long turns each is timed, so that nobody seems to have waited for longer than there was.
func TestLongTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := longTurn
		b := newArray(1, &WaitPolicy{Yield: time.Hour, YieldOnce: func() { time.Sleep(took) }}) // sleep: a turn of others
		var spent atomic.Int64
		var all time.Duration
		for range 4 * timedTurns {
			b.turn(&spent)
			all += took
		}
		if waited := time.Duration(spent.Load()); waited != all {
			t.Errorf("%v were waited, want %v", waited, all)
		}
		took = longTurn - 1
		for range timedTurns + 1000 { // of which no sample has exactly the time
			b.turn(&spent)
			all += took
		}
		if diff := time.Duration(spent.Load()) - all; diff.Abs() > all/10 || diff == 0 {
			t.Errorf("%v more than %v: short turns are not sampled", diff, all)
		}
	})
}

// TestWaitsTakeATurn: where waiters yield and do not spin, a wait first lets others run once, and asks for nothing else if
// that ends it. With a context that has ended it lets nobody run.
func TestWaitsTakeATurn(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, wait := range map[string]func(b *Array, ctx context.Context, stop func() error, spent *atomic.Int64) error{
		"Wait": func(b *Array, ctx context.Context, stop func() error, spent *atomic.Int64) error {
			_, err := b.Wait(ctx, Some(0, 1), stop, spent)
			return err
		},
		"WaitFunc": func(b *Array, ctx context.Context, stop func() error, spent *atomic.Int64) error {
			return b.WaitFunc(ctx, func() bool { return b.Load(0) != 0 }, stop, spent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			turns, polls, asked := 0, 0, 0
			var b *Array
			b = newArray(1, &WaitPolicy{
				Yield: time.Hour, YieldOnce: func() { turns++; b.words[0].Store(1) },
				Poll: func() bool { polls++; return false }, Sleep: patientFutex{},
			})
			stop := func() error { asked++; return nil }
			var spent atomic.Int64
			if err := wait(b, ended, stop, &spent); !errors.Is(err, context.Canceled) || turns != 0 {
				t.Errorf("with a context that has ended: %v after %d turns", err, turns)
			}
			polls, asked = 0, 0
			err := wait(b, t.Context(), stop, &spent)
			if err != nil || turns != 1 || polls != 1 || asked != 0 || spent.Load() <= 0 {
				t.Errorf("%v after %d turns and %d polls of %v, asked %d times for an end", err, turns, polls, time.Duration(spent.Load()), asked)
			}
		})
	}
}
