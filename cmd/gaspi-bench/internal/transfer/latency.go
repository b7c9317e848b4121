package transfer

import (
	"context"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/limit"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Latency measures half a round trip of a write with a notification.
func Latency() measure.Benchmark {
	return measure.Benchmark{
		Name: "latency",
		About: `one way of a write with notification until the receiver sees the
notification: half a round trip between ranks 0 and 1, with the payload checked
once in a block. Limit: the same with a bare flag in the same memory, and for
more than 8 bytes a plain copy; over tcp the same bytes over one connection
whose ends look without sleeping. Rows called delivery go on until the receiver
has read the payload of each; their limit copies and reads it too.`,
		MinRanks: 2,
		Sizes:    []uint64{8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20},
		Prepare:  prepareLatency,
	}
}

func prepareLatency(ctx context.Context, b *measure.Bench, size uint64) ([]measure.Workload, error) {
	seen := measure.Workload{Subject: report.Subject{Op: "latency", Bytes: size}, Timed: b.P.Rank() == 0, Steps: 2}
	read := seen
	read.Op = "delivery"
	peer, part := b.Peer()
	near, err := b.Nearby(ctx, peer, part)
	if err != nil {
		return nil, err
	}
	if !part {
		seen.Contenders = measure.Beside(measure.Idle, measure.Idle)
		if !near && !b.Wired() {
			seen.Contenders = seen.Contenders[:1]
		}
		read.Contenders = seen.Contenders
		return []measure.Workload{seen, read}, nil
	}
	m, err := NewMail(b, peer, size, near)
	if err != nil {
		return nil, err
	}
	seen.Contenders = []measure.Contender{{Impl: report.ImplGaspi, Batch: m.checked(m.Rounds(ctx, m.WriteNotify, m.AwaitNotification))}}
	read.Contenders = []measure.Contender{{Impl: report.ImplGaspi, Batch: m.Rounds(ctx, m.WriteNotify, m.Reading(m.AwaitNotification))}}
	if !near && !b.Wired() {
		return []measure.Workload{seen, read}, nil
	}
	if !near {
		w, err := b.Connect(ctx, peer)
		if err != nil {
			return nil, err
		}
		limit := wiredMail{Mail: m, SocketPair: w}
		seen.Contenders = append(seen.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: m.checked(m.Rounds(ctx, limit.sendMessage, limit.receiveMessage))})
		read.Contenders = append(read.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: m.Rounds(ctx, limit.sendMessage, m.Reading(limit.receiveMessage))})
		return []measure.Workload{seen, read}, nil
	}
	bare := m.copyAndRaise
	if size <= 8 {
		bare = m.raise // the flag itself can carry as much
	}
	seen.Contenders = append(seen.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: m.Rounds(ctx, bare, m.awaitFlag)})
	read.Contenders = append(read.Contenders, measure.Contender{Impl: report.ImplLimit, Batch: m.Rounds(ctx, m.copyAndRaise, m.Reading(m.awaitFlag))})
	return []measure.Workload{seen, read}, nil
}

// Mail is one end of a pair of ranks that write to each other.
type Mail struct {
	b     *measure.Bench
	first bool // this rank begins
	seq   limit.Counter

	q   *gaspi.Queue
	dst gaspi.Remote
	src gaspi.Span
	out []byte // src
	in  []byte // where the peer writes to

	// Of an end that is near its peer.
	dest []byte     // the peer's in
	flag limit.Flag // this rank's, which the peer raises
	bell limit.Flag // the peer's
}

// NewMail opens the end of this rank for messages of size bytes. It fails on ranks other
// than 0 and 1. With near, which is what Nearby said, the end has the memory and the flags of
// limits, and it is an error if the memory of the peer cannot be mapped, as when that has ended.
func NewMail(b *measure.Bench, peer gaspi.Rank, size uint64, near bool) (*Mail, error) {
	m := &Mail{b: b, first: b.P.Rank() == 0, q: b.P.MustQueue(0), dst: b.Seg.At(peer, b.Inbox())}
	var err error
	if m.src, err = b.Seg.Span(b.Outbox(), size); err != nil {
		return nil, err
	}
	inbox, err := b.Seg.Span(b.Inbox(), size)
	if err != nil {
		return nil, err
	}
	m.in, m.out = inbox.Bytes(), m.src.Bytes()
	if !near {
		return m, nil
	}
	far, err := b.Map(b.Seg, peer, b.Inbox(), size)
	if err != nil {
		return nil, err
	}
	m.dest = far.Bytes()
	mine, err := b.Flags(b.P.Rank(), limit.PairFlags, 1)
	if err != nil {
		return nil, err
	}
	theirs, err := b.Flags(peer, limit.PairFlags, 1)
	if err != nil {
		return nil, err
	}
	m.flag, m.bell = &mine[0], &theirs[0]
	return m, nil
}

// Rounds makes a batch of round trips.
func (m *Mail) Rounds(ctx context.Context, send, receive func(context.Context, uint32) error) func(int) error {
	if m.first {
		return m.inTurn(ctx, send, receive)
	}
	return m.inTurn(ctx, receive, send)
}

// WriteNotify sends message v and waits until its buffer can be used again.
func (m *Mail) WriteNotify(ctx context.Context, v uint32) error {
	limit.Stamp(m.out, v)
	if err := m.q.WriteNotify(m.dst, m.src, gaspi.Notification{ID: limit.NotePing, Value: gaspi.Value(v)}); err != nil {
		return err
	}
	return m.q.Wait(ctx)
}

// AwaitNotification blocks until message v has arrived.
func (m *Mail) AwaitNotification(ctx context.Context, v uint32) error {
	return m.b.Seg.WaitUntil(ctx, limit.NotePing, gaspi.Equal, gaspi.Value(v))
}

// copyAndRaise is WriteNotify without the runtime.
func (m *Mail) copyAndRaise(_ context.Context, v uint32) error {
	limit.Stamp(m.out, v)
	segment.Copy(m.dest, m.out)
	limit.Raise(m.bell, v)
	return nil
}

func (m *Mail) raise(_ context.Context, v uint32) error {
	limit.Raise(m.bell, v)
	return nil
}

func (m *Mail) awaitFlag(ctx context.Context, v uint32) error { return m.b.Await(ctx, m.flag, v) }

// Reading is await, and then a look at the message.
func (m *Mail) Reading(await func(context.Context, uint32) error) func(context.Context, uint32) error {
	return func(ctx context.Context, v uint32) error {
		if err := await(ctx, v); err != nil {
			return err
		}
		return limit.Verify(m.in, v)
	}
}

// checked is batch, and then a look at the last message.
func (m *Mail) checked(batch func(int) error) func(int) error {
	return func(n int) error {
		if err := batch(n); err != nil || n == 0 {
			return err
		}
		return limit.Verify(m.in, m.seq.Last())
	}
}
