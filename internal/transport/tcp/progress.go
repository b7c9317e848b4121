package tcp

import (
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/notify"
)

// progress is the state of the callers that poll and of the thread. Both receive, and
// send the frames that the socket did not take at once.
type progress struct {
	remote.Progress
	blocked atomic.Int32 // connections with frames that wait to be sent
	gatherings

	polling    sync.Mutex      // held by the caller that polls
	worker     *progressThread // guarded by polling; of the callers that poll
	yields     atomic.Bool     // written under polling; the thread leaves the work to callers that poll
	suppressed *conn           // guarded by polling; see suppressEvents
}

// A progressThread is the state of one thread that makes progress.
type progressThread struct {
	t       *Transport
	vec     socket.Vector
	events  socket.Events
	scratch []byte

	recent *conn // connection that moved last; nil if none did
	hits   int   // turns of recent that moved it since another connection did
	misses int   // turns of recent in vain since the last hit
	streak int   // hits of recent since the last miss
}

func newWorker(t *Transport) *progressThread {
	return &progressThread{t: t, scratch: make([]byte, scratchSize)}
}

const (
	// activeAfter is the number of hits in a row after which a connection counts as the
	// only active one, and is read without asking the system first.
	activeAfter = 32
	// lookWide is the number of reads of that connection before a caller asks for
	// events of all; lookSoon is the same once longWait reads were in vain.
	lookWide = 64
	lookSoon = 8
	longWait = 512
)

// Poll makes progress on all connections, without blocking, and reports whether there
// was any. Callers that wait call it again and again; it is cheap, and of several
// callers one at a time does the work.
func (t *Transport) Poll() bool {
	t.progress.Polled()
	t.progress.separate()
	if !t.progress.polling.TryLock() {
		return false
	}
	defer t.progress.polling.Unlock()
	return t.progress.worker.poll()
}

// poll receives on the connection that is active alone, if there is one, and now and
// then on all.
func (w *progressThread) poll() bool {
	t := w.t
	if t.progress.IsStopped() {
		return false
	}
	moved := false
	if w.hits >= activeAfter {
		moved = w.pollActive()
		// Frames that wait are sent meanwhile: both directions are in use.
		if !w.isWide() && t.progress.blocked.Load() == 0 {
			return moved
		}
	}
	if t.poller.Look(&w.events) > 0 && w.handle() {
		moved = true
	}
	if t.progress.suppressed != nil && t.progress.suppressed != w.recent {
		t.restoreEvents()
	}
	return moved
}

// pollActive receives on the connection that is active alone.
func (w *progressThread) pollActive() bool {
	if !w.serviceConn(w.recent, true, false) {
		w.misses++
		w.streak = 0
		return false
	}
	w.misses = 0
	w.streak++
	if w.t.progress.suppressed == nil && w.t.progress.yields.Load() {
		w.t.suppressEvents(w.recent)
	}
	return true
}

// isWide reports whether it is time for a look at all connections: now and then
// while nothing comes, and in a big transfer, which must not hold up the others.
func (w *progressThread) isWide() bool {
	switch {
	case w.streak > 0:
		return w.streak%lookSoon == 0
	case w.misses > longWait:
		return w.misses%lookSoon == 0
	default:
		return w.misses%lookWide == 0
	}
}

// handle handles events. Each connection has one turn, so that none waits for the end
// of another's big transfer.
func (w *progressThread) handle() bool {
	moved := false
	for i := range w.events.Len() {
		key, in, out := w.events.At(i)
		c := w.t.conns[key].Load()
		if c == nil || !w.serviceConn(c, in, out) {
			continue
		}
		moved = true
		if c != w.recent {
			w.recent, w.hits = c, 0
		}
		w.hits++
		w.misses = 0
	}
	return moved
}

// serviceConn receives and sends on a connection, a turn of each.
func (w *progressThread) serviceConn(c *conn, in, out bool) (moved bool) {
	var err error
	if in {
		moved, err = c.receive(w)
	}
	if out && err == nil {
		var sent bool
		if sent, err = c.flush(sendMost); err != nil {
			c.sendFailed(err)
			return true
		}
		return moved || sent
	}
	if err != nil {
		w.t.fail(c, err)
	}
	return moved
}

// suppressEvents ends events of the system for data that arrives on c, which cost it
// 0.4 us for each message, while a caller reads c all the time. They are restored before
// the thread waits for events. The caller holds polling.
func (t *Transport) suppressEvents(c *conn) {
	t.progress.suppressed = c
	c.watchReads(false)
}

func (t *Transport) restoreEvents() {
	if c := t.progress.suppressed; c != nil {
		t.progress.suppressed = nil
		c.watchReads(true)
	}
}

// watchReads sets whether there are events for data that arrives. While frames wait to
// be sent there are anyway.
func (c *conn) watchReads(on bool) {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended != nil || o.armed.Load() || o.listed == on {
		return
	}
	if o.listed = on; on {
		_ = c.t.poller.Add(c.fd, c.key, false)
	} else {
		c.t.poller.Remove(c.fd)
	}
}

// loop is the thread that makes progress while no caller polls. While callers poll it
// naps. It naps for as long again as they have polled, so that its cost vanishes in a
// long wait, and a message that comes after a short one does not wait long.
func (t *Transport) loop() {
	w := newWorker(t)
	seen := t.progress.Polls()
	for !t.progress.IsStopped() {
		if t.progress.Polls() != seen {
			seen = t.yieldToPollers()
		}
		if t.poller.Await(&w.events) > 0 && t.progress.Polls() == seen {
			w.handle()
		}
	}
}

// yieldToPollers leaves the work to callers that poll until none does any more. It
// returns the count of polls at the end.
func (t *Transport) yieldToPollers() (seen uint32) {
	p := &t.progress
	p.polling.Lock()
	p.yields.Store(true)
	p.polling.Unlock()
	n := napsOf(t.cfg.WaitPolicy)
	for over := false; !over; {
		seen = p.Polls()
		over = p.Nap(n.nap) || n.end(p.Polls() != seen, p.Polling())
	}
	p.DropWake() // too late to matter
	p.polling.Lock()
	defer p.polling.Unlock()
	p.yields.Store(false)
	t.restoreEvents()
	return p.Polls()
}

// PolledBy lets the waits of w poll this transport: see remote.Progress.PolledBy.
func (t *Transport) PolledBy(w *notify.WaitPolicy) { t.progress.PolledBy(w, t.Poll) }
