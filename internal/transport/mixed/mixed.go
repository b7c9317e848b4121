// Package mixed is a transport of two: ranks that share this rank's host are
// reached by the near one, all others by the far one. Which it is for a peer is
// decided once, when the peer is first used.
package mixed

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Transport is one rank's side. It owns the two that it is made of.
type Transport struct {
	near, far transport.Transport
	isNear    func(ctx context.Context, r base.Rank) (bool, error)

	mu   sync.Mutex
	ways map[base.Rank]transport.Transport // guarded by mu; of ranks that were used
}

var _ transport.Transport = (*Transport)(nil)

// New makes a transport of near, for ranks of this host, and far. isNear says
// whether a rank is on this host; it may block until that rank has said so, and
// fails if it is gone before it has.
func New(near, far transport.Transport, isNear func(ctx context.Context, r base.Rank) (bool, error)) *Transport {
	return &Transport{near: near, far: far, isNear: isNear, ways: make(map[base.Rank]transport.Transport)}
}

// Name implements transport.Transport.
func (t *Transport) Name() string { return t.near.Name() + "+" + t.far.Name() }

// Via is the transport that connects this rank with r.
func (t *Transport) Via(r base.Rank) (transport.Transport, error) {
	t.mu.Lock()
	way := t.ways[r]
	t.mu.Unlock()
	if way != nil {
		return way, nil
	}
	near, err := t.isNear(context.Background(), r)
	if err != nil {
		return nil, fmt.Errorf("where rank %d is: %w", r, err)
	}
	way = t.far
	if near {
		way = t.near
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ways[r] = way
	return way, nil
}

// Link implements transport.Transport. It fails for a rank that was gone before
// anybody could know where it was.
func (t *Transport) Link(r base.Rank) (transport.Link, error) {
	way, err := t.Via(r)
	if err != nil {
		return nil, err
	}
	return way.Link(r)
}

// Expose implements transport.Transport.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error {
	if err := t.near.Expose(id, s); err != nil {
		return err
	}
	if err := t.far.Expose(id, s); err != nil {
		return errors.Join(err, t.near.Withdraw(id))
	}
	return nil
}

// Grant implements transport.Transport. Both sides get it: where the rank is need
// not be known yet.
func (t *Transport) Grant(id segment.ID, r base.Rank) error {
	return errors.Join(t.near.Grant(id, r), t.far.Grant(id, r))
}

// Withdraw implements transport.Transport.
func (t *Transport) Withdraw(id segment.ID) error {
	return errors.Join(t.near.Withdraw(id), t.far.Withdraw(id))
}

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	t.near.Lose(err)
	t.far.Lose(err)
}

// Close implements transport.Transport.
func (t *Transport) Close() error { return errors.Join(t.near.Close(), t.far.Close()) }

// Hears reports whether something that rank r has sent may still arrive.
func (t *Transport) Hears(r base.Rank) bool { return hears(t.near, r) || hears(t.far, r) }

func hears(t transport.Transport, r base.Rank) bool {
	who, ok := t.(interface{ Hears(base.Rank) bool })
	return ok && who.Hears(r)
}

// Measure implements transport.Measurer for those below that do.
func (t *Transport) Measure(see func(r base.Rank, connection int, m socket.Metrics)) {
	for _, below := range []transport.Transport{t.near, t.far} {
		if m, ok := below.(transport.Measurer); ok {
			m.Measure(see)
		}
	}
}
