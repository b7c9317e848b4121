package tcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A link carries the operations of this rank on one other rank.
type link struct {
	t        *Transport
	peer     remote.Peer // changes under mu
	segments remote.Descriptors[remote.Descriptor]
	channels []channel     // index is the number of the channel
	array    *notify.Array // wakes the calls that block; it has no notification that anybody posts

	mu sync.Mutex
}

func newLink(t *Transport, r base.Rank) *link {
	l := &link{
		t:        t,
		segments: make(remote.Descriptors[remote.Descriptor], t.cfg.IDs),
		channels: make([]channel, t.cfg.Connections),
		array:    notify.NewArray(make([]byte, notify.Bytes(1)), 1, t.cfg.WaitPolicy),
	}
	l.peer.Init(r, &t.closed)
	if t.closed.Load() {
		l.array.Close()
	}
	return l
}

// markLost ends all operations on the peer with err, or with the error that holds
// instead: see remote.Peer.MarkLost. reported says that err comes from the failure
// detector and not from a connection.
func (l *link) markLost(err *base.RankError, reported bool) {
	l.mu.Lock()
	err = l.peer.MarkLost(err, reported, l.t.cfg.Lost)
	l.mu.Unlock()
	for i := range l.channels {
		if c := l.channels[i].conn.Load(); c != nil {
			c.end(err)
		}
	}
	l.array.Wake()
}

var errCut = errors.New("it was closed at the other end")

// fail ends a connection that cannot be used any more because of cause, and marks its
// peer as lost. If the peer has sent kindBye it has left: its other connections stay
// open until all that it has sent was received.
func (t *Transport) fail(c *conn, cause error) {
	l := c.link
	if t.closed.Load() { // peers close too
		c.end(base.ErrClosed)
		return
	}
	if !c.byeReceived.Load() {
		if errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF) {
			cause = errCut
		}
		if l.peer.Err() == nil {
			t.cfg.Log.Warn("gaspi: the connection with a rank broke", "rank", t.cfg.Rank, "peer", l.peer.Rank, "lane", c.key%t.cfg.Connections, "why", cause)
		}
		l.markLost(&base.RankError{Rank: l.peer.Rank, Reason: "its connection broke: " + cause.Error()}, false)
		return
	}
	l.mu.Lock()
	err, _ := l.peer.MarkLeft()
	l.mu.Unlock()
	c.end(err)
	l.array.Wake()
}

// await blocks until look reports true, ctx ends, or the transport is closed.
func (l *link) await(ctx context.Context, look func() bool) error {
	return l.array.WaitFunc(ctx, look, nil, nil)
}

// dropDescriptor removes the descriptor of a segment if it has that generation.
func (l *link) dropDescriptor(id segment.ID, generation uint64) {
	if d := l.segments.Get(id); d != nil && d.Generation == generation {
		l.segments.Drop(id, d)
	}
}

// descriptor returns the descriptor of the peer's segment id. On first use it requests
// it through channel n and blocks.
func (l *link) descriptor(id segment.ID, n uint32) (*remote.Descriptor, error) {
	if d, err := l.known(id); d != nil || err != nil {
		return d, err
	}
	return l.attach(context.Background(), new(transport.Grace), id, n)
}

// known returns the descriptor of the peer's segment id, or nil if it must be
// requested.
func (l *link) known(id segment.ID) (*remote.Descriptor, error) {
	if err := l.peer.Err(); err != nil {
		return nil, err
	}
	return l.segments.Get(id), nil
}

func (l *link) attach(ctx context.Context, grace *transport.Grace, id segment.ID, n uint32) (*remote.Descriptor, error) {
	if err := l.segments.Check(id); err != nil {
		return nil, err
	}
	c, err := l.conn(ctx, n)
	if err != nil {
		return nil, err
	}
	r := new(request)
	if err := c.send(r, &frame{kind: kindAttach, segment: uint32(id)}); err != nil {
		return nil, err
	}
	if err := r.AwaitGrace(ctx, grace, l.array, func() bool { return c.cancel(r) }); err != nil {
		return nil, err
	}
	return r.segment, nil
}

// Hears reports whether data that rank r has sent may still arrive: there is a connection
// on which the peer has not sent kindBye.
func (t *Transport) Hears(r base.Rank) bool {
	if r == t.cfg.Rank || r < 0 || int(r) >= t.cfg.Size {
		return false
	}
	for n := range t.cfg.Connections {
		if c := t.conns[int(r)*t.cfg.Connections+n].Load(); c != nil && c.hears() {
			return true
		}
	}
	return false
}

func (c *conn) hears() bool {
	if c.byeReceived.Load() {
		return false
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	return !c.in.ended
}
