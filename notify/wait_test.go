package notify

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// patientFutex is Futex without the look now and then that would hide a lost
// wake-up: with it, one is a test that hangs.
type patientFutex struct{ Futex }

func (patientFutex) Park(word *atomic.Uint32, val uint32, _ time.Duration) {
	thread.FutexWait(word, val, time.Hour)
}

// eachWay runs test for both parkers, with waits that sleep at once and waits
// that spin and yield a little, so that posts meet every phase of a wait.
func eachWay(t *testing.T, test func(t *testing.T, wait *WaitPolicy)) {
	for _, phase := range []struct {
		name        string
		spin, yield time.Duration
	}{
		{"sleep at once", 0, 0},
		{"yield, sleep", 0, 2 * time.Microsecond},
		{"spin, yield, sleep", time.Microsecond, time.Microsecond},
	} {
		t.Run("goroutines/"+phase.name, func(t *testing.T) {
			test(t, GoroutineWait(phase.spin, phase.yield))
		})
		t.Run("futex/"+phase.name, func(t *testing.T) {
			test(t, &WaitPolicy{Spin: phase.spin, Yield: phase.yield, YieldOnce: thread.Yield, Sleep: patientFutex{}})
		})
	}
}

// untilSomebodySleeps returns when a waiter has announced itself in the wake
// word. It may still look once more before it sleeps.
func untilSomebodySleeps(b *Array) {
	for b.wake.Load()&1 == 0 {
		runtime.Gosched()
	}
}

// Pairs of goroutines play ping-pong, all on one array, so that every post
// meets sleepers that it does not concern and every sleeper foreign wake-ups.
// Goal: no wake-up is lost, whatever the interleaving.
func TestNoWakeUpIsLost(t *testing.T) {
	const pairs, rounds = 4, 1500
	eachWay(t, func(t *testing.T, wait *WaitPolicy) {
		b := newArray(2*pairs, wait)
		play := func(mine, theirs ID, serve bool) {
			for v := Value(1); v <= rounds; v++ {
				if serve {
					b.Set(theirs, v)
				}
				if _, err := b.Wait(t.Context(), Some(mine, 1), nil, nil); err != nil {
					t.Error(err)
				}
				if got, _ := b.Reset(mine); got != v {
					t.Errorf("slot %d in round %d: %d", mine, v, got)
					return
				}
				if !serve {
					b.Set(theirs, v)
				}
			}
		}
		var wg sync.WaitGroup
		for i := range ID(pairs) {
			wg.Go(func() { play(2*i, 2*i+1, true) })
			wg.Go(func() { play(2*i+1, 2*i, false) })
		}
		wg.Wait()
	})
}

// Many post to many slots, many wait for any of them: each post is taken once,
// by whoever's Reset gets it, and nobody sleeps on.
func TestManyWaitersShareARange(t *testing.T) {
	const posters, waiters, posts = 3, 3, 1000
	eachWay(t, func(t *testing.T, wait *WaitPolicy) {
		b := newArray(posters, wait)
		free := newArray(posters, wait) // one slot per poster: "yours has been taken"
		var taken atomic.Int64
		var all, post sync.WaitGroup
		for range waiters {
			all.Go(func() {
				for {
					id, err := b.Wait(t.Context(), Some(0, posters), nil, nil)
					if errors.Is(err, base.ErrClosed) {
						return
					}
					if v, _ := b.Reset(id); v != 0 {
						taken.Add(1)
						free.Set(id, 1)
					}
				}
			})
		}
		for id := range ID(posters) {
			post.Go(func() {
				for range posts {
					b.Set(id, 1)
					_, _ = free.Wait(t.Context(), Some(id, 1), nil, nil)
					_, _ = free.Reset(id)
				}
			})
		}
		post.Wait()
		b.Close()
		all.Wait()
		if got := taken.Load(); got != posters*posts {
			t.Errorf("%d posts were taken, want %d", got, posters*posts)
		}
	})
}

