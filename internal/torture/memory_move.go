package torture

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// mover is the sender of one step.
type mover struct {
	*arena
	rng   *rand.Rand
	to    int
	step  transferStep
	value gaspi.Value
	q     *gaspi.Queue
}

// outside and inside are where a pair's area begins in the segments of sender and receiver.
func (m mover) outside() int { return (len(m.members) + 1 + m.to) * m.area }
func (m mover) inside() int  { return m.me * m.area }

// at is an address at the peer.
func (m mover) at(segment, offset int) gaspi.Remote {
	return m.segments[segment].At(m.members[m.to], uint64(offset))
}

// note is the notification that tells of the step.
func (m mover) note() gaspi.Notification {
	return gaspi.Notification{ID: m.signal(m.me), Value: m.value}
}

// move does the step. Sources are the caller's again when it returns, and get other bytes
// at once.
func (m mover) move(ctx context.Context) error {
	if m.step.kind >= firstRead {
		return m.read(ctx)
	}
	list := make([]gaspi.Transfer, len(m.step.parts))
	for i, p := range m.step.parts {
		// Sources lie the other way round, and so are aligned otherwise.
		from := m.span(m.step.data, m.outside()+m.area-p.offset-p.size, p.size)
		fill(from.Bytes(), p.key)
		list[i] = gaspi.Transfer{Local: from, Remote: m.at(m.step.data, m.inside()+p.offset)}
	}
	if m.mutant("flag before data") && len(list) > 0 && m.step.kind != countedWrites {
		if err := m.post(ctx, m.rng, m.q, func() error { return m.q.Notify(m.at(m.step.board, 0), m.note()) }); err != nil {
			return err
		}
		return nil // and the data never
	}
	if err := m.write(ctx, list); err != nil {
		return err
	}
	if err := m.await(ctx, m.rng, m.q); err != nil {
		return err
	}
	for _, x := range list {
		fill(x.Local.Bytes(), ^m.key)
	}
	return nil
}

// write posts a step that writes.
func (m mover) write(ctx context.Context, list []gaspi.Transfer) error {
	board := m.at(m.step.board, 0)
	post := func(call func() error) error { return m.post(ctx, m.rng, m.q, call) }
	switch m.step.kind {
	case writeNotify:
		return post(func() error { return m.q.WriteNotify(list[0].Remote, list[0].Local, m.note()) })
	case writeNotifyIn:
		id := m.segments[m.step.board].ID()
		return post(func() error { return m.q.WriteNotifyIn(list[0].Remote, list[0].Local, id, m.note()) })
	case writeListNotify:
		return post(func() error { return m.q.WriteListNotify(list, board, m.note()) })
	case countedWrites:
		for _, x := range list {
			one := gaspi.Notification{ID: m.signal(m.me), Value: 1, Add: true}
			if err := post(func() error { return m.q.WriteNotify(x.Remote, x.Local, one) }); err != nil {
				return err
			}
		}
		return nil
	case listThenNotify:
		if err := post(func() error { return m.q.WriteList(list) }); err != nil {
			return err
		}
	default:
		for _, x := range list {
			if m.step.kind == writeThroughMap && m.store(x) {
				continue
			}
			if err := post(func() error { return m.q.Write(x.Remote, x.Local) }); err != nil {
				return err
			}
		}
	}
	q := m.q
	if m.step.kind == writeFlushNotify {
		flush := func(ctx context.Context) error { return m.q.Flush(ctx, m.members[m.to]) }
		if err := m.resume(ctx, m.rng, flush); err != nil {
			return err
		}
		q = m.queues[m.step.another%len(m.queues)]
	}
	return m.post(ctx, m.rng, q, func() error { return q.Notify(board, m.note()) })
}

// store does a transfer by the processor, where the peer's memory can be addressed.
func (m mover) store(x gaspi.Transfer) bool {
	to, ok := m.segments[m.step.data].Mapped(x.Remote.Rank, x.Remote.Offset, x.Local.Len())
	if ok {
		copy(to.Bytes(), x.Local.Bytes())
	}
	return ok
}

// read does a step that reads what the peer serves, and compares it.
func (m mover) read(ctx context.Context) error {
	n := len(m.members)
	constant := make([]byte, m.area)
	fill(constant, m.constant(m.step.data, m.to))
	list := make([]gaspi.Transfer, len(m.step.parts))
	base := (2*n + 1 + m.to) * m.area
	into := m.segments[m.step.data].Bytes()[base : base+m.area]
	model := make([]byte, m.area)
	fill(model, m.key^uint64(m.value))
	copy(into, model)
	for i, p := range m.step.parts {
		list[i] = gaspi.Transfer{Local: m.span(m.step.data, base+m.area-p.offset-p.size, p.size), Remote: m.at(m.step.data, n*m.area+p.offset)}
		copy(model[m.area-p.offset-p.size:], constant[p.offset:p.offset+p.size])
	}
	if err := m.fetch(ctx, list); err != nil {
		return err
	}
	if m.mutant("byte not read") && len(list[0].Local.Bytes()) > 0 {
		list[0].Local.Bytes()[0] ^= 1
	}
	if at := differ(into, model); at >= 0 {
		return fmt.Errorf("byte %d is %#x after the read, want %#x", at, into[at], model[at])
	}
	return m.await(ctx, m.rng, m.q)
}

// fetch posts a step that reads and returns when the bytes should be there.
func (m mover) fetch(ctx context.Context, list []gaspi.Transfer) error {
	// The pair's signal is what the peer posts; a reader tells itself by another.
	note := gaspi.Notification{ID: m.signal(2*len(m.members) + m.to), Value: m.value}
	seg := m.segments[m.step.data]
	post := func(call func() error) error { return m.post(ctx, m.rng, m.q, call) }
	switch m.step.kind {
	case readNotify:
		if err := post(func() error { return m.q.ReadNotify(list[0].Local, list[0].Remote, note) }); err != nil {
			return err
		}
		return m.take(ctx, m.rng, m.step.data, note.ID, note.Value)
	case readListNotify:
		if err := post(func() error { return m.q.ReadListNotify(list, seg, note) }); err != nil {
			return err
		}
		return m.take(ctx, m.rng, m.step.data, note.ID, note.Value)
	case readListWait:
		if err := post(func() error { return m.q.ReadList(list) }); err != nil {
			return err
		}
	default:
		for _, x := range list {
			if err := post(func() error { return m.q.Read(x.Local, x.Remote) }); err != nil {
				return err
			}
		}
	}
	return m.await(ctx, m.rng, m.q)
}
