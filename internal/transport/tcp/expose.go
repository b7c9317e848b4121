package tcp

import (
	"context"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/segment"
)

// A region is a segment that this rank exposes. This transport keeps no data of its
// own with it.
type region = remote.Region[struct{}]

// Expose implements transport.Transport.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error {
	if t.closed.Load() {
		return base.ErrClosed
	}
	return t.registry.Expose(id, s, nil)
}

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error { return t.registry.Grant(id, r) }

// Withdraw implements transport.Transport. When it returns, nothing that peers send is
// written into the segment any more, and the peers that had its descriptor have dropped it.
// A peer that does not say so within withdrawMost, such as one that is stopped, is not waited
// for: until it has dropped the descriptor, its puts are refused.
func (t *Transport) Withdraw(id segment.ID) error {
	x, err := t.registry.Withdraw(id, t.announceWithdrawal)
	if err != nil {
		return err
	}
	t.each(func(c *conn) { c.release(x) })
	t.awaitDropped(x)
	return nil
}

// announceWithdrawal tells the peers that hold the descriptor of x. The message is sent
// on every connection, so that any later reply of this rank follows it.
func (t *Transport) announceWithdrawal(x *region) {
	for r := range x.Holders() {
		for n := range t.cfg.Connections {
			if c := t.conns[int(r)*t.cfg.Connections+n].Load(); c != nil {
				c.sendControl(&frame{kind: kindWithdrawn, segment: uint32(x.ID), generation: x.Generation})
			}
		}
	}
}

// withdrawMost bounds how long Withdraw waits for peers.
const withdrawMost = 2 * time.Second

// awaitDropped blocks until the peers that hold the descriptor of x have handled its
// withdrawal, which was announced: the reply to a flush says so. A peer may hear of a new
// segment with the same id by way of a third rank, and must not use the old descriptor then.
func (t *Transport) awaitDropped(x *region) {
	ctx, cancel := context.WithTimeout(context.Background(), t.withdrawal)
	defer cancel()
	var waits []func()
	for r := range x.Holders() {
		if r == t.cfg.Rank {
			continue
		}
		l := t.links.To(r)
		c := l.channels[l.idleChannel()].conn.Load()
		for i := 0; c == nil && i < len(l.channels); i++ { // all that are open may be busy, and 0 not among them
			c = l.channels[i].conn.Load()
		}
		if c == nil {
			continue // cannot be: the descriptor was sent over one
		}
		q := new(request)
		if c.send(q, &frame{kind: kindFlush}) == nil {
			waits = append(waits, func() { _ = q.Await(ctx, l.array, func() bool { return c.cancel(q) }) })
		}
	}
	for _, wait := range waits {
		wait()
	}
}

// handleAttach sends the descriptor of a segment.
func (c *conn) handleAttach(f *frame) error {
	return c.t.registry.Attach(c.link.peer.Rank, f.segment, func(x *region) error {
		if x == nil {
			return c.refuse(f, remote.RefusedSegment)
		}
		return c.reply(&frame{
			kind: kindAttached, number: f.number, segment: f.segment, generation: x.Generation,
			offset: uint64(len(x.Data)), a: uint64(x.Notifications.Len()),
		})
	})
}
