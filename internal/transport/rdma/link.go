package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A link is the way to one other rank. Fields that are no atomics are guarded by
// Transport.mu.
type link struct {
	t       *Transport
	rank    base.Rank
	remotes []atomic.Pointer[remote] // index is the segment id; nil where nothing is known
	lost    atomic.Pointer[base.RankError]
	told    bool // lost is what somebody else said

	met    atomic.Bool // peer and secret are known
	meets  bool        // a goroutine is finding them out
	fault  error       // why it could not, though the peer is not gone
	peer   uint64      // on the fabric
	secret uint64      // of the peer

	used        bool // something was sent to the peer
	heard       bool // something came from it
	left        bool // it has said that it closes
	parted      bool // it has heard that this rank closes
	first, last *op  // the backlog: what cannot go out yet, in order
	listed      bool // in the list of links with a backlog
	unconfirmed int  // where writes are not ordered: those whose arrival is not known

	gets, newest *op // reads that have not ended, in order
	asked        questions
}

// A remote is what a peer's segment is like.
type remote struct {
	id            segment.ID
	generation    uint64
	size          uint64 // bytes
	notifications uint32
	base, key     uint64
	flagFirst     uint64
	flags         uint64 // so many notifications have flags

	open int  // guarded by Transport.mu; operations under way with it
	dead bool // guarded by Transport.mu; the peer has withdrawn it
}

func newLink(t *Transport, r base.Rank) *link {
	return &link{t: t, rank: r, remotes: make([]atomic.Pointer[remote], t.cfg.IDs)}
}

// gone is why nothing can be done with the peer any more, or nil.
func (l *link) gone() error {
	if l.t.closed.Load() {
		return base.ErrClosed
	}
	if err := l.lost.Load(); err != nil {
		return err
	}
	return nil
}

// loseLocked ends all that needs the peer with err.
func (l *link) loseLocked(err *base.RankError, told bool) {
	l.strikeLocked(err, told)
	l.t.abandonLocked(l)
}

// strikeLocked makes every later operation end with err. What somebody else knows
// (told) counts more than what the fabric shows, and the first of that most.
func (l *link) strikeLocked(err *base.RankError, told bool) {
	t := l.t
	first := l.lost.Load() == nil
	if first && !told && t.cfg.Lost != nil && !t.closed.Load() {
		t.cfg.Lost(err)
	}
	if first || told && !l.told {
		l.lost.Store(err)
		l.told = told
	}
}

// unreachableLocked is what becomes of a link when the fabric refuses to carry
// anything to the peer. It returns why. The operations under way end when the lock is
// given back, since the caller has one of them in hand.
func (l *link) unreachableLocked(cause error) error {
	if l.lost.Load() == nil {
		if !l.t.closed.Load() {
			l.t.cfg.Log.Warn("gaspi: the connection with a rank broke", "rank", l.t.cfg.Rank, "peer", l.rank, "why", cause)
		}
		l.strikeLocked(&base.RankError{Rank: l.rank, Reason: "it cannot be reached: " + cause.Error()}, false)
		l.t.dying = append(l.t.dying, l)
	}
	return l.gone()
}

// meet makes sure that it is known where the peer is.
func (l *link) meet(ctx context.Context) error {
	if l.met.Load() {
		return nil
	}
	l.t.lock()
	l.setOutLocked()
	l.t.unlock()
	var fault error
	err := l.t.waitFor(ctx, func() bool {
		if l.met.Load() || l.lost.Load() != nil {
			return true
		}
		l.t.lock()
		defer l.t.unlock()
		fault = l.fault
		return fault != nil
	})
	if gone := l.gone(); gone != nil {
		return gone
	}
	if err == nil && !l.met.Load() {
		err = fault
	}
	return err
}

// setOutLocked begins to find out where the peer is, unless it is being done.
func (l *link) setOutLocked() {
	if l.met.Load() || l.meets || l.gone() != nil {
		return
	}
	l.meets, l.fault = true, nil
	l.t.work.Go(l.find)
}

