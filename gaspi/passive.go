package gaspi

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Passive messages go to a rank that does not know who will send. They are
// written with one-sided calls on the system segment. For every rank that may
// send to it a rank has a lane: a state word and room for one message. The
// sender writes the message, puts ticket and length into the state word, and
// posts the arrival; the receiver claims the message by an exchange of the word
// with 0, copies it, and posts the receipt, whose value is the ticket. A sender
// that gives up exchanges the word back: exactly one of the two succeeds, so
// both sides always agree on whether the message was delivered.
//
//	state word: | ticket: 32 bits, never 0 | length: 32 bits |

// passive is this rank's side of all lanes.
type passive struct {
	// turn holds a token per rank: one message to each is under way at a time.
	turn   []chan struct{}
	ticket []uint32 // index is the rank; guarded by its turn

	// receive holds the token of the receiver.
	receive chan struct{}
}

func newPassive(p *Proc) *passive {
	s := &passive{ticket: make([]uint32, p.size), receive: make(chan struct{}, 1)}
	for range p.size {
		s.turn = append(s.turn, make(chan struct{}, 1))
	}
	return s
}

// PassiveSend sends the bytes of src, at most Config.PassiveMax, to rank to, and
// blocks until they have been received; src is the caller's again. The receiver
// need not know the sender. When ctx ends first, the message is withdrawn: the
// error says for certain that it was not and will not be received. Messages from
// several goroutines to one rank are sent one after the other.
func (p *Proc) PassiveSend(ctx context.Context, to Rank, src Span) error {
	if err := p.passiveSend(ctx, to, src); err != nil {
		return &OpError{Op: "passive_send", At: fmt.Sprintf("to rank %d [%d bytes]", to, src.Len()), Err: p.faultIn(to, err)}
	}
	p.stats.passiveSent.Add(1)
	return nil
}

