package rdma

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/sys/thread"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
)

// progress is the state of the callers that poll and of the thread. They move the fabric,
// which moves nothing by itself.
type progress struct {
	remote.Progress
	hogging atomic.Bool // a caller has polled for so long that it should let others run; see Poll
	asleep  bool        // guarded by Transport.mu; the thread waits for the descriptor, or is about to

	poller *socket.Poller // nil where the fabric has no descriptor
	file   int            // the descriptor
	ready  socket.Events  // the thread's own
}

const (
	// eventsMost is how many events one look at the fabric returns.
	eventsMost = 32
	// napMost is the longest nap of the thread: while others poll, before it looks whether
	// they still do; and where there is nothing to wait for, or operations wait for room,
	// before it looks again. The shortest is remote.NapLeast.
	napMost = time.Millisecond
	// yieldMost is how long it naps at most while others poll: no longer than they have
	// polled by then. Each nap's end takes the core from them for some 15 us, where
	// they share one.
	yieldMost = 4 * time.Millisecond
	// pollEvery is the longest time between two calls of Poll of a caller that counts as
	// polling, where ranks do not share cores. If it polls less often, the thread works.
	pollEvery = 100 * time.Microsecond
	// triesMost is how often it looks again before it naps at all.
	triesMost = 16
	// vainMost is the number of times in a row that the descriptor may be readable at once
	// without an event, before the thread naps between looks: a large transfer does that for
	// some milliseconds, and the descriptor of provider net of libfabric 1.17, whose
	// fi_trywait does nothing, always.
	vainMost = 64
	// linger is the time for which the thread polls, after the descriptor was readable,
	// before it waits for it again, if the program sleeps too: about the cost of a sleep
	// and a wake-up.
	linger = defaultYield
)

// init makes p ready. file is the descriptor of the fabric, or negative.
func (p *progress) init(file int) error {
	p.Progress.Init()
	if file < 0 {
		return nil
	}
	var err error
	if p.poller, err = socket.NewPoller(); err != nil {
		return err
	}
	if err := p.poller.Add(file, 0, false); err != nil { // so that an error is returned here
		p.poller.Close()
		return err
	}
	p.poller.Remove(file) // until it is waited for; see await
	p.file = file
	return nil
}

// Poll makes progress, without blocking, and reports whether there was any. It is for
// callers that wait and call it again and again. Of several callers one at a time does the
// work, and callers that post go first.
func (t *Transport) Poll() bool {
	t.progress.Polled()
	if t.progress.hogging.Load() {
		t.yield()
	}
	if t.wanted.Load() > 0 || !t.mu.TryLock() {
		return false
	}
	defer t.unlock()
	return t.workLocked()
}

// yield lets other goroutines run. Go's monitor (sysmon) takes a processor away that has
// run one goroutine for 10 ms and is inside a call into C, and then looks again every 20 us
// for some milliseconds: a tenth of all round trips took three times as long as the others.
func (t *Transport) yield() {
	t.progress.hogging.Store(false)
	runtime.Gosched()
}

// workLocked handles events and posts operations that wait for room.
func (t *Transport) workLocked() bool {
	if t.progress.IsStopped() || t.broken.Load() {
		return false
	}
	n := t.fab.poll(t.events)
	for i := range n {
		t.handleEventLocked(&t.events[i])
	}
	return len(t.waiting) > 0 && t.retryLocked() || n > 0
}

// loop is the thread that makes progress while no caller polls. While callers poll it naps.
func (t *Transport) loop() {
	seen := t.progress.Polls()
	nap, tries, vain := remote.NapLeast, 0, 0
	var woken time.Time
	for !t.progress.IsStopped() {
		if t.progress.Polls() != seen {
			seen = t.yieldToPollers()
			nap = remote.NapLeast
		}
		lingers := vain < vainMost && t.lingers(woken)
		moved, wait := t.step(lingers)
		if tries++; moved {
			tries = 0
		}
		switch {
		case moved:
			nap, woken, vain = remote.NapLeast, time.Time{}, 0
		case wait && t.await():
			woken, vain = time.Now(), 0
		case wait && vain < vainMost:
			woken, vain = time.Now(), vain+1
		case lingers:
			thread.Yield() // a waiter that was woken meanwhile may need this core
		case tries < triesMost:
			runtime.Gosched()
		default:
			t.progress.Nap(nap)
			nap = min(2*nap, napMost)
		}
	}
}

// lingers reports whether the thread, which the descriptor woke then, should not wait
// for it again yet: a large transfer arrives bit by bit, and most bits are no event.
// After an event it should: a waiter that it wakes may need the thread's core.
func (t *Transport) lingers(woken time.Time) bool {
	return t.progress.Parked() > 0 && t.cfg.WaitPolicy.Spin > 0 && time.Since(woken) < linger
}

// await waits for the descriptor. It returns false if it need not have waited, since that
// is readable already. It is watched only here: while callers poll, the system would go
// through the list of watchers for every message.
func (t *Transport) await() bool {
	if err := t.progress.poller.Add(t.progress.file, 0, false); err != nil {
		t.progress.Nap(napMost)
		return true
	}
	defer t.progress.poller.Remove(t.progress.file)
	if t.progress.poller.Look(&t.progress.ready) > 0 {
		return false
	}
	t.progress.poller.Await(&t.progress.ready)
	return true
}

// step handles events. wait reports that the descriptor becomes readable when there are
// more; then the thread counts as asleep until its next step. With awake set, it does not
// arm the descriptor.
func (t *Transport) step(awake bool) (moved, wait bool) {
	t.mu.Lock()
	defer t.unlock()
	t.progress.asleep = false
	if t.workLocked() {
		return true, false
	}
	if awake || t.progress.poller == nil || t.progress.IsStopped() || t.broken.Load() {
		return false, false
	}
	t.progress.asleep = t.fab.arm()
	return false, t.progress.asleep
}

// yieldToPollers leaves the work to callers that poll until none does any more. It returns
// the count of polls at the end.
func (t *Transport) yieldToPollers() (seen uint32) {
	nap, most := remote.NapLeast, yieldMost
	shared := t.cfg.WaitPolicy.Spin == 0
	if shared {
		nap, most = napMost, napMost // one that polls may have to wait for a core
	}
	for seen = t.progress.Polls(); !t.progress.Nap(nap) && !t.progress.IsStopped(); nap = min(2*nap, most) {
		polls := t.progress.Polls() - seen
		if polls == 0 || !shared && polls < uint32(nap/pollEvery) {
			break
		}
		seen += polls
		t.progress.hogging.Store(nap == yieldMost)
	}
	t.progress.DropWake() // too late to matter
	return t.progress.Polls()
}

// PolledBy lets the waits of w poll this transport: see remote.Progress.PolledBy.
func (t *Transport) PolledBy(w *notify.WaitPolicy) { t.progress.PolledBy(w, t.Poll) }
