package rdma

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/notify"
)

// progress is who moves the fabric on, which moves nothing by itself: callers that
// wait, through Poll, and a thread for when there are none.
type progress struct {
	polls   atomic.Uint32 // calls of Poll; tells the thread that somebody polls
	hogging atomic.Bool   // somebody has polled for so long that it should let others run; see Poll
	asleep  bool          // guarded by Transport.mu; the thread waits for the descriptor, or is about to
	parked  atomic.Int32  // waiters that have gone to sleep
	drained atomic.Bool   // the transport has closed; nobody makes progress any more

	poller  *sys.Poller   // nil where the fabric has no descriptor
	file    int           // the descriptor
	ready   sys.Events    // the thread's own
	roused  chan struct{} // of one; somebody wants the thread to end its nap
	alarm   *time.Timer   // the thread's own; ends its nap
	stopped chan struct{} // closed when the thread has ended
}

const (
	// eventsMost is how many events one look at the fabric returns.
	eventsMost = 32
	// Between these lies how long the thread naps: while others poll, before it looks
	// whether they still do; and where there is nothing to wait for, or operations wait
	// for room, before it looks again.
	napLeast = 50 * time.Microsecond
	napMost  = time.Millisecond
	// leaveMost is how long it naps at most while others poll: no longer than they have
	// polled by then. Each nap's end takes the core from them for some 15 us, where
	// they share one.
	leaveMost = 4 * time.Millisecond
	// pollEvery is how often somebody calls Poll at least that counts as polling, where
	// ranks do not share cores. One that looks now and then leaves the thread its work.
	pollEvery = 100 * time.Microsecond
	// triesMost is how often it looks again before it naps at all.
	triesMost = 16
	// vainMost is how often in a row the descriptor may tell at once, and nothing happens,
	// before the thread naps between looks: for some milliseconds a large transfer is like
	// that, and for ever the descriptor of provider net of libfabric 1.17, whose fi_trywait
	// does nothing.
	vainMost = 64
	// linger is how long the thread looks again, after the descriptor has told, before it
	// waits for it another time, if the program sleeps too: about what it costs to sleep
	// and to be woken.
	linger = defaultYield
)

func (p *progress) init(file int) error {
	p.roused = make(chan struct{}, 1)
	p.alarm = time.NewTimer(0)
	p.stopped = make(chan struct{})
	if file < 0 {
		return nil
	}
	var err error
	if p.poller, err = sys.NewPoller(); err != nil {
		return err
	}
	if err := p.poller.Add(file, 0, false); err != nil { // the last moment to tell of it
		p.poller.Close()
		return err
	}
	p.poller.Remove(file) // until it is waited for; see await
	p.file = file
	return nil
}

// Poll makes progress, without blocking, and reports whether there was any. It is for
// callers that wait for something, who call it again and again. Of several callers one
// at a time does the work, and those who have something to post go first.
func (t *Transport) Poll() bool {
	t.polls.Add(1)
	if t.hogging.Load() {
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
	t.hogging.Store(false)
	runtime.Gosched()
}

// workLocked deals with what has happened and posts what waited for room.
func (t *Transport) workLocked() bool {
	if t.drained.Load() || t.broken.Load() {
		return false
	}
	n := t.fab.poll(t.events)
	for i := range n {
		t.handleLocked(&t.events[i])
	}
	return len(t.waiting) > 0 && t.retryLocked() || n > 0
}

// loop is the thread that makes progress when nobody polls. While somebody does it
// naps: being woken by every message would take the core from those who wait for it.
func (t *Transport) loop() {
	defer close(t.stopped)
	seen := t.polls.Load()
	nap, tries, vain := napLeast, 0, 0
	var woken time.Time
	for !t.drained.Load() {
		if t.polls.Load() != seen {
			seen = t.leave()
			nap = napLeast
		}
		lingers := vain < vainMost && t.lingers(woken)
		moved, wait := t.turn(lingers)
		if tries++; moved {
			tries = 0
		}
		switch {
		case moved:
			nap, woken, vain = napLeast, time.Time{}, 0
		case wait && t.await():
			woken, vain = time.Now(), 0
		case wait && vain < vainMost:
			woken, vain = time.Now(), vain+1
		case lingers:
			sys.Yield() // a waiter that was woken meanwhile may need this core
		case tries < triesMost:
			runtime.Gosched()
		default:
			t.sleep(nap)
			nap = min(2*nap, napMost)
		}
	}
}

// lingers reports whether the thread, which the descriptor woke then, should not wait
// for it again yet: a large transfer arrives bit by bit, and most bits are no event.
// After an event it should: a waiter that it wakes may need the thread's core.
func (t *Transport) lingers(woken time.Time) bool {
	return t.parked.Load() > 0 && t.cfg.Waiting.Spin > 0 && time.Since(woken) < linger
}

// await waits for the descriptor. It returns false if it need not have waited, since that
// tells already. Nobody else listens to it: while callers poll, the system would go through
// the list of who does for every message.
func (t *Transport) await() bool {
	if err := t.poller.Add(t.file, 0, false); err != nil {
		t.sleep(napMost)
		return true
	}
	defer t.poller.Remove(t.file)
	if t.poller.Look(&t.ready) > 0 {
		return false
	}
	t.poller.Await(&t.ready)
	return true
}

// turn does what there is to do. wait says that the descriptor tells when there is
// more; the thread counts as asleep then, until its next turn. It is not asked to if
// the thread stays awake.
func (t *Transport) turn(awake bool) (moved, wait bool) {
	t.mu.Lock()
	defer t.unlock()
	t.asleep = false
	if t.workLocked() {
		return true, false
	}
	if awake || t.poller == nil || t.drained.Load() || t.broken.Load() {
		return false, false
	}
	t.asleep = t.fab.arm()
	return false, t.asleep
}

// leave leaves the work to those who poll until they do not any more. It returns the
// count of polls at the end.
func (t *Transport) leave() (seen uint32) {
	nap, most := napLeast, leaveMost
	shared := t.cfg.Waiting.Spin == 0
	if shared {
		nap, most = napMost, napMost // one that polls may have to wait for a core
	}
	for seen = t.polls.Load(); !t.sleep(nap) && !t.drained.Load(); nap = min(2*nap, most) {
		polls := t.polls.Load() - seen
		if polls == 0 || !shared && polls < uint32(nap/pollEvery) {
			break
		}
		seen += polls
		t.hogging.Store(nap == leaveMost)
	}
	select {
	case <-t.roused: // too late to matter
	default:
	}
	return t.polls.Load()
}

// sleep naps for d, and reports whether somebody has ended the nap. It leaves its
// processor to others.
func (t *Transport) sleep(d time.Duration) bool {
	t.alarm.Reset(d)
	select {
	case <-t.roused:
		return true
	case <-t.alarm.C:
		return false
	}
}

// rouse ends the nap of the thread, or spares it the next one.
func (t *Transport) rouse() {
	select {
	case t.roused <- struct{}{}:
	default:
	}
}

// Parker is p for waiters that poll this transport: before one goes to sleep, the
// thread takes over from it, and does not first finish its nap.
func (t *Transport) Parker(p notify.Parker) notify.Parker { return parker{t, p} }

type parker struct {
	t *Transport
	notify.Parker
}

// Park implements notify.Parker.
func (p parker) Park(word *atomic.Uint32, val uint32) {
	p.t.parked.Add(1)
	defer p.t.parked.Add(-1)
	p.t.rouse()
	p.Parker.Park(word, val)
}
