package transport

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/internal/tally"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// TestMove moves through windows on segments whose waiters fence or not, for callers that count alone
// or not: data, notification and counts are the same, and a waiter that sleeps is woken.
func TestMove(t *testing.T) {
	fencing := &notify.WaitPolicy{YieldOnce: func() {}, Sleep: notify.Futex{}}
	if cpu.CanFenceAll() {
		fencing.FenceAll = cpu.FenceAll
	}
	for _, c := range []struct {
		name  string
		wait  *notify.WaitPolicy
		alone bool
	}{
		{"posters fence, shared count", notify.ProcessWait(0, 0), false},
		{"posters fence, own count", notify.ProcessWait(0, 0), true},
		{"waiters fence, shared count", fencing, false},
		{"waiters fence, own count", fencing, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const moves = 1000
			theirs, err := segment.New(64, 2, c.wait)
			if err != nil {
				t.Fatal(err)
			}
			link := NewDirect(1, 1, func(segment.ID) (*Window, error) { return &Window{Segment: theirs, Live: new(atomic.Uint64)}, nil }, nil)
			w, err := link.Window(0)
			if err != nil {
				t.Fatal(err)
			}
			if c.alone {
				w.AskForFences()
			}
			if got, want := w.array.Fenced(), c.alone && c.wait.FenceAll != nil; got != want {
				t.Errorf("moves need no barrier: %t, want %t", got, want)
			}
			own, err := segment.New(8, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			copy(own.All().Bytes(), "12345678")
			var count tally.Tally
			var poster sync.WaitGroup
			poster.Go(func() {
				for v := notify.Value(1); v <= moves; v++ {
					w.PutRelease(8, own.All(), 1, v)
					if c.alone && w.Fenced() {
						count.AddSerialized(8)
					} else {
						count.Add(8)
					}
					w.WakeSleepers()
					for theirs.Notifications().Load(0) != v {
						runtime.Gosched()
					}
				}
			})
			for v := notify.Value(1); v <= moves; v++ {
				if _, err := theirs.Notifications().Wait(t.Context(), notify.Until(1, notify.Equal, v), nil, nil); err != nil {
					t.Fatal(err)
				}
				if got := string(theirs.All().Bytes()[8:16]); got != "12345678" {
					t.Fatalf("%q", got)
				}
				clear(theirs.All().Bytes())
				theirs.Notifications().Set(0, v)
			}
			poster.Wait()
			if n, bytes := count.Read(); n != moves || bytes != 8*moves {
				t.Errorf("%d moves of %d bytes in all", n, bytes)
			}
		})
	}
}
