package progress

import (
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
)

// This file is hot: every call of a team begins and ends here.

// An Engine lets one goroutine at a time use a team. A second caller is refused. A caller that meets
// the goroutine of the engine waits for it, and that goes away when it meets a caller.
type Engine struct {
	owner   atomic.Uint64 // of so many bits, since their StoreRelease is inlined
	wanting atomic.Int32  // callers that wait for the goroutine
	started int           // operations that go on without callers; of the owner

	mu   sync.Mutex
	free sync.Cond // its lock is mu; broadcast when the goroutine has released the team

	background background
}

// Owners.
const (
	nobody uint64 = iota
	aCaller
	theProgress // the goroutine of background.go
)

// Prepare makes an engine ready that was not used before, for the operations of a team.
func (e *Engine) Prepare(ops Operations) {
	e.background.ops, e.background.serve, e.background.look = ops, e.serve, e.look
}

// Enter begins the use of the team by a caller. A caller that it refuses must not look at the team. It
// blocks while the goroutine has the team.
func (e *Engine) Enter() bool {
	return e.owner.CompareAndSwap(nobody, aCaller) || e.enterSlow()
}

// looksBeforeSleep is how often a caller looks for the end of a pass of the goroutine before it
// sleeps: most passes take a microsecond.
const looksBeforeSleep = 64

// enterSlow is Enter of a team that is not free. The goroutine releases it at the next instruction that
// waits for a post.
func (e *Engine) enterSlow() bool {
	e.wanting.Add(1)
	defer e.wanting.Add(-1)
	for range looksBeforeSleep {
		if e.owner.CompareAndSwap(nobody, aCaller) {
			return true
		}
		if e.owner.Load() == aCaller {
			return false
		}
		cpu.Relax()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.free.L = &e.mu
	for !e.owner.CompareAndSwap(nobody, aCaller) {
		if e.owner.Load() == aCaller {
			return false
		}
		e.free.Wait()
	}
	return true
}

// TryEnter is Enter that never blocks. It reports whether the caller has the team now, and else whether
// it was refused: if not, the goroutine has the team.
func (e *Engine) TryEnter() (entered, refused bool) {
	for {
		if e.owner.CompareAndSwap(nobody, aCaller) {
			return true, false
		}
		if owner := e.owner.Load(); owner != nobody {
			return false, owner == aCaller
		}
	}
}

// Leave ends what Enter or TryEnter has begun.
func (e *Engine) Leave() {
	if e.started > 0 {
		e.leaveToProgress()
		return
	}
	cpu.StoreRelease64(&e.owner, nobody)
}

// Begin notes that an operation was begun that goes on without callers. The caller has the team.
func (e *Engine) Begin() {
	e.started++
	e.background.news = true
}

// End notes that such an operation has ended. Its caller or the goroutine has the team.
func (e *Engine) End() { e.started-- }

// Wanted returns a number that is positive while a caller waits for the goroutine.
func (e *Engine) Wanted() *atomic.Int32 { return &e.wanting }

// enterProgress is Enter of the goroutine, which gives way to callers.
func (e *Engine) enterProgress() bool {
	return e.wanting.Load() == 0 && e.owner.CompareAndSwap(nobody, theProgress)
}

// leaveProgress pairs with the last enterProgress.
func (e *Engine) leaveProgress() {
	e.owner.Store(nobody)
	if e.wanting.Load() > 0 {
		e.mu.Lock()
		e.free.Broadcast()
		e.mu.Unlock()
	}
}

// isCalled reports whether a caller has the team, or waits for it: it looks after all operations
// when it leaves.
func (e *Engine) isCalled() bool { return e.wanting.Load() > 0 || e.owner.Load() == aCaller }
