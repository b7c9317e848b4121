package emulate

import (
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/notify"
)

// A reactor watches how long this rank takes from the moment something is due until
// it has got up for it. Deliveries come so much sooner: what an emulated latency means
// is when a rank goes on, as it is with real networks, whose latency contains
// what the host adds to it.
type reactor struct {
	notify.Parker
	t *Transport
}

// Parker is how the rank must sleep for the transport to know how long it takes to
// wake up: below it is how it slept before.
func (t *Transport) Parker(below notify.Parker) notify.Parker { return &reactor{below, t} }

// Park implements notify.Parker.
func (r *reactor) Park(word *atomic.Uint32, val uint32, limit time.Duration) {
	own := r.t.own
	own.delivered.Store(0) // what came before it slept says nothing
	r.Parker.Park(word, val, limit)
	due := int64(own.delivered.Swap(0))
	if due == 0 {
		return
	}
	late := r.t.nic.now() - due
	r.t.nic.noticed(late)
	own.reaction.Store(uint64(adapt(int64(own.reaction.Load()), late, r.t.mostReaction())))
}

// mostReaction bounds by how much deliveries come before their time: never by more than
// a half of the latency, nor by more than a host takes that is not overloaded.
func (t *Transport) mostReaction() int64 { return min(int64(t.cfg.Network.Latency)/2, 40_000) }

// noticed counts how late the rank noticed what was delivered.
func (n *nic) noticed(late int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.up.add(late)
}
