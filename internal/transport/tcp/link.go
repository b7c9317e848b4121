package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A link is the way to one other rank.
type link struct {
	t       *Transport
	rank    base.Rank
	remotes []atomic.Pointer[remote] // index is the segment id; nil where nothing is known
	lanes   []lane                   // index is the number of the lane
	board   *notify.Board            // what calls that block wait on; nobody posts to it

	lost atomic.Pointer[base.RankError]

	mu   sync.Mutex
	told bool // guarded by mu; lost is what somebody else said
}

// A remote is what a peer's segment is like.
type remote struct {
	generation    uint64
	size          uint64 // bytes
	notifications uint32
}

func newLink(t *Transport, r base.Rank) *link {
	l := &link{
		t: t, rank: r,
		remotes: make([]atomic.Pointer[remote], t.cfg.IDs),
		lanes:   make([]lane, t.cfg.Lanes),
		board:   notify.NewBoard(make([]byte, notify.Bytes(1)), 1, t.cfg.Waiting),
	}
	if t.closed.Load() {
		l.board.Close()
	}
	return l
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

// lose ends all that needs the peer with err. What somebody else knows (told)
// counts more than what the connections show, and the first of that most.
func (l *link) lose(err *base.RankError, told bool) {
	l.mu.Lock()
	first := l.lost.Load() == nil
	if lost := l.t.cfg.Lost; first && !told && lost != nil && !l.t.closed.Load() {
		lost(err)
	}
	if first || told && !l.told {
		l.lost.Store(err)
		l.told = told
	} else {
		err = l.lost.Load()
	}
	l.mu.Unlock()
	for i := range l.lanes {
		if c := l.lanes[i].conn.Load(); c != nil {
			c.end(err)
		}
	}
	l.board.Wake()
}

var errCut = errors.New("it was closed at the other end")

// broken is what becomes of a connection that is of no more use. A peer that said
// goodbye is gone, but has not broken: what it sent on other connections counts.
func (t *Transport) broken(c *conn, cause error) {
	l := c.link
	if t.closed.Load() { // peers take leave too
		c.end(base.ErrClosed)
		return
	}
	if !c.left.Load() {
		if errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) {
			cause = errCut
		}
		if l.gone() == nil {
			t.cfg.Log.Warn("gaspi: the connection with a rank broke", "rank", t.cfg.Rank, "peer", l.rank, "lane", c.key%t.cfg.Lanes, "why", cause)
		}
		l.lose(&base.RankError{Rank: l.rank, Reason: "its connection broke: " + cause.Error()}, false)
		return
	}
	l.mu.Lock()
	err := l.lost.Load()
	if err == nil {
		err = &base.RankError{Rank: l.rank, Reason: "it has closed its connections"}
		l.lost.Store(err)
	}
	l.mu.Unlock()
	c.end(err)
	l.board.Wake()
}

// await blocks until look reports true, ctx ends, or the transport is closed.
func (l *link) await(ctx context.Context, look func() bool) error {
	return l.board.WaitFunc(ctx, look, nil, nil)
}

// learn notes what a segment is like.
func (l *link) learn(f *frame) error {
	if uint64(f.segment) >= uint64(len(l.remotes)) {
		return errNoAsker
	}
	l.remotes[f.segment].Store(&remote{generation: f.generation, size: f.offset, notifications: uint32(f.a)})
	return nil
}

// forget drops what is known of a segment of that generation.
func (l *link) forget(id segment.ID, generation uint64) {
	if uint64(id) >= uint64(len(l.remotes)) {
		return
	}
	slot := &l.remotes[id]
	if r := slot.Load(); r != nil && r.generation == generation {
		slot.CompareAndSwap(r, nil)
	}
}

// remote is the peer's segment id, asked for if need be through the connection of
// lane n.
func (l *link) remote(id segment.ID, n uint32) (*remote, error) {
	if r, err := l.known(id); r != nil || err != nil {
		return r, err
	}
	return l.attach(context.Background(), new(transport.Grace), id, n)
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

func (l *link) attach(ctx context.Context, grace *transport.Grace, id segment.ID, n uint32) (*remote, error) {
	if uint64(id) >= uint64(len(l.remotes)) {
		return nil, fmt.Errorf("%w: id %d; ids go from 0 to %d", base.ErrNoSegment, id, len(l.remotes)-1)
	}
	c, err := l.conn(ctx, n)
	if err != nil {
		return nil, err
	}
	r := new(request)
	if err := c.ask(r, &frame{kind: kindAttach, segment: uint32(id)}); err != nil {
		return nil, err
	}
	if err := c.answered(ctx, grace, r); err != nil {
		return nil, err
	}
	f := &r.answer
	return &remote{generation: f.generation, size: f.offset, notifications: uint32(f.a)}, nil
}

// check returns an error unless [offset, offset+n) lies in the segment.
func (r *remote) check(offset, n uint64) error {
	if offset > r.size || n > r.size-offset {
		return fmt.Errorf("%w: bytes [%d:+%d] of %d", base.ErrOutOfRange, offset, n, r.size)
	}
	return nil
}

// checkNote returns an error unless the notification can be posted there.
func (r *remote) checkNote(f transport.Flag) error {
	if f.Value == 0 {
		return base.ErrZeroValue
	}
	if uint32(f.ID) >= r.notifications {
		return fmt.Errorf("%w: id %d, but the segment has %d", base.ErrNoNotification, f.ID, r.notifications)
	}
	return nil
}