func (p *Proc) passiveSend(ctx context.Context, to Rank, src Span) error {
	way, err := p.enter(Remote{Rank: to}, src)
	if err != nil {
		return err
	}
	if src.Len() > p.lay.passiveMax {
		return fmt.Errorf("%w: Config.PassiveMax is %d bytes", ErrTooLarge, p.lay.passiveMax)
	}
	select {
	case p.passive.turn[to] <- struct{}{}:
		defer func() { <-p.passive.turn[to] }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.closed.Load() { // while this call waited for its turn
		return ErrClosed
	}
	ticket := nextEpoch(notify.Value(p.passive.ticket[to]))
	p.passive.ticket[to] = uint32(ticket)
	lane := transport.Addr{Segment: p.lay.id, Offset: p.lay.passiveLane(p.rank)}
	state := uint64(ticket)<<32 | src.Len()
	if err := p.deliver(ctx, way.Link, lane, src, state); err != nil {
		return err
	}
	return p.awaitReceipt(ctx, way.Link, to, lane, state)
}

// deliver puts the message into the lane. The flush comes before the state word,
// because atomics are not ordered with writes.
func (p *Proc) deliver(ctx context.Context, link transport.Link, lane transport.Addr, src Span, state uint64) error {
	body := lane
	body.Offset += passiveHeader
	if err := link.Put(p.internal, body, src); err != nil {
		return err
	}
	if err := link.Flush(ctx, p.internal); err != nil {
		// The message may not have left src yet, which the caller is about to get back.
		if serr := p.settle(context.WithoutCancel(ctx)); serr != nil {
			return serr
		}
		return err
	}
	if _, err := link.Atomic(ctx, lane, transport.Swap, state, 0); err != nil {
		return err
	}
	return link.Notify(p.internal, transport.Flag{Segment: p.lay.id, ID: p.lay.passiveArrival(p.rank), Value: 1})
}

func (p *Proc) awaitReceipt(ctx context.Context, link transport.Link, to Rank, lane transport.Addr, state uint64) error {
	slot, ticket := p.lay.passiveReceipt(to), notify.Value(state>>32)
	stop := func() error { return p.awaits(to) }
	_, err := p.system.Board().Wait(ctx, notify.Until(slot, notify.Equal, ticket), stop, nil)
	if err == nil {
		return nil
	}
	// Whatever ended the wait: the withdrawal itself must not be cut short, or
	// nobody would know.
	old, aerr := link.Atomic(context.WithoutCancel(ctx), lane, transport.CompareSwap, 0, state)
	if aerr != nil {
		return aerr
	}
	if old == state {
		return fmt.Errorf("withdrawn: %w", err)
	}
	// The receiver has claimed it and is copying: this wait is short. If this
	// rank closes meanwhile, the message is received all the same.
	_, err = p.system.Board().Wait(context.WithoutCancel(ctx), notify.Until(slot, notify.Equal, ticket), stop, nil)
	if errors.Is(err, ErrRankDead) {
		return err
	}
	return nil
}

// PassiveReceive blocks until a passive message from any rank has arrived,
// copies it to the start of dst, and returns who sent it and its length in
// bytes. A message that is longer than dst is left for another call with a
// larger one, and the error says how long it is. Several goroutines may receive;
// they take turns.
func (p *Proc) PassiveReceive(ctx context.Context, dst Span) (from Rank, n uint64, err error) {
	if from, n, err = p.passiveReceive(ctx, dst); err != nil {
		return 0, 0, &OpError{Op: "passive_receive", Err: err}
	}
	p.stats.passiveReceived.Add(1)
	return from, n, nil
}

func (p *Proc) passiveReceive(ctx context.Context, dst Span) (Rank, uint64, error) {
	if p.closed.Load() || dst.Segment() != nil && dst.Segment().Closed() {
		return 0, 0, ErrClosed
	}
	select {
	case p.passive.receive <- struct{}{}:
		defer func() { <-p.passive.receive }()
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	board, first := p.system.Board(), p.lay.passiveArrival(0)
	for {
		id, err := board.Wait(ctx, notify.Some(first, uint32(p.size)), p.anyStop, nil)
		if err != nil {
			return 0, 0, err
		}
		if _, err := board.Reset(id); err != nil {
			return 0, 0, err
		}
		from := Rank(id - first)
		n, ticket, err := p.claim(from, dst)
		if err != nil {
			board.Post(id, 1) // it is still there
			return 0, 0, err
		}
		if ticket != 0 {
			return from, n, p.receipt(from, ticket)
		}
	}
}

// receipt tells the sender that its message was received. That the sender died
// meanwhile does not make the message undone.
func (p *Proc) receipt(to Rank, ticket Value) error {
	link, err := p.link(to)
	if err != nil {
		return err
	}
	_ = p.fault(to, link.Notify(p.internal, transport.Flag{Segment: p.lay.id, ID: p.lay.passiveReceipt(p.rank), Value: ticket}))
	return nil
}

// claim takes the message in the lane of rank from and returns its length and
// ticket; ticket 0 means that there is none, because it was withdrawn.
func (p *Proc) claim(from Rank, dst Span) (n uint64, ticket Value, err error) {
	lane := p.lay.passiveLane(from)
	word, err := p.system.Word(lane)
	if err != nil {
		return 0, 0, err
	}
	state := word.Load()
	n = state & (1<<32 - 1)
	switch {
	case state == 0:
		return 0, 0, nil
	case n > p.lay.passiveMax:
		return 0, 0, fmt.Errorf("rank %d announced a message of %d bytes; at most %d are possible", from, n, p.lay.passiveMax)
	case n > dst.Len():
		return 0, 0, fmt.Errorf("%w: the message of rank %d has %d bytes, the destination %d", ErrTooLarge, from, n, dst.Len())
	}
	if !word.CompareAndSwap(state, 0) {
		return 0, 0, nil
	}
	body, err := p.system.Bytes(lane+passiveHeader, n)
	if err != nil {
		return 0, 0, err
	}
	copy(dst.Bytes(), body)
	return n, Value(state >> 32), nil
}