// find finds out where the peer is.
func (l *link) find() {
	t := l.t
	text, err := t.cfg.Lookup(t.ctx, l.rank)
	var at address
	if err == nil {
		at, err = parseAddress(text)
	}
	if err == nil && at.provider != t.traits.provider {
		err = fmt.Errorf("%w: it uses provider %s, this rank %s: give all ranks the same --rdma-provider", base.ErrMismatch, at.provider, t.traits.provider)
	}
	t.lock()
	defer t.unlock()
	l.meets = false
	if err == nil && t.ctx.Err() == nil {
		l.peer, err = t.fab.insert(at.name)
	}
	gone, isGone := errors.AsType[*base.RankError](err)
	switch {
	case t.ctx.Err() != nil:
		return
	case isGone:
		l.dropLocked(gone)
		l.loseLocked(gone, false)
	case err != nil:
		l.fault = fmt.Errorf("address of rank %d: %w", l.rank, err)
		l.dropLocked(l.fault)
	default:
		l.secret = at.secret
		l.met.Store(true)
		t.retryLocked()
	}
	t.board.Wake()
}

// remote is the peer's segment id, asked for if need be.
func (l *link) remote(id segment.ID) (*remote, error) {
	if r, err := l.known(id); r != nil || err != nil {
		return r, err
	}
	return l.attach(context.Background(), new(transport.Grace), id)
}

// known is the peer's segment id if it need not be asked for, else nil.
func (l *link) known(id segment.ID) (*remote, error) {
	if err := l.gone(); err != nil {
		return nil, err
	}
	if uint64(id) < uint64(len(l.remotes)) {
		return l.remotes[id].Load(), nil
	}
	return nil, nil
}

func (l *link) attach(ctx context.Context, grace *transport.Grace, id segment.ID) (*remote, error) {
	if uint64(id) >= uint64(len(l.remotes)) {
		return nil, fmt.Errorf("%w: id %d; ids go from 0 to %d", base.ErrNoSegment, id, len(l.remotes)-1)
	}
	if err := l.meet(ctx); err != nil {
		return nil, err
	}
	q := new(question)
	if err := l.ask(q, message{kind: kindAttach, segment: uint32(id)}); err != nil {
		return nil, err
	}
	if err := l.late(ctx, grace, q); err != nil {
		l.takeBack(q)
		return nil, err
	}
	if q.err != nil {
		return nil, q.err
	}
	if q.remote == nil {
		return nil, fmt.Errorf("rank %d answers nonsense about segment %d", l.rank, id)
	}
	return q.remote, nil
}

// learnLocked notes what a segment is like.
func (l *link) learnLocked(m *message) *remote {
	if uint64(m.segment) >= uint64(len(l.remotes)) {
		return nil
	}
	r := &remote{
		id: segment.ID(m.segment), generation: m.generation, size: m.a, notifications: uint32(m.b), base: m.c, key: m.d,
		flagFirst: m.b >> 32, flags: uint64(m.pages) * flagPage,
	}
	l.remotes[m.segment].Store(r)
	return r
}

// check returns an error unless [offset, offset+n) lies in the segment.
func (r *remote) check(offset, n uint64) error {
	if offset > r.size || n > r.size-offset {
		return fmt.Errorf("%w: bytes [%d:+%d] of %d", base.ErrOutOfRange, offset, n, r.size)
	}
	return nil
}

// checkFlag returns an error unless the notification can be posted there.
func (r *remote) checkFlag(f transport.Flag) error {
	if f.Value == 0 {
		return base.ErrZeroValue
	}
	if uint32(f.ID) >= r.notifications {
		return fmt.Errorf("%w: id %d, but the segment has %d", base.ErrNoNotification, f.ID, r.notifications)
	}
	return nil
}

// packed is f as the data of a write, if it fits.
func (c *course) packed(r *remote, f transport.Flag) (uint64, bool) {
	if uint64(f.ID) >= r.flags {
		return 0, false
	}
	return c.pack(r.flagFirst+uint64(f.ID), f)
}
