package tcp

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// progress is who receives, and who sends what the socket did not take at once:
// callers that wait, through Poll, and a thread for when there are none.
type progress struct {
	polls   atomic.Uint32 // calls of Poll; tells the thread that somebody polls
	blocked atomic.Int32  // connections with something that waits to be sent

	turn  sync.Mutex // held by the caller that polls
	asker *worker    // guarded by turn

	nap     atomic.Uint32 // what the thread naps on
	drained atomic.Bool   // the transport has closed; nobody makes progress any more
	stopped chan struct{} // closed when the thread has ended
}

// A worker is what one thread needs to make progress.
type worker struct {
	t       *Transport
	vec     sys.Vector
	events  sys.Events
	scratch []byte

	recent *conn // where something happened last; nil if nothing did
	misses int   // looks at recent in vain since then
	mixed  int   // more than 0 where connections take turns
}

func newWorker(t *Transport) *worker { return &worker{t: t, scratch: make([]byte, scratchSize)} }

const (
	// lookWide is how often a poller looks at the one connection that is active
	// before it asks the system about all of them, which takes a call more.
	lookWide = 64
	// mixedFor is for how many turns of one connection a poller remembers that
	// there was another: where several are active, it asks about all at once.
	mixedFor = 32
	// Between these lies how long the thread leaves the work to those who poll
	// before it looks whether they still do. Always 50 us made round trips of 8
	// bytes take 1.8 us longer, of 8.5: two processes on two cores.
	napLeast = 50 * time.Microsecond
	napMost  = time.Millisecond
)

func (p *progress) start(t *Transport) {
	p.asker = newWorker(t)
	p.stopped = make(chan struct{})
	go t.loop()
}

// Poll makes progress on all connections, without blocking, and reports whether
// there was any. It is for callers that wait for something, who call it again
// and again; it is cheap, and of several callers one at a time does the work.
func (t *Transport) Poll() bool {
	t.polls.Add(1)
	if !t.turn.TryLock() {
		return false
	}
	defer t.turn.Unlock()
	return t.asker.poll()
}

// poll looks at the connection that was active last, and now and then at all.
func (w *worker) poll() bool {
	if w.t.drained.Load() {
		return false
	}
	if w.recent != nil && w.mixed == 0 && w.t.blocked.Load() == 0 {
		if w.serve(w.recent, true, false) {
			w.misses = 0
			return true
		}
		if w.misses++; w.misses%lookWide != 0 {
			return false
		}
	}
	if w.t.poller.Look(&w.events) == 0 {
		return false
	}
	return w.handle()
}

// handle deals with events. A connection has one turn, so that none waits for
// the end of another's big transfer.
func (w *worker) handle() bool {
	moved := false
	for i := range w.events.Len() {
		key, in, out := w.events.At(i)
		if c := w.t.conns[key].Load(); c != nil && w.serve(c, in, out) {
			moved = true
			if c != w.recent {
				w.recent, w.mixed = c, mixedFor
			} else if w.mixed > 0 {
				w.mixed--
			}
			w.misses = 0
		}
	}
	return moved
}

// serve gives a connection its turn.
func (w *worker) serve(c *conn, in, out bool) (moved bool) {
	var err error
	if in {
		moved, err = c.receive(w)
	}
	if out && err == nil {
		var sent bool
		sent, err = c.flush(turnMost)
		moved = moved || sent
	}
	if err != nil {
		if out && !in {
			c.broke(err)
		} else {
			w.t.broken(c, err)
		}
	}
	return moved
}

// loop is the thread that makes progress when nobody polls. While somebody does
// it naps: being woken by every message would take the core from those who wait
// for it. It naps for as long again as they have polled, so that what it costs
// vanishes in a long wait, and what comes after a short one does not wait long.
func (t *Transport) loop() {
	defer close(t.stopped)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	w := newWorker(t)
	seen, nap := t.polls.Load(), napLeast
	for !t.drained.Load() {
		if polls := t.polls.Load(); polls != seen {
			seen = polls
			sys.FutexWait(&t.nap, 0, nap)
			nap = min(2*nap, napMost)
			continue
		}
		nap = napLeast
		if t.poller.Await(&w.events) > 0 && t.polls.Load() == seen {
			w.handle()
		}
	}
}
