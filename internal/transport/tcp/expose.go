package tcp

import (
	"github.com/gaspi-go/gaspi-go/internal/base"
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
// written into the segment any more.
func (t *Transport) Withdraw(id segment.ID) error {
	x, err := t.registry.Withdraw(id, t.announceWithdrawal)
	if err != nil {
		return err
	}
	t.each(func(c *conn) { c.release(x) })
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
