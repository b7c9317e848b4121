package tcp

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/notify"
)

// progress is who receives, and who sends what the socket did not take at once:
// callers that wait, through Poll, and a thread for when there are none.
type progress struct {
	polls   atomic.Uint32 // calls of Poll; tells the thread that somebody polls
	blocked atomic.Int32  // connections with something that waits to be sent

	turn    sync.Mutex  // held by the caller that polls
	asker   *worker     // guarded by turn
	napping atomic.Bool // written under turn; the thread leaves the work to those who poll
	muted   *conn       // guarded by turn; see mute

	roused  chan struct{} // of one; somebody wants the thread to end its nap
	alarm   *time.Timer   // the thread's own; ends its nap
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
	hits   int   // turns of recent since there was one of another
	misses int   // looks at recent in vain since its last turn
	streak int   // turns of recent since a look at it in vain
}

func newWorker(t *Transport) *worker { return &worker{t: t, scratch: make([]byte, scratchSize)} }

const (
	// aloneAfter is after how many turns in a row a connection counts as the only
	// one that is active, and is read without asking the system first.
	aloneAfter = 32
	// lookWide is how often a poller looks at that connection before it asks about
	// all of them; lookSoon is the same once nothing has come for longWait looks.
	lookWide = 64
	lookSoon = 8
	longWait = 512
	// Between these lies how long the thread leaves the work to those who poll
	// before it looks whether they still do. Always 50 us made round trips of 8
	// bytes take 1.8 us longer, of 8.5: two processes on two cores.
	napLeast = 50 * time.Microsecond
	napMost  = time.Millisecond
	// napShared is both of these where ranks share cores: one that polls may have to
	// wait that long for a core, and does not want its work done by another thread that
	// wants one too. With 1 ms, an alltoall of 1 MiB among 4 ranks of 2 cores took 5 %
	// longer than with 3 ms, and 10 % longer than so.
	napShared = 10 * time.Millisecond
)

func (p *progress) start(t *Transport) {
	p.asker = newWorker(t)
	p.roused = make(chan struct{}, 1)
	p.alarm = time.NewTimer(0)
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

// poll looks at the connection that is active alone, if there is one, and now and
// then at all.
func (w *worker) poll() bool {
	t := w.t
	if t.drained.Load() {
		return false
	}
	moved := false
	if w.hits >= aloneAfter {
		moved = w.alone()
		// What waits to be sent goes on meanwhile: both directions are in use.
		if !w.isWide() && t.blocked.Load() == 0 {
			return moved
		}
	}
	if t.poller.Look(&w.events) > 0 && w.handle() {
		moved = true
	}
	if t.muted != nil && t.muted != w.recent {
		t.unmute()
	}
	return moved
}

// alone gives the connection that is active alone a turn.
func (w *worker) alone() bool {
	if !w.serve(w.recent, true, false) {
		w.misses++
		w.streak = 0
		return false
	}
	w.misses = 0
	w.streak++
	if w.t.muted == nil && w.t.napping.Load() {
		w.t.mute(w.recent)
	}
	return true
}

// isWide reports whether it is time for a look at all connections: now and then
// while nothing comes, and in a big transfer, which must not hold up the others.
func (w *worker) isWide() bool {
	switch {
	case w.streak > 0:
		return w.streak%lookSoon == 0
	case w.misses > longWait:
		return w.misses%lookSoon == 0
	default:
		return w.misses%lookWide == 0
	}
}

// handle deals with events. A connection has one turn, so that none waits for
// the end of another's big transfer.
func (w *worker) handle() bool {
	moved := false
	for i := range w.events.Len() {
		key, in, out := w.events.At(i)
		c := w.t.conns[key].Load()
		if c == nil || !w.serve(c, in, out) {
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

// serve gives a connection its turn.
func (w *worker) serve(c *conn, in, out bool) (moved bool) {
	var err error
	if in {
		moved, err = c.receive(w)
	}
	if out && err == nil {
		var sent bool
		if sent, err = c.flush(sendMost); err != nil {
			c.broke(err)
			return true
		}
		return moved || sent
	}
	if err != nil {
		w.t.broken(c, err)
	}
	return moved
}

// mute stops the system from noting what arrives on c, which takes it 0.4 us for
// each message, while a poller reads c all the time. Before the thread waits for
// the system to tell it something, c is unmuted. The caller holds turn.
func (t *Transport) mute(c *conn) {
	t.muted = c
	c.listen(false)
}

func (t *Transport) unmute() {
	if c := t.muted; c != nil {
		t.muted = nil
		c.listen(true)
	}
}

// listen sets whether events say that something has arrived. While something
// waits to be sent they do anyway.
func (c *conn) listen(on bool) {
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

// loop is the thread that makes progress when nobody polls. While somebody does
// it naps: being woken by every message would take the core from those who wait
// for it. It naps for as long again as they have polled, so that what it costs
// vanishes in a long wait, and what comes after a short one does not wait long.
func (t *Transport) loop() {
	defer close(t.stopped)
	w := newWorker(t)
	seen := t.polls.Load()
	for !t.drained.Load() {
		if t.polls.Load() != seen {
			seen = t.leave()
		}
		if t.poller.Await(&w.events) > 0 && t.polls.Load() == seen {
			w.handle()
		}
	}
}

// leave leaves the work to those who poll until they do not any more. It returns
// the count of polls at the end.
func (t *Transport) leave() (seen uint32) {
	t.turn.Lock()
	t.napping.Store(true)
	t.turn.Unlock()
	least, most := napLeast, napMost
	if t.cfg.Waiting.Spin == 0 {
		least, most = napShared, napShared
	}
	for nap := least; ; nap = min(2*nap, most) {
		seen = t.polls.Load()
		if t.sleep(nap) || t.polls.Load() == seen {
			break
		}
	}
	select {
	case <-t.roused: // too late to matter
	default:
	}
	t.turn.Lock()
	defer t.turn.Unlock()
	t.napping.Store(false)
	t.unmute()
	return t.polls.Load()
}

// sleep naps for d, and reports whether somebody has ended the nap. It leaves its
// processor to others: in a call of the system, of which the runtime would take the
// processor away each time, all naps together kept the runtime's own watcher looking
// every 70 us, a tenth of what 4 ranks had of 2 cores.
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
	p.t.rouse()
	p.Parker.Park(word, val)
}
