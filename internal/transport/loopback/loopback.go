// Package loopback connects ranks that are goroutines of one process, on heap
// memory. It is the reference implementation of the transport contract and the
// target of the race detector, which understands heap memory only.
package loopback

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A Hub is what the ranks of one job share.
type Hub struct {
	size int
	ids  int // segment ids go from 0 to ids-1

	mu     sync.Mutex
	shelfs []*shelf // guarded by mu; index is the rank; nil until Join
}

// NewHub makes a hub for size ranks with segment ids below ids.
func NewHub(size, ids int) *Hub {
	return &Hub{size: size, ids: ids, shelfs: make([]*shelf, size)}
}

// shelf holds the segments that one rank exposes.
type shelf struct {
	mu    sync.Mutex
	slots map[segment.ID]*exposed // guarded by mu
	last  uint64                  // guarded by mu; generation given last
}

type exposed struct {
	seg     *segment.Segment
	live    atomic.Uint64 // the generation, 0 once withdrawn
	gen     uint64
	granted map[base.Rank]bool
}

// Transport is one rank's side of a hub.
type Transport struct {
	hub   *Hub
	rank  base.Rank
	own   *shelf
	links []*transport.Direct // index is the rank
}

var _ transport.Transport = (*Transport)(nil)

// Join makes the transport of rank r. Each rank joins once; links to a rank may
// be used once it has joined.
func (h *Hub) Join(r base.Rank) *Transport {
	t := &Transport{hub: h, rank: r, own: &shelf{slots: make(map[segment.ID]*exposed)}}
	for peer := range h.size {
		t.links = append(t.links, transport.NewDirect(base.Rank(peer), h.ids, t.opener(base.Rank(peer)), nobodyAsks))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shelfs[r] = t.own
	return t
}

// nobodyAsks is the ping of a rank that is not known to be lost: a goroutine
// cannot vanish unnoticed.
func nobodyAsks(ctx context.Context) error { return ctx.Err() }

// Name implements transport.Transport.
func (t *Transport) Name() string { return "loopback" }

// Link implements transport.Transport.
func (t *Transport) Link(r base.Rank) (transport.Link, error) {
	if r < 0 || int(r) >= t.hub.size {
		return nil, fmt.Errorf("%w: %d", base.ErrBadRank, r)
	}
	return t.links[r], nil
}

// opener finds the segments of one peer.
func (t *Transport) opener(peer base.Rank) func(segment.ID) (*transport.Window, error) {
	return func(id segment.ID) (*transport.Window, error) {
		t.hub.mu.Lock()
		shelf := t.hub.shelfs[peer]
		t.hub.mu.Unlock()
		if shelf == nil {
			return nil, fmt.Errorf("%w: rank %d has not joined yet", base.ErrNoSegment, peer)
		}
		shelf.mu.Lock()
		defer shelf.mu.Unlock()
		x := shelf.slots[id]
		if x == nil || !x.granted[t.rank] {
			return nil, fmt.Errorf("%w: rank %d has not registered a segment %d with rank %d",
				base.ErrNoSegment, peer, id, t.rank)
		}
		return &transport.Window{Segment: x.seg, Live: &x.live, Generation: x.gen}, nil
	}
}

// Expose implements transport.Transport.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error {
	t.own.mu.Lock()
	defer t.own.mu.Unlock()
	if t.own.slots[id] != nil {
		return fmt.Errorf("segment %d is in use", id)
	}
	t.own.last++
	x := &exposed{seg: s, gen: t.own.last, granted: make(map[base.Rank]bool)}
	x.live.Store(x.gen)
	t.own.slots[id] = x
	return nil
}

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error {
	t.own.mu.Lock()
	defer t.own.mu.Unlock()
	x := t.own.slots[id]
	if x == nil {
		return fmt.Errorf("%w: id %d", base.ErrNoSegment, id)
	}
	x.granted[r] = true
	return nil
}

// Withdraw implements transport.Transport.
func (t *Transport) Withdraw(id segment.ID) error {
	t.own.mu.Lock()
	defer t.own.mu.Unlock()
	x := t.own.slots[id]
	if x == nil {
		return fmt.Errorf("%w: id %d", base.ErrNoSegment, id)
	}
	x.live.Store(0)
	delete(t.own.slots, id)
	return nil
}

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) { t.links[err.Rank].Lose(err) }

// Close implements transport.Transport. The rank's segments stay reachable, as
// the memory of a process that has left does.
func (t *Transport) Close() error { return nil }
