package notify

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
)

// ProcessWait returns the wait policy of a rank whose peers are processes: it yields and sleeps
// through the operating system. Where it spins, and so seldom sleeps, sleepers pay for the barriers of
// posters that ask for it, if the system can do that.
func ProcessWait(spin, yield time.Duration) *WaitPolicy {
	w := &WaitPolicy{Spin: spin, Yield: yield, YieldOnce: thread.Yield, Sleep: Futex{}}
	if spin > 0 && cpu.CanFenceAll() {
		w.FenceAll = cpu.FenceAll
	}
	return w
}

// GoroutineWait returns the wait policy of a rank whose peers are goroutines of the same
// process: it yields and sleeps through the Go scheduler.
func GoroutineWait(spin, yield time.Duration) *WaitPolicy {
	return &WaitPolicy{Spin: spin, Yield: yield, YieldOnce: runtime.Gosched, Sleep: &Goroutines{}}
}

// lookAgain bounds one sleep on a futex: a value that appeared without a
// wake-up (a poster killed between its store and its wake-up) is noticed after
// at most this long. Ten looks a second cost under 0.1 % of a core.
const lookAgain = 100 * time.Millisecond

// Futex is the parker for words in memory shared between processes. A parked
// goroutine holds an operating system thread.
type Futex struct{}

// Park sleeps while word is val, at most for lookAgain.
func (Futex) Park(word *atomic.Uint32, val uint32) { thread.FutexWait(word, val, lookAgain) }

// Wake wakes all sleepers of all processes.
func (Futex) Wake(word *atomic.Uint32) { thread.FutexWake(word) }

// Goroutines is the parker for words of one process: sleepers are goroutines
// that wait for a condition, which the race detector and testing/synctest
// understand. The words of one process may share one value. Its zero value is
// ready.
type Goroutines struct {
	mu    sync.Mutex
	cond  sync.Cond // its lock is mu, from the first Park on
	turns uint64    // guarded by mu; how often Wake was called
}

// Park sleeps until the next Wake unless word has changed already.
func (g *Goroutines) Park(word *atomic.Uint32, val uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if word.Load() != val {
		return
	}
	g.cond.L = &g.mu
	for turn := g.turns; g.turns == turn; {
		g.cond.Wait()
	}
}

// Wake wakes all sleepers.
func (g *Goroutines) Wake(*atomic.Uint32) {
	g.mu.Lock()
	g.turns++
	g.mu.Unlock()
	g.cond.Broadcast()
}
