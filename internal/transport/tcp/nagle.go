package tcp

import (
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
)

// This file is hot. A short message that is sent by itself costs the sender 4 us, most of it below the
// socket, and one that is sent with others less than 1. So a connection on which messages are posted
// in a row, with no Poll in between, has Nagle's algorithm: the system sends at once if the peer has
// acknowledged everything, and else gathers until it has. Poll ends that, and so do all other frames.
//
// Gathered messages must not wait for an acknowledgement that the peer's system delays, 40 ms and
// more. So each of them, and the one before, has flagAck: a rank that reads it has its system
// acknowledge at once. A peer that does not read yet does not miss them.

const (
	// aloneMost is how many messages in a row are sent each by itself: programs that send few and
	// then compute are not to wait for the peer.
	aloneMost = 2
	// gatherMost is the longest payload of a message that is sent with others, through a network.
	gatherMost = 8 << 10
	// gatherNear is that on one host, where a packet has 64 KiB and costs nearly as much if it has less: two fit
	// into one. Streams of 16 KiB take 0.65 to 0.8 of the time.
	gatherNear = 31 << 10
	// gatherAlone is that where ranks do not share cores either: readers have time to acknowledge, and 32 KiB take
	// 0.9 of the time. Where they share cores, reductions of 32 KiB take 1.05 to 1.1.
	gatherAlone = 48 << 10
)

// gathering is the state of an outbox, guarded by its mu.
type gathering struct {
	most   uint64 // payload of a message that is sent with others
	polls  uint32 // when the last message was posted
	posts  int    // since that count of polls
	on     bool   // Nagle's algorithm is
	listed bool   // in gatherings
}

// gatherings are the connections that may have Nagle's algorithm.
type gatherings struct {
	count atomic.Int32 // of all; written under mu
	mu    sync.Mutex   // taken after that of an outbox
	all   []*conn
}

// gatheredMost returns the longest payload of a message that is sent with others, to a peer on this host or elsewhere.
func (t *Transport) gatheredMost(near bool) uint64 {
	switch {
	case !near:
		return gatherMost
	case t.cfg.WaitPolicy.Spin == 0:
		return gatherNear
	default:
		return gatherAlone
	}
}

// joinLocked reports whether a message of so many bytes, which is posted now, may be sent with later ones.
func (o *outbox) joinLocked(bytes uint64) bool {
	g := &o.gather
	if polls := o.c.t.progress.Polls(); polls != g.polls || bytes > g.most || o.first != nil || o.c.secure != nil {
		g.polls, g.posts = polls, 0
	}
	if bytes > g.most {
		return false
	}
	g.posts++
	return g.posts > aloneMost
}

// gatherLaterLocked has messages gathered from now on: one that has flagAck was sent.
func (o *outbox) gatherLaterLocked() {
	g := &o.gather
	if g.on || o.first != nil || o.c.secure != nil {
		return
	}
	g.on = true
	socket.Delay(o.c.fd, true)
	if g.listed {
		return
	}
	g.listed = true
	all := &o.c.t.progress.gatherings
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all = append(all.all, o.c)
	all.count.Store(int32(len(all.all)))
}

// separateLocked sends what was gathered, and later messages each by itself.
func (o *outbox) separateLocked() {
	if o.gather.on {
		o.gather.on = false
		socket.Delay(o.c.fd, false)
	}
}

// separate sends what was gathered on all connections.
func (a *gatherings) separate() {
	if a.count.Load() == 0 {
		return
	}
	for {
		a.mu.Lock()
		last := len(a.all) - 1
		if last < 0 {
			a.mu.Unlock()
			return
		}
		c := a.all[last]
		a.all[last] = nil
		a.all = a.all[:last]
		a.count.Store(int32(last))
		a.mu.Unlock()
		o := &c.out
		o.mu.Lock()
		o.gather.listed = false
		if o.ended == nil {
			o.separateLocked()
		}
		o.mu.Unlock()
	}
}

// acknowledgeLocked has the system acknowledge what was read, if the peer may be waiting for that.
func (c *conn) acknowledgeLocked() {
	if c.in.urgent && !c.in.ended {
		socket.AcknowledgeNow(c.fd)
	}
	c.in.urgent = false
}
