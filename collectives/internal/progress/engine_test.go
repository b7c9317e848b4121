package progress

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// work is one operation of a fake team.
type work struct {
	e       *Engine
	ready   bool // an Advance moves it
	steps   int  // until it ends
	blocked bool
	held    bool // an Advance lasts until a caller wants the team
	fails   error

	advanced, stalled int
	slept             error // the last that Advance was told of
	woken             chan struct{}
}

func newWork(steps int) *work {
	w := &work{e: new(Engine), steps: steps, woken: make(chan struct{}, 1)}
	w.e.Prepare(w)
	return w
}

func (w *work) Advance(slept error) bool {
	w.advanced++
	if slept != nil {
		w.slept = slept
	}
	for w.held && w.e.Wanted().Load() == 0 {
		runtime.Gosched()
	}
	if !w.ready {
		return false
	}
	w.ready = false
	if w.steps--; w.steps == 0 {
		w.e.End()
	}
	return true
}

func (w *work) Ready() bool             { return w.ready }
func (w *work) Blocked() bool           { return w.blocked }
func (w *work) Stalled()                { w.stalled++ }
func (w *work) Patience() time.Duration { return time.Second }

func (w *work) Sleep(woken func() bool) error {
	for !woken() {
		<-w.woken
	}
	return w.fails
}

func (w *work) Wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// begin begins the operation, as a caller.
func (w *work) begin(t *testing.T) {
	t.Helper()
	if !w.e.Enter() {
		t.Fatal("a caller was refused")
	}
	w.e.Begin()
	w.e.Leave()
}

// post makes an Advance move the operation, as a peer.
func (w *work) post() {
	synctest.Wait() // the goroutine sleeps
	w.ready = true
	w.Wake()
}

func TestASecondCallerIsRefused(t *testing.T) {
	e := newWork(1).e
	if !e.Enter() {
		t.Fatal("the first caller was refused")
	}
	if e.Enter() {
		t.Error("a second caller has the team")
	}
	if entered, refused := e.TryEnter(); entered || !refused {
		t.Errorf("TryEnter of a second caller: entered %v, refused %v", entered, refused)
	}
	e.Leave()
	if entered, refused := e.TryEnter(); !entered || refused {
		t.Errorf("TryEnter of a free team: entered %v, refused %v", entered, refused)
	}
	e.Leave()
}

func TestTheGoroutineEndsWithTheOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWork(2)
		for range 2 { // a second one is started
			w.steps = 2
			w.begin(t)
			w.post()
			w.post()
			synctest.Wait()
			if w.steps != 0 || w.e.background.running.Load() {
				t.Errorf("%d steps are left, goroutine %v", w.steps, w.e.background.running.Load())
			}
		}
	})
}

func TestACallerTakesTheTeamFromTheGoroutine(t *testing.T) {
	w := newWork(1)
	w.held = true
	w.begin(t)
	for { // until the goroutine has the team
		entered, refused := w.e.TryEnter()
		if refused {
			t.Fatal("a caller met another one")
		}
		if !entered {
			break
		}
		w.e.Leave()
		runtime.Gosched()
	}
	if !w.e.Enter() {
		t.Fatal("the caller was refused")
	}
	w.held, w.ready = false, true
	w.Advance(nil)
	w.e.Leave()
}

func TestALongSleepIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWork(1)
		w.begin(t)
		time.Sleep(2500 * time.Millisecond) // sleep: virtual time
		synctest.Wait()
		if w.stalled != 2 {
			t.Errorf("asked for a reason %d times, want 2", w.stalled)
		}
		w.post()
	})
}

func TestABlockedOperationIsLookedAtSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWork(1)
		w.blocked = true
		w.begin(t)
		time.Sleep(500 * time.Millisecond) // sleep: virtual time
		synctest.Wait()
		if least := int(500 * time.Millisecond / pauseMost); w.advanced < least {
			t.Errorf("%d looks, want at least %d", w.advanced, least)
		}
		w.post()
	})
}

func TestTheErrorOfASleepIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWork(1)
		w.fails = errors.New("the segment is gone")
		w.begin(t)
		w.post()
		synctest.Wait()
		if !errors.Is(w.slept, w.fails) {
			t.Errorf("Advance was told of %v, want %v", w.slept, w.fails)
		}
	})
}
