package notify

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// A poster that stores and looks for sleepers without a barrier between the two meets a waiter that is
// about to sleep: it has the wake word in its cache and the waiter has the notification, so that its look
// comes long before its store. A delay that varies by a few nanoseconds finds the moment.
// Goal: no wake-up is lost, since the waiter fences. Without WaitPolicy.FenceAll, the test hangs.
func TestNoWakeUpIsLostWithoutBarriers(t *testing.T) {
	if !cpu.CanFenceAll() {
		t.Skip("the system cannot fence other processors (membarrier)")
	}
	rounds := uint32(200_000)
	if testing.Short() {
		rounds /= 10
	}
	b := newArray(64, &WaitPolicy{YieldOnce: func() {}, Sleep: patientFutex{}, FenceAll: cpu.FenceAll})
	b.AskForFences()
	if !b.Fenced() {
		t.Fatal("waiters that can fence have not been asked to")
	}
	var round atomic.Uint32
	go func() {
		for v := uint32(1); v <= rounds; v++ {
			_ = b.wake.Load()
			round.Store(v)
			for range v * 7919 % 2048 {
				_ = b.wake.Load()
			}
			b.StoreRelease(48, Value(v))
			b.WakeSleepers()
			for b.words[0].Load() != v { // the waiter has seen it
				runtime.Gosched()
			}
		}
	}()
	for v := uint32(1); v <= rounds; v++ {
		for round.Load() != v {
			runtime.Gosched()
		}
		if _, err := b.Wait(t.Context(), Until(48, Equal, Value(v)), nil, nil); err != nil {
			t.Fatal(err)
		}
		b.words[0].Store(v)
	}
}

// postingParker posts notification 0 of an array in place of a sleep.
type postingParker struct {
	Futex
	array *Array
}

func (p *postingParker) Park(*atomic.Uint32, uint32, time.Duration) { p.array.words[0].Store(1) }

// Goal: sleeps fence if a poster of any process has asked for it, and only then.
func TestSleepsFenceWhenAsked(t *testing.T) {
	if !cpu.CanFenceAll() {
		t.Skip("the system cannot fence other processors (membarrier)")
	}
	fences := 0
	parker := &postingParker{}
	mem := make([]byte, Bytes(1))
	b := NewArray(mem, 1, &WaitPolicy{YieldOnce: func() {}, Sleep: parker, FenceAll: func() { fences++ }})
	parker.array = b
	poster := NewArray(mem, 1, nil)
	for asked := range 2 {
		if asked == 1 {
			poster.AskForFences()
		}
		fences = 0
		if _, err := b.Wait(t.Context(), Some(0, 1), nil, nil); err != nil {
			t.Fatal(err)
		}
		if v, err := b.Reset(0); v != 1 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
		if fences != asked || poster.Fenced() != (asked == 1) || b.Fenced() {
			t.Errorf("%d posters have asked: %d fences; posts need no barrier: %t, of one that has not asked: %t", asked, fences, poster.Fenced(), b.Fenced())
		}
	}
	plain := newArray(1, &WaitPolicy{YieldOnce: func() {}, Sleep: parker})
	plain.AskForFences()
	if plain.Fenced() {
		t.Error("posts need no barrier, although waiters cannot fence")
	}
}
