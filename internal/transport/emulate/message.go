package emulate

import (
	"runtime"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A packetTrain is what is under way between this rank and a peer. It belongs to the nic
// until its last event has happened.
type packetTrain struct {
	next   *packetTrain // to be used again
	events int          // foreseen

	link *link
	flow *queueFlow // nil where order does not matter
	size uint64     // bytes
	due  int64      // when its first byte arrives, and once it has, when all of it does
	back bool       // its data travels from the peer to this rank

	queue *transport.Queue // whose operation it is; nil for a probe
	op    transport.Op
	held  bool // op is under way

	flagged bool // posts flag when it is there
	flag    transport.Flag
	target  target        // of flag
	array   *notify.Array // the local one of flag, of a get
	probe   *probe        // somebody waits for it here; nil if nobody does
}

// A probe is a message whose end somebody awaits.
type probe struct {
	err   error // set before done
	done  atomic.Bool
	round bool // it comes back before it is done
}

// A queueFlow is the messages of a queue to a peer, which stay in order. Guarded by the lock of the nic.
type queueFlow struct {
	inner  *transport.Queue // carries them below
	leaves int64            // when the last has left
	there  way              // to the peer
	here   way              // from the peer: answers
	gets   int              // that have not ended
	slow   int              // operations that have not ended below when their time had come

	refused map[*transport.Queue]bool // that have had a get that failed below, and may have told of it
}

// hasRefused reports whether a get of q has failed below since q has last told of a failure.
func (f *queueFlow) hasRefused(q *transport.Queue) bool {
	if f.refused[q] && !q.HasFailed() {
		delete(f.refused, q)
	}
	return f.refused[q]
}

// A way is how far the messages of a flow are, in one direction.
type way struct {
	first int64 // when the first byte of the last arrives
	due   int64 // when all of it is there

	// When these happen, which is before by what the reaction was when they were foreseen.
	// It changes, and what comes later must not happen before.
	arrives, delivers int64
}

// A stage is what happens to a message.
type stage uint8

const (
	leaves    stage = iota // its last byte leaves: the source is free
	requested              // the question for it reaches the peer
	arrives                // its first byte reaches the card
	delivers               // its last byte has: everybody hears of it
)

// happenLocked does what is due. It gives up the lock meanwhile where that calls the
// transport below.
func (n *nic) happenLocked(e timedEvent) {
	m := e.m
	m.events--
	switch e.what {
	case leaves:
		n.at.add(n.now() - e.at)
		n.endLocked(m, nil)
	case requested:
		n.answerLocked(m, e.at)
	case arrives:
		n.arriveLocked(m, e.at)
	case delivers:
		n.deliverLocked(m, e.at)
	}
	if m.events == 0 && !m.held && m.probe == nil {
		*m = packetTrain{next: n.spare}
		n.spare = m
	}
}

// answerLocked lets the data of a get leave the card of the peer.
func (n *nic) answerLocked(m *packetTrain, at int64) {
	if m.link.silent(at) {
		m.link.strand(m)
		return
	}
	start := m.link.peer.out.take(at, occupies(&n.net, m.size), m.size)
	w := &m.flow.here
	w.first = max(w.first, start+n.latencyLocked())
	n.flyLocked(m, w.first)
}

// flyLocked foresees that the first byte of a message arrives. Those who wait for
// messages take a while to notice, and so they are told before: here, since what has no
// bytes has no other event.
func (n *nic) flyLocked(m *packetTrain, first int64) {
	m.due = first
	at := first - m.reaction()
	if m.size > 0 {
		at -= at % n.grain // nobody hears of the first byte of several
	}
	if w := m.way(); w != nil {
		at = max(at, w.arrives)
		w.arrives = at
	}
	n.expectLocked(at, arrives, m)
}

// way is the direction of its flow in which a message travels, nil where order does not matter.
func (m *packetTrain) way() *way {
	switch {
	case m.flow == nil:
		return nil
	case m.back:
		return &m.flow.here
	}
	return &m.flow.there
}

// arriveLocked takes a message in, in the order of first bytes.
func (n *nic) arriveLocked(m *packetTrain, at int64) {
	due := m.due
	if m.link.silent(due) {
		m.link.strand(m)
		return
	}
	if m.size > 0 {
		card := m.link.peer
		if m.back {
			card = n.t.own
		}
		busy := occupies(&n.net, m.size)
		due = card.in.take(due, busy, m.size) + busy
	}
	w := m.way()
	if w != nil {
		w.due = max(w.due, due)
		due = w.due
	}
	if m.flagged || m.back || m.probe != nil {
		m.due = due
		at = max(at, due-m.reaction())
		if w != nil {
			at = max(at, w.delivers)
			w.delivers = at
		}
		n.expectLocked(at, delivers, m)
	}
}

// reaction is how long whoever waits for a message takes to notice it.
func (m *packetTrain) reaction() int64 {
	if m.back || m.probe != nil {
		return int64(m.link.t.own.reaction.Load())
	}
	return int64(m.link.peer.reaction.Load())
}

// deliverLocked makes known that a message is there.
func (n *nic) deliverLocked(m *packetTrain, at int64) {
	if p := m.probe; p != nil && p.round {
		p.round = false
		m.due += n.latencyLocked()
		n.expectLocked(m.due-m.reaction(), delivers, m)
		return
	}
	n.at.add(n.now() - at)
	card := m.link.peer
	if m.back || m.probe != nil {
		card = n.t.own
	}
	card.delivered.Store(uint64(m.due))
	if m.back {
		n.endLocked(m, nil)
		return
	}
	if p := m.probe; p != nil {
		p.end(m.link, nil)
		return
	}
	if m.flagged {
		n.mu.Unlock()
		err := m.notify()
		n.mu.Lock()
		if err != nil {
			m.queue.Fail(err)
		}
	}
}

// notify posts the notification of a message at the peer.
func (m *packetTrain) notify() error {
	w := m.target.window
	switch {
	case w == nil && m.link.late == nil:
		return m.link.inner.Notify(m.flow.inner, m.flag)
	case w == nil:
		return m.link.late.NotifyLate(m.flow.inner, m.flag, m.target.generation)
	case w.Live.Load() != w.Generation:
		return transport.ErrorOfWithdrawn(m.link.rank, m.flag.Segment)
	}
	m.flag.Post(w.Segment.Notifications())
	runtime.KeepAlive(w) // and with it the mapping
	return nil
}

// endLocked ends an operation that is held, later if the transport below is not as far, or one before it ends later.
func (n *nic) endLocked(m *packetTrain, err error) {
	if !m.held {
		return
	}
	if err == nil && (m.flow.slow > 0 || !m.flow.inner.Idle()) {
		m.flow.slow++
		n.t.slow.add(m)
		return
	}
	n.completeLocked(m, err)
}

// completeLocked is endLocked for an operation that has ended below too.
func (n *nic) completeLocked(m *packetTrain, err error) {
	m.held = false
	if m.back {
		m.endGetLocked(err)
	}
	m.queue.End(&m.op, err)
}

// endGetLocked posts the notification of a get that has ended, unless one before it has failed.
func (m *packetTrain) endGetLocked(err error) {
	f := m.flow
	f.gets--
	switch {
	case err != nil:
		if f.refused == nil {
			f.refused = make(map[*transport.Queue]bool)
		}
		f.refused[m.queue] = true
	case m.flagged && !(m.size == 0 && f.hasRefused(m.queue)):
		m.flag.Post(m.array)
	}
}

// end tells whoever waits for the probe.
func (p *probe) end(l *link, err error) {
	p.err = err
	p.done.Store(true)
	l.array.WakeSleepers()
}