func TestWaitEndsEarlyAndGoesOn(t *testing.T) {
	cause := errors.New("cause")
	eachWay(t, func(t *testing.T, wait *WaitPolicy) {
		b := newArray(2, wait)
		var stopped atomic.Bool
		stop := func() error {
			if stopped.Load() {
				return cause
			}
			return nil
		}
		for _, c := range []struct {
			name string
			end  func(cancel context.CancelFunc)
			want error
		}{
			{"cancelled", func(cancel context.CancelFunc) { cancel() }, context.Canceled},
			{"stopped", func(context.CancelFunc) { stopped.Store(true); b.Wake() }, cause},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				untilSomebodySleeps(b)
				c.end(cancel)
			}()
			if _, err := b.Wait(ctx, Some(0, 2), stop, nil); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			}
			stopped.Store(false)
			cancel()
		}
		b.Set(1, 5)
		if id, err := b.Wait(t.Context(), Some(0, 2), stop, nil); err != nil || id != 1 {
			t.Errorf("the next wait: %d, %v; want 1", id, err)
		}
	})
}

func TestCloseEndsWaits(t *testing.T) {
	eachWay(t, func(t *testing.T, wait *WaitPolicy) {
		b := newArray(1, wait)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := b.Wait(t.Context(), Some(0, 1), nil, nil); !errors.Is(err, base.ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
			})
		}
		untilSomebodySleeps(b)
		b.Close()
		wg.Wait()
		if _, err := b.Wait(t.Context(), Some(0, 1), nil, nil); !errors.Is(err, base.ErrClosed) {
			t.Errorf("a wait after Close: %v, want ErrClosed", err)
		}
	})
}

// An arrival before the cause of an early end is not lost to it.
func TestArrivalBeatsTheEnd(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		stop func(*Array) error
	}{
		{"context", ended, func(*Array) error { return nil }},
		{"stop", t.Context(), func(b *Array) error { b.Set(0, 1); return errors.New("too late") }},
		{"close", t.Context(), func(b *Array) error { b.Set(0, 1); b.Close(); return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newArray(1, GoroutineWait(0, 0))
			if c.name == "context" {
				b.Set(0, 1)
			}
			if id, err := b.Wait(c.ctx, Some(0, 1), func() error { return c.stop(b) }, nil); err != nil || id != 0 {
				t.Errorf("got %d, %v; want 0", id, err)
			}
		})
	}
}

// A network card writes the flag and wakes nobody; so does a poster that dies
// between its two steps.
func TestFutexNoticesAValueWithoutWakeUp(t *testing.T) {
	b := newArray(4, ProcessWait(0, 0))
	go func() {
		untilSomebodySleeps(b)
		b.words[3].Store(9)
	}()
	if id, err := b.Wait(t.Context(), Some(0, 4), nil, nil); err != nil || id != 3 {
		t.Errorf("got %d, %v; want 3", id, err)
	}
}

func TestPollCanEndAWait(t *testing.T) {
	wait := GoroutineWait(0, 0)
	b := newArray(4, wait)
	polls := 0
	wait.Poll = func() bool {
		polls++
		b.Set(2, 1)
		return true
	}
	if id, err := b.Wait(t.Context(), Some(0, 4), nil, nil); err != nil || id != 2 || polls != 1 {
		t.Errorf("got %d, %v after %d polls; want 2 after one", id, err, polls)
	}
}

