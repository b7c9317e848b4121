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

// A sleep that may miss a value lasts at most as long as its wait has lasted so far, within these
// bounds: a value that appeared without a wake-up (a poster killed between its store and its wake-up)
// is noticed so late. Each end of a sleep costs more than its look: the Go runtime's sysmon thread
// naps some sixty times behind it. With ten looks a second it had a third of the cores of 256 ranks on 2 cores.
const (
	lookAgain  = 100 * time.Millisecond
	lookSeldom = 5 * time.Second
)

// nextLook is how long the next sleep of a wait may last that has lasted for took.
func nextLook(took time.Duration) time.Duration { return min(max(took, lookAgain), lookSeldom) }

// Futex is the parker for words in memory shared between processes. A parked
// goroutine holds an operating system thread.
type Futex struct{}

// Park sleeps while word is val, at most for limit.
func (Futex) Park(word *atomic.Uint32, val uint32, limit time.Duration) {
	thread.FutexWait(word, val, limit)
}

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

// Park sleeps until the next Wake unless word has changed already. It needs no limit: goroutines of one
// process cannot be killed between a store and a wake-up.
func (g *Goroutines) Park(word *atomic.Uint32, val uint32, _ time.Duration) {
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
