// Package loopback connects ranks that are goroutines of one process, on heap
// memory. It is the reference implementation of the transport contract and the
// target of the race detector, which understands heap memory only.
package loopback

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Hub connects the ranks of one job.
type Hub struct {
	size int
	ids  int // segment ids go from 0 to ids-1

	mu    sync.Mutex
	ranks []*Transport // guarded by mu; index is the rank; nil until Join
}

// A registry is the registration table of one rank. This transport keeps no data of its
// own with a region.
type registry = remote.Registry[struct{}]

// NewHub makes a hub for size ranks with segment ids below ids.
func NewHub(size, ids int) *Hub {
	return &Hub{size: size, ids: ids, ranks: make([]*Transport, size)}
}

// Transport is one rank's side of a hub.
type Transport struct {
	hub   *Hub
	rank  base.Rank
	own   registry
	links remote.LinkTable[transport.Direct]
	lost  []atomic.Pointer[base.RankError] // index is the rank

	closed atomic.Bool // before the segments are withdrawn
}

var _ transport.Transport = (*Transport)(nil)

// Join makes the transport of rank r. Each rank joins once; links to a rank may
// be used once it has joined.
func (h *Hub) Join(r base.Rank) *Transport {
	t := &Transport{hub: h, rank: r, lost: make([]atomic.Pointer[base.RankError], h.size)}
	t.own.Init(r, h.size, h.ids)
	t.links.Init(h.size, func(peer base.Rank) *transport.Direct {
		return transport.NewDirect(peer, h.ids, t.opener(peer), ping)
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ranks[r] = t
	return t
}

// ping is the ping of a rank that is not known to be lost: a goroutine cannot vanish
// unnoticed.
func ping(ctx context.Context) error { return ctx.Err() }

// Name implements transport.Transport.
func (t *Transport) Name() string { return "loopback" }

// Link implements transport.Transport.
func (t *Transport) Link(r base.Rank) (transport.Link, error) {
	if r < 0 || int(r) >= t.hub.size {
		return nil, fmt.Errorf("%w: %d", base.ErrBadRank, r)
	}
	l := t.links.To(r)
	if lost := t.lost[r].Load(); lost != nil { // perhaps before there was a link
		l.Lose(lost)
	}
	return l, nil
}

// opener returns the function that opens a window on a segment of a peer.
func (t *Transport) opener(peer base.Rank) func(segment.ID) (*transport.Window, error) {
	return func(id segment.ID) (*transport.Window, error) {
		t.hub.mu.Lock()
		owner := t.hub.ranks[peer]
		t.hub.mu.Unlock()
		if owner == nil {
			return nil, fmt.Errorf("%w: rank %d has not joined yet", base.ErrNoSegment, peer)
		}
		w, err := owner.own.Window(id, t.rank)
		if err != nil && owner.closed.Load() {
			return nil, transport.ErrorOfLeaver(peer)
		}
		return w, err
	}
}

// Expose implements transport.Transport.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error { return t.own.Expose(id, s, nil) }

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error { return t.own.Grant(id, r) }

// Withdraw implements transport.Transport.
func (t *Transport) Withdraw(id segment.ID) error {
	_, err := t.own.Withdraw(id, nil)
	return err
}

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	t.lost[err.Rank].CompareAndSwap(nil, err)
	if l := t.links.Get(err.Rank); l != nil {
		l.Lose(err)
	}
}

// Close implements transport.Transport.
func (t *Transport) Close() error {
	t.closed.Store(true)
	for id := range segment.ID(t.hub.ids) {
		if t.own.At(id) != nil {
			_ = t.Withdraw(id) // it can only be withdrawn already
		}
	}
	return nil
}