// A wait counts as one that polls from its first poll until it sleeps, and has ended then, also by an error.
func TestPollingWaitsAreCounted(t *testing.T) {
	var pollers atomic.Int32
	wait := GoroutineWait(0, 1)
	wait.Pollers = &pollers
	b := newArray(4, wait)
	var polls, sleeps []int32
	wait.Poll = func() bool {
		polls = append(polls, pollers.Load())
		return false
	}
	wait.Sleep = parkerFunc(func() {
		sleeps = append(sleeps, pollers.Load())
		b.Set(2, 1)
	})
	_, err := b.Wait(t.Context(), Some(0, 4), nil, nil)
	if err != nil || len(polls) < 2 || slices.Min(polls[:2]) != 1 || slices.Max(polls) != 1 || !slices.Equal(sleeps, []int32{0}) || pollers.Load() != 0 {
		t.Errorf("%v in polls, %v in a sleep, %d at the end (%v); want 1, 0 and 0", polls, sleeps, pollers.Load(), err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := b.Wait(ctx, Some(0, 2), nil, nil); err == nil || pollers.Load() != 0 {
		t.Errorf("%d waits poll after one has failed (%v)", pollers.Load(), err)
	}
	if err := b.SleepFunc(t.Context(), func() bool { return len(sleeps) == 2 }, nil, nil); err != nil || sleeps[1] != 0 || pollers.Load() != 0 {
		t.Errorf("%v in sleeps, %d at the end (%v)", sleeps, pollers.Load(), err)
	}
}

// A parkerFunc is called in place of a sleep.
type parkerFunc func()

func (f parkerFunc) Park(*atomic.Uint32, uint32, time.Duration) { f() }
func (parkerFunc) Wake(*atomic.Uint32)                          {}

// A caller that only looks makes progress, too: nobody else may.
func TestPollOfAnEndedContext(t *testing.T) {
	wait := GoroutineWait(0, 0)
	b := newArray(4, wait)
	wait.Poll = func() bool {
		b.Set(2, 1)
		return true
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if id, err := b.Wait(ctx, Some(0, 4), nil, nil); err != nil || id != 2 {
		t.Errorf("got %d, %v; want 2", id, err)
	}
}

// Where nothing arrives without a poll, there is one before every look; else a
// spinner looks several times first.
func TestLooksPerPoll(t *testing.T) {
	for _, c := range []struct {
		name      string
		pollFirst bool
		looks     int // before the second poll
	}{
		{"memory", false, firstLooks + spinChunk},
		{"network", true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			wait := GoroutineWait(time.Hour, 0)
			wait.PollFirst = c.pollFirst
			polls, looks := 0, 0
			wait.Poll = func() bool { polls++; return false }
			err := newArray(1, wait).WaitFunc(t.Context(), func() bool {
				if polls < 2 {
					looks++
				}
				return polls == 2
			}, nil, nil)
			if err != nil || looks != c.looks {
				t.Errorf("%d looks, %v; want %d", looks, err, c.looks)
			}
		})
	}
}

// In a bubble of synctest the clock moves only when everybody sleeps, so the
// figure is exact.
func TestSpentIsTheTimeWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newArray(1, GoroutineWait(0, 0))
		var spent atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := b.Wait(ctx, Some(0, 1), nil, &spent); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if got := time.Duration(spent.Load()); got != 3*time.Second {
			t.Errorf("spent %v, want 3s", got)
		}
		b.Set(0, 1)
		if _, err := b.Wait(ctx, Some(0, 1), nil, &spent); err != nil || spent.Load() != int64(3*time.Second) {
			t.Errorf("a wait that found at once: %v, spent %v", err, time.Duration(spent.Load()))
		}
	})
}

// An array that is only posted to, as a peer's is, wakes sleepers of another
// array on the same memory, as in another process.
func TestPostThroughAnotherArrayOnTheMemory(t *testing.T) {
	mem := make([]byte, Bytes(2))
	own := NewArray(mem, 2, &WaitPolicy{YieldOnce: runtime.Gosched, Sleep: patientFutex{}})
	peer := NewArray(mem, 2, nil)
	for v := Value(1); v <= 500; v++ {
		go func() {
			untilSomebodySleeps(own)
			peer.Set(1, v)
		}()
		if _, err := own.Wait(t.Context(), Until(1, Equal, v), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkPingPong(b *testing.B) {
	for _, phase := range []struct {
		name        string
		spin, yield time.Duration
	}{{"spin", time.Second, 0}, {"yield", 0, time.Second}, {"sleep", 0, 0}} {
		b.Run(fmt.Sprintf("goroutines/%s", phase.name), func(b *testing.B) {
			array := newArray(64, GoroutineWait(phase.spin, phase.yield))
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					if _, err := array.Wait(ctx, Some(0, 1), nil, nil); err != nil {
						return
					}
					_, _ = array.Reset(0)
					array.Set(32, 1)
				}
			}()
			b.ReportAllocs()
			for b.Loop() {
				array.Set(0, 1)
				_, _ = array.Wait(ctx, Some(32, 1), nil, nil)
				_, _ = array.Reset(32)
			}
			cancel()
			<-done
		})
	}
}
