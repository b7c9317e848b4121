package notify

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// AmongProcesses is how a rank waits whose peers are processes: it yields and
// sleeps through the operating system.
func AmongProcesses(spin, yield time.Duration) *Waiting {
	return &Waiting{Spin: spin, Yield: yield, YieldOnce: sys.Yield, Sleep: Futex{}}
}

// AmongGoroutines is how a rank waits whose peers are goroutines of the same
// process: it yields and sleeps through the Go scheduler.
func AmongGoroutines(spin, yield time.Duration) *Waiting {
	return &Waiting{Spin: spin, Yield: yield, YieldOnce: runtime.Gosched, Sleep: &Goroutines{}}
}

// lookAgain bounds one sleep on a futex: a value that appeared without a
// wake-up (a poster killed between its store and its wake-up) is noticed after
// at most this long. Ten looks a second cost under 0.1 % of a core.
const lookAgain = 100 * time.Millisecond

// Futex is the parker for words in memory shared between processes. A parked
// goroutine holds an operating system thread.
type Futex struct{}

// Park sleeps while word is val, at most for lookAgain.
func (Futex) Park(word *atomic.Uint32, val uint32) { sys.FutexWait(word, val, lookAgain) }

// Wake wakes all sleepers of all processes.
func (Futex) Wake(word *atomic.Uint32) { sys.FutexWake(word) }

// Goroutines is the parker for words of one process: sleepers are goroutines on
// a channel, which the race detector and testing/synctest understand. The words
// of one process may share one value. Its zero value is ready.
type Goroutines struct {
	mu    sync.Mutex
	sleep chan struct{} // guarded by mu; closed by Wake; nil while nobody sleeps
}

// Park sleeps until the next Wake unless word has changed already.
func (g *Goroutines) Park(word *atomic.Uint32, val uint32) {
	g.mu.Lock()
	if word.Load() != val {
		g.mu.Unlock()
		return
	}
	if g.sleep == nil {
		g.sleep = make(chan struct{})
	}
	sleep := g.sleep
	g.mu.Unlock()
	<-sleep
}

// Wake wakes all sleepers.
func (g *Goroutines) Wake(*atomic.Uint32) {
	g.mu.Lock()
	if g.sleep != nil {
		close(g.sleep)
		g.sleep = nil
	}
	g.mu.Unlock()
}
