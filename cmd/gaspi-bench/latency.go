package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// latency measures half a round trip of a write with a notification.
func latency() operation {
	return operation{
		name: "latency",
		about: `one way of a write with notification that carries its number, which
the receiver checks: half a round trip between ranks 0 and 1. Limit: the same
with a bare flag in the same memory, and for more than 8 bytes a plain copy.`,
		minRanks: 2,
		sizes:    []uint64{8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20},
		prepare:  prepareLatency,
	}
}

func prepareLatency(ctx context.Context, b *bench, size uint64) ([]workload, error) {
	w := workload{op: "latency", bytes: size, timed: b.p.Rank() == 0, steps: 2}
	peer, part := b.peer()
	if !part {
		w.contenders = []contender{{implGaspi, idle}, {implLimit, idle}}
		return []workload{w}, nil
	}
	m, err := newMail(b, peer, size)
	if err != nil {
		return nil, err
	}
	w.contenders = []contender{
		{implGaspi, m.rounds(ctx, m.writeNotify, m.awaitNotification)},
		{implLimit, m.rounds(ctx, m.copyAndRaise, m.awaitFlag)},
	}
	return []workload{w}, nil
}

// mail is one end of a pair of ranks that write to each other.
type mail struct {
	b     *bench
	first bool // this rank begins
	seq   counter

	q    *gaspi.Queue
	dst  gaspi.Remote
	src  gaspi.Span
	out  []byte // src
	in   []byte // where the peer writes to
	far  gaspi.Span
	dest []byte // far: the peer's in
	flag flag   // this rank's, which the peer raises
	bell flag   // the peer's
}

func newMail(b *bench, peer gaspi.Rank, size uint64) (*mail, error) {
	m := &mail{b: b, first: b.p.Rank() == 0, q: b.p.Queue(0), dst: b.seg.At(peer, b.inbox())}
	var err error
	if m.src, err = b.seg.Span(b.outbox(), size); err != nil {
		return nil, err
	}
	if m.far, err = b.mapped(peer, size); err != nil {
		return nil, err
	}
	inbox, err := b.seg.Span(b.inbox(), size)
	if err != nil {
		return nil, err
	}
	m.in, m.out, m.dest = inbox.Bytes(), m.src.Bytes(), m.far.Bytes()
	mine, err := b.flags(b.p.Rank(), pairFlags, 1)
	if err != nil {
		return nil, err
	}
	theirs, err := b.flags(peer, pairFlags, 1)
	if err != nil {
		return nil, err
	}
	m.flag, m.bell = &mine[0], &theirs[0]
	return m, nil
}

// rounds makes a batch of round trips.
func (m *mail) rounds(ctx context.Context, send, receive func(context.Context, uint32) error) func(int) error {
	return func(n int) error {
		for range n {
			v := m.seq.next()
			if m.first {
				if err := send(ctx, v); err != nil {
					return err
				}
			}
			if err := receive(ctx, v); err != nil {
				return err
			}
			if !m.first {
				if err := send(ctx, v); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (m *mail) writeNotify(ctx context.Context, v uint32) error {
	stamp(m.out, v)
	if err := m.q.WriteNotify(m.dst, m.src, gaspi.Notification{ID: notePing, Value: gaspi.Value(v)}); err != nil {
		return err
	}
	return m.q.Wait(ctx)
}

func (m *mail) awaitNotification(ctx context.Context, v uint32) error {
	if err := m.b.seg.WaitUntil(ctx, notePing, gaspi.Equal, gaspi.Value(v)); err != nil {
		return err
	}
	return verify(m.in, v)
}

// copyAndRaise is writeNotify without the runtime. Eight bytes fit the flag.
func (m *mail) copyAndRaise(_ context.Context, v uint32) error {
	if len(m.out) > 8 {
		stamp(m.out, v)
		copy(m.dest, m.out)
	}
	raise(m.bell, v)
	return nil
}

func (m *mail) awaitFlag(ctx context.Context, v uint32) error {
	if err := m.b.await(ctx, m.flag, v); err != nil {
		return err
	}
	if len(m.in) > 8 {
		return verify(m.in, v)
	}
	return nil
}
