package remote

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/notify"
)

// NapLeast is the shortest nap of a progress thread between two looks.
const NapLeast = 50 * time.Microsecond

// Progress divides the progress of a transport between callers that poll and the
// transport's own thread. While callers poll, the thread naps: being woken by every
// message would take the core from them. A caller that goes to sleep wakes the thread
// first.
type Progress struct {
	polls   atomic.Uint32 // calls of Poll
	parked  atomic.Int32  // callers that have gone to sleep
	pollers *atomic.Int32 // WaitPolicy.Pollers; nil if no waits poll
	stopped atomic.Bool   // nobody makes progress any more

	wake  chan struct{} // of one; ends the nap of the thread
	timer *time.Timer   // ends the nap of the thread; the thread's own
	ended chan struct{} // closed when the thread has ended
}

// Init makes p ready for Start.
func (p *Progress) Init() {
	p.wake = make(chan struct{}, 1)
	p.timer = time.NewTimer(0)
	p.ended = make(chan struct{})
}

// Start runs loop, the thread, which returns once IsStopped reports true. A process with
// one Go processor gets a second: the thread would wait up to 10 ms for the only one, and
// keep it for a while when it blocks. The system divides the core better.
func (p *Progress) Start(loop func()) {
	if runtime.GOMAXPROCS(0) == 1 {
		runtime.GOMAXPROCS(2)
	}
	go func() {
		defer close(p.ended)
		loop()
	}()
}

// Polled records a call of Poll.
func (p *Progress) Polled() { p.polls.Add(1) }

// Polls returns the number of calls of Poll, modulo 2^32.
func (p *Progress) Polls() uint32 { return p.polls.Load() }

// Parked returns how many callers that poll have gone to sleep.
func (p *Progress) Parked() int32 { return p.parked.Load() }

// IsStopped reports whether Stop was called.
func (p *Progress) IsStopped() bool { return p.stopped.Load() }

// Nap blocks the thread for d, or until Wake, and reports whether Wake ended it. It
// leaves its processor to others: in a call of the system, of which the runtime would
// take the processor away each time, all naps together kept the runtime's monitor looking
// every 70 us, a tenth of the time that 4 ranks had on 2 cores.
func (p *Progress) Nap(d time.Duration) (woken bool) {
	p.timer.Reset(d)
	select {
	case <-p.wake:
		return true
	case <-p.timer.C:
		return false
	}
}

// Wake ends the nap of the thread, or the next one if it does not nap.
func (p *Progress) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// DropWake forgets a Wake that has not ended a nap.
func (p *Progress) DropWake() {
	select {
	case <-p.wake:
	default:
	}
}

// Stop ends progress and blocks until the thread has ended. interrupt ends a wait of
// the thread other than a nap.
func (p *Progress) Stop(interrupt func()) {
	p.stopped.Store(true)
	interrupt()
	p.Wake()
	<-p.ended
}

// PolledBy lets the waits of w call poll besides what they poll already. Before one goes to
// sleep, it wakes the thread, which takes over at once. It is called before Start.
func (p *Progress) PolledBy(w *notify.WaitPolicy, poll func() bool) {
	if before := w.Poll; before == nil {
		w.Poll = poll
	} else {
		w.Poll = func() bool {
			moved := before()
			return poll() || moved
		}
	}
	if w.Pollers == nil {
		w.Pollers = new(atomic.Int32)
	}
	p.pollers = w.Pollers
	w.Sleep = parker{p, w.Sleep}
}

// Polling reports whether a wait polls, or would if it had a core.
func (p *Progress) Polling() bool { return p.pollers != nil && p.pollers.Load() > 0 }

type parker struct {
	p *Progress
	notify.Parker
}

// Park implements notify.Parker.
func (p parker) Park(word *atomic.Uint32, val uint32, limit time.Duration) {
	p.p.parked.Add(1)
	defer p.p.parked.Add(-1)
	p.p.Wake()
	p.Parker.Park(word, val, limit)
}
