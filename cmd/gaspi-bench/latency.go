package main

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// latency measures half a round trip of a write with a notification.
func latency() operation {
	return operation{
		name: "latency",
		about: `one way of a write with notification until the receiver sees the
notification: half a round trip between ranks 0 and 1, with the payload checked
once in a block. Limit: the same with a bare flag in the same memory, and for
more than 8 bytes a plain copy; over tcp the same bytes over one connection
whose ends look without sleeping. Rows called delivery go on until the receiver
has read the payload of each; their limit copies and reads it too.`,
		minRanks: 2,
		sizes:    []uint64{8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20},
		prepare:  prepareLatency,
	}
}

func prepareLatency(ctx context.Context, b *bench, size uint64) ([]workload, error) {
	seen := workload{Subject: report.Subject{Op: "latency", Bytes: size}, timed: b.p.Rank() == 0, steps: 2}
	read := seen
	read.Op = "delivery"
	peer, part := b.peer()
	near, err := b.nearby(ctx, peer, part)
	if err != nil {
		return nil, err
	}
	if !part {
		seen.contenders = []contender{{report.ImplGaspi, idle}, {report.ImplLimit, idle}}
		if !near && !b.wired() {
			seen.contenders = seen.contenders[:1]
		}
		read.contenders = seen.contenders
		return []workload{seen, read}, nil
	}
	m, err := newMail(b, peer, size)
	if err != nil {
		return nil, err
	}
	seen.contenders = []contender{{report.ImplGaspi, m.checked(m.rounds(ctx, m.writeNotify, m.awaitNotification))}}
	read.contenders = []contender{{report.ImplGaspi, m.rounds(ctx, m.writeNotify, m.reading(m.awaitNotification))}}
	if !near && !b.wired() {
		return []workload{seen, read}, nil
	}
	if !near {
		w, err := b.connect(ctx, peer)
		if err != nil {
			return nil, err
		}
		limit := wiredMail{mail: m, socketPair: w}
		seen.contenders = append(seen.contenders, contender{report.ImplLimit, m.checked(m.rounds(ctx, limit.sendMessage, limit.receiveMessage))})
		read.contenders = append(read.contenders, contender{report.ImplLimit, m.rounds(ctx, limit.sendMessage, m.reading(limit.receiveMessage))})
		return []workload{seen, read}, nil
	}
	bare := m.copyAndRaise
	if size <= 8 {
		bare = m.raise // the flag itself can carry as much
	}
	seen.contenders = append(seen.contenders, contender{report.ImplLimit, m.rounds(ctx, bare, m.awaitFlag)})
	read.contenders = append(read.contenders, contender{report.ImplLimit, m.rounds(ctx, m.copyAndRaise, m.reading(m.awaitFlag))})
	return []workload{seen, read}, nil
}

// mail is one end of a pair of ranks that write to each other.
type mail struct {
	b     *bench
	first bool // this rank begins
	seq   counter

	q   *gaspi.Queue
	dst gaspi.Remote
	src gaspi.Span
	out []byte // src
	in  []byte // where the peer writes to

	// Where the two share memory.
	shared bool
	far    gaspi.Span
	dest   []byte // far: the peer's in
	flag   flag   // this rank's, which the peer raises
	bell   flag   // the peer's
}

func newMail(b *bench, peer gaspi.Rank, size uint64) (*mail, error) {
	m := &mail{b: b, first: b.p.Rank() == 0, q: b.p.Queue(0), dst: b.seg.At(peer, b.inbox())}
	var err error
	if m.src, err = b.seg.Span(b.outbox(), size); err != nil {
		return nil, err
	}
	inbox, err := b.seg.Span(b.inbox(), size)
	if err != nil {
		return nil, err
	}
	m.in, m.out = inbox.Bytes(), m.src.Bytes()
	if m.far, m.shared = b.seg.Mapped(peer, b.inbox(), size); !m.shared {
		return m, nil
	}
	m.dest = m.far.Bytes()
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
	return m.b.seg.WaitUntil(ctx, notePing, gaspi.Equal, gaspi.Value(v))
}

// copyAndRaise is writeNotify without the runtime.
func (m *mail) copyAndRaise(_ context.Context, v uint32) error {
	stamp(m.out, v)
	segment.Copy(m.dest, m.out)
	raise(m.bell, v)
	return nil
}

func (m *mail) raise(_ context.Context, v uint32) error {
	raise(m.bell, v)
	return nil
}

func (m *mail) awaitFlag(ctx context.Context, v uint32) error { return m.b.await(ctx, m.flag, v) }

// reading is await, and then a look at the message.
func (m *mail) reading(await func(context.Context, uint32) error) func(context.Context, uint32) error {
	return func(ctx context.Context, v uint32) error {
		if err := await(ctx, v); err != nil {
			return err
		}
		return verify(m.in, v)
	}
}

// checked is batch, and then a look at the last message.
func (m *mail) checked(batch func(int) error) func(int) error {
	return func(n int) error {
		if err := batch(n); err != nil || n == 0 {
			return err
		}
		return verify(m.in, m.seq.last())
	}
}
