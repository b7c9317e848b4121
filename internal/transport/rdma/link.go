package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A link carries the operations of this rank on one other rank. All fields but t, peer,
// segments and resolved are guarded by Transport.mu.
type link struct {
	t        *Transport
	peer     remote.Peer // changes under Transport.mu
	segments remote.Descriptors[remoteSegment]

	resolved  atomic.Bool // address and secret are known
	resolving bool        // a goroutine looks them up
	fault     error       // why the last lookup failed, though the peer is not gone
	address   uint64      // of the peer on the fabric
	secret    uint64      // of the peer

	used        bool // something was sent to the peer
	contacted   bool // something came from the peer
	byeReceived bool // the peer has closed its transport
	byeAcked    bool // the peer knows that this rank closes
	first, last *op  // the backlog: operations that cannot be posted yet, in order
	listed      bool // in the list of links with a backlog
	unconfirmed int  // where writes are not ordered: writes that the peer has not confirmed

	reads, lastRead *op // reads that have not ended, in order
	requests        remote.Pending[request]
}

// A remoteSegment describes a segment of a peer, with the keys by which the network card
// reaches it.
type remoteSegment struct {
	remote.Descriptor
	id        segment.ID
	base, key uint64
	flagFirst uint64
	flags     uint64 // number of notifications that have flags

	open int  // guarded by Transport.mu; operations under way that use it
	dead bool // guarded by Transport.mu; the peer has withdrawn it
}

func newLink(t *Transport, r base.Rank) *link {
	l := &link{t: t, segments: make(remote.Descriptors[remoteSegment], t.cfg.IDs)}
	l.peer.Init(r, &t.closed)
	return l
}

// markLostAndFailLocked makes every operation on the peer end with err, now and later.
func (l *link) markLostAndFailLocked(err *base.RankError, reported bool) {
	l.peer.MarkLost(err, reported, l.t.cfg.Lost)
	l.t.failOperationsLocked(l)
}

// unreachableLocked marks the peer as lost because the fabric does not carry anything to
// it any more, and returns why the peer is gone. The operations under way end when the
// lock is given back, since the caller uses one of them.
func (l *link) unreachableLocked(cause error) error {
	if l.peer.Lost() == nil {
		if !l.t.closed.Load() {
			l.t.cfg.Log.Warn("gaspi: the connection with a rank broke", "rank", l.t.cfg.Rank, "peer", l.peer.Rank, "why", cause)
		}
		l.peer.MarkLost(&base.RankError{Rank: l.peer.Rank, Reason: "it cannot be reached: " + cause.Error()}, false, l.t.cfg.Lost)
		l.t.dying = append(l.t.dying, l)
	}
	return l.peer.Err()
}

// resolve blocks until the address of the peer is known.
func (l *link) resolve(ctx context.Context) error {
	if l.resolved.Load() {
		return nil
	}
	l.t.lock()
	l.startResolveLocked()
	l.t.unlock()
	var fault error
	err := l.t.waitFor(ctx, func() bool {
		if l.resolved.Load() || l.peer.Lost() != nil {
			return true
		}
		l.t.lock()
		defer l.t.unlock()
		fault = l.fault
		return fault != nil
	})
	if gone := l.peer.Err(); gone != nil {
		return gone
	}
	if err == nil && !l.resolved.Load() {
		err = fault
	}
	return err
}

// startResolveLocked starts to look up the address of the peer, unless that is being done.
func (l *link) startResolveLocked() {
	if l.resolved.Load() || l.resolving || l.peer.Err() != nil {
		return
	}
	l.resolving, l.fault = true, nil
	l.t.work.Go(l.lookUp)
}

// lookUp looks up the address of the peer.
func (l *link) lookUp() {
	t := l.t
	text, err := t.cfg.Lookup(t.ctx, l.peer.Rank)
	var at address
	if err == nil {
		at, err = parseAddress(text)
	}
	if err == nil && at.provider != t.traits.provider {
		err = fmt.Errorf("%w: it uses provider %s, this rank %s: give all ranks the same --rdma-provider", base.ErrMismatch, at.provider, t.traits.provider)
	}
	t.lock()
	defer t.unlock()
	l.resolving = false
	if err == nil && t.ctx.Err() == nil {
		l.address, err = t.fab.insert(at.name)
	}
	gone, isGone := errors.AsType[*base.RankError](err)
	switch {
	case t.ctx.Err() != nil:
		return
	case isGone:
		l.dropLocked(gone)
		l.markLostAndFailLocked(gone, false)
	case err != nil:
		l.fault = fmt.Errorf("address of rank %d: %w", l.peer.Rank, err)
		l.dropLocked(l.fault)
	default:
		l.secret = at.secret
		l.resolved.Store(true)
		t.retryLocked()
	}
	t.array.Wake()
}

// segment returns the descriptor of the peer's segment id. On first use it requests it
// and blocks.
func (l *link) segment(id segment.ID) (*remoteSegment, error) {
	if r, err := l.known(id); r != nil || err != nil {
		return r, err
	}
	return l.attach(context.Background(), new(transport.Grace), id)
}

// known returns the descriptor of the peer's segment id, or nil if it must be requested.
func (l *link) known(id segment.ID) (*remoteSegment, error) {
	if err := l.peer.Err(); err != nil {
		return nil, err
	}
	return l.segments.Get(id), nil
}

func (l *link) attach(ctx context.Context, grace *transport.Grace, id segment.ID) (*remoteSegment, error) {
	if err := l.segments.Check(id); err != nil {
		return nil, err
	}
	if err := l.resolve(ctx); err != nil {
		return nil, err
	}
	r := new(request)
	if err := l.send(r, message{kind: kindAttach, segment: uint32(id)}); err != nil {
		return nil, err
	}
	if err := r.AwaitGrace(ctx, grace, l.t.array, func() bool { return l.cancel(r) }); err != nil {
		return nil, err
	}
	if r.segment == nil {
		return nil, fmt.Errorf("rank %d: its reply about segment %d is invalid", l.peer.Rank, id)
	}
	return r.segment, nil
}

// learnLocked stores the descriptor that m contains. It returns nil if there can be no
// such segment.
func (l *link) learnLocked(m *message) *remoteSegment {
	r := &remoteSegment{
		Descriptor: remote.Descriptor{Generation: m.generation, Size: m.a, Notifications: uint32(m.b)},
		id:         segment.ID(m.segment), base: m.c, key: m.d,
		flagFirst: m.b >> 32, flags: uint64(m.pages) * flagPage,
	}
	if !l.segments.Set(r.id, r) {
		return nil
	}
	return r
}

// packed returns f as the data of a write, and whether it fits.
func (c *mode) packed(r *remoteSegment, f transport.Flag) (uint64, bool) {
	if uint64(f.ID) >= r.flags {
		return 0, false
	}
	return c.pack(r.flagFirst+uint64(f.ID), f)
}
