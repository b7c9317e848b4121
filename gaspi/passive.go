package gaspi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/layout"
	"github.com/gaspi-go/gaspi-go/internal/trace"
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
//
// The room has one writer at a time. The sender writes it when the word is 0 and
// nobody copies: after a receipt, or after it has exchanged the word back. Its
// exchanges are therefore carried out to the end, whatever becomes of its context:
// one that came later than its error would announce the next message too early, with
// the length of the one before.

// passive is this rank's side of all lanes.
type passive struct {
	mu    sync.Mutex
	turns map[Rank]*passiveTurn // guarded by mu; of ranks that something was sent to

	// receive holds the token of the receiver.
	receive chan struct{}
}

// A passiveTurn is what messages to one rank share.
type passiveTurn struct {
	token  chan struct{} // holds a token while a message is under way: there is one at a time
	ticket uint32        // of the last message; belongs to the holder of the token
}

func newPassive() *passive {
	return &passive{turns: make(map[Rank]*passiveTurn), receive: make(chan struct{}, 1)}
}

// turn returns what messages to rank to share.
func (s *passive) turn(to Rank) *passiveTurn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[to] == nil {
		s.turns[to] = &passiveTurn{token: make(chan struct{}, 1)}
	}
	return s.turns[to]
}

// end waits until no message is half sent or half received, for at most closingMost.
// The rank has closed: nobody begins.
func (s *passive) end() {
	late := time.NewTimer(closingMost)
	defer late.Stop()
	tokens := []chan struct{}{s.receive}
	s.mu.Lock()
	for _, turn := range s.turns {
		tokens = append(tokens, turn.token)
	}
	s.mu.Unlock()
	for _, token := range tokens {
		select {
		case token <- struct{}{}:
			<-token
		case <-late.C:
			return
		}
	}
}

// closingMost bounds how long Close waits for peers that a message is being withdrawn
// from: one that is stopped would never answer.
const closingMost = 2 * time.Second

// PassiveSend sends the bytes of src, at most Config.PassiveMax, to rank to, and
// blocks until they have been received; src is the caller's again. The receiver
// need not know the sender. Messages from several goroutines to one rank are sent one
// after the other.
//
// When ctx ends first, the message is withdrawn: an error says that it was not and
// will not be received. The same goes for the end of this rank's part by Close. There
// are two exceptions. If the receiver is gone (a *RankError), it is not known whether it
// had received the message; and so it is if this rank closes and the receiver, which is
// stopped or cut off, does not answer for two seconds. To withdraw a message takes an
// answer of the receiver's process, whose program need do nothing: where that process is
// stopped, PassiveSend outlasts ctx until it goes on or is gone. A message that the
// receiver has begun to copy is not withdrawn: PassiveSend returns nil, though ctx has
// ended.
func (p *Proc) PassiveSend(ctx context.Context, to Rank, src Span) error {
	begun := p.timeline.Begin()
	err := p.passiveSend(ctx, to, src)
	p.recordMessage(trace.PassiveSend, begun, to, src.Len())
	if err != nil {
		return &OpError{Op: "passive_send", At: fmt.Sprintf("to rank %d [%d bytes]", to, src.Len()), Err: p.peers.Found(to, err)}
	}
	p.stats.passiveSent.Add(1)
	p.stats.peers.at(to).messages.Add(1)
	return nil
}

func (p *Proc) passiveSend(ctx context.Context, to Rank, src Span) error {
	way, err := p.enter(Remote{Rank: to}, src)
	if err != nil {
		return err
	}
	if src.Len() > p.lay.PassiveMax {
		return fmt.Errorf("%w: Config.PassiveMax is %d bytes", ErrTooLarge, p.lay.PassiveMax)
	}
	turn := p.passive.turn(to)
	if err := take(ctx, turn.token); err != nil {
		return err
	}
	defer func() { <-turn.token }()
	if p.closed.Load() { // while this call waited for its turn
		return ErrClosed
	}
	ticket := nextEpoch(notify.Value(turn.ticket))
	turn.ticket = uint32(ticket)
	m := &passiveMessage{p: p, link: way.Link, to: to, state: uint64(ticket)<<32 | src.Len()}
	m.lane = transport.Addr{Segment: p.lay.ID, Offset: p.lay.PassiveLane(p.rank)}
	if _, err := p.system.Notifications().Reset(p.lay.PassiveReceipt(to)); err != nil { // of an earlier message
		return err
	}
	if err := m.announce(ctx, src); err != nil {
		return err
	}
	return m.awaitReceipt(ctx)
}

// A passiveMessage is one that this rank sends.
type passiveMessage struct {
	p     *Proc
	link  transport.Link
	to    Rank
	lane  transport.Addr // there
	state uint64
}

// announce puts the message into the lane. The flush comes before the state word,
// because atomics are not ordered with writes. After an error nothing is announced,
// unless the receiver is gone or this rank has closed.
func (m *passiveMessage) announce(ctx context.Context, src Span) error {
	body := m.lane
	body.Offset += layout.PassiveHeader
	if err := m.link.Put(m.p.internal, body, src); err != nil {
		return err
	}
	if err := m.link.Flush(ctx, m.p.internal); err != nil {
		// The message may not have left src yet, which the caller is about to get back.
		if serr := m.p.settle(context.WithoutCancel(ctx)); serr != nil {
			return serr
		}
		return err
	}
	_, err := carriedOut(ctx, m.link, m.lane, transport.Swap, m.state, 0)
	return err
}

// awaitReceipt posts the arrival of a message that was announced and waits until it has
// been received. It returns nil if it has, else why not.
func (m *passiveMessage) awaitReceipt(ctx context.Context) error {
	p := m.p
	err := m.link.Notify(p.internal, transport.Flag{Segment: p.lay.ID, ID: p.lay.PassiveArrival(p.rank), Value: 1})
	if err == nil {
		err = m.received(ctx, func() error { return p.awaits(m.to) })
	}
	if err == nil {
		return nil
	}
	// The withdrawal itself must not be cut short by the end of ctx, or its outcome would be
	// unknown.
	ctx = context.WithoutCancel(ctx)
	old, aerr := carriedOut(ctx, m.link, m.lane, transport.CompareSwap, 0, m.state)
	if aerr != nil {
		return aerr
	}
	if old == m.state {
		return fmt.Errorf("withdrawn: %w", err)
	}
	// The receiver has claimed it and is copying: this wait is short, and nothing but
	// the receiver's end ends it, since the room is not this rank's before. If this
	// rank closes meanwhile, it writes there no more, and the message is received all
	// the same.
	err = m.received(ctx, func() error {
		if p.closed.Load() {
			return ErrClosed
		}
		return p.peers.Absence(m.to)
	})
	if errors.Is(err, ErrRankDead) {
		return err
	}
	return nil
}

// received waits for the receipt.
func (m *passiveMessage) received(ctx context.Context, stop func() error) error {
	receipt := notify.Until(m.p.lay.PassiveReceipt(m.to), notify.Equal, notify.Value(m.state>>32))
	_, err := m.p.system.Notifications().Wait(ctx, receipt, stop, &m.p.stats.peers.at(m.to).groupWait)
	return err
}

// PassiveReceive blocks until a passive message from any rank has arrived,
// copies it to the start of dst, and returns who sent it and its length in
// bytes. It is whole, and its PassiveSend does not return an error unless this rank ends
// before it hears of the receipt. A message that is longer than dst is left for another
// call with a larger one, and the error says how long it is; after any error nothing was
// received. Several goroutines may receive; they take turns.
func (p *Proc) PassiveReceive(ctx context.Context, dst Span) (from Rank, n uint64, err error) {
	begun := p.timeline.Begin()
	from, n, err = p.passiveReceive(ctx, dst)
	p.recordMessage(trace.PassiveReceive, begun, from, n)
	if isBare(err) {
		return 0, 0, err
	} else if err != nil {
		return 0, 0, &OpError{Op: "passive_receive", Err: err}
	}
	p.stats.passiveReceived.Add(1)
	return from, n, nil
}

// take blocks until there is room for a token, which is one at most, and puts it there, or until ctx
// ends. Where there is room, a context that has ended is none the worse: the call may look once.
func take(ctx context.Context, tokens chan<- struct{}) error {
	select {
	case tokens <- struct{}{}:
		return nil
	default:
	}
	select {
	case tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Proc) passiveReceive(ctx context.Context, dst Span) (Rank, uint64, error) {
	if p.closed.Load() || dst.Segment() != nil && dst.Segment().Closed() {
		return 0, 0, ErrClosed
	}
	if err := take(ctx, p.passive.receive); err != nil {
		return 0, 0, err
	}
	defer func() { <-p.passive.receive }()
	array, first := p.system.Notifications(), p.lay.PassiveArrival(0)
	for {
		id, err := array.Wait(ctx, notify.Some(first, uint32(p.size)), p.anyStop, nil)
		if err != nil {
			return 0, 0, err
		}
		if _, err := array.Reset(id); err != nil {
			return 0, 0, err
		}
		from := Rank(id - first)
		link, err := p.link(from)
		if err != nil && !errors.Is(err, ErrRankDead) {
			array.Set(id, 1) // it is still there
			return 0, 0, err
		}
		n, ticket, err := p.claim(from, dst)
		if err != nil {
			array.Set(id, 1) // likewise
			return 0, 0, err
		}
		if ticket != 0 {
			p.receipt(link, from, ticket)
			return from, n, nil
		}
	}
}

// receipt tells the sender, by link unless that is nil, that its message was received.
// That the sender died meanwhile does not make the message undone.
func (p *Proc) receipt(link transport.Link, to Rank, ticket Value) {
	if link == nil {
		return
	}
	p.peers.Doubt(link.Notify(p.internal, transport.Flag{Segment: p.lay.ID, ID: p.lay.PassiveReceipt(p.rank), Value: ticket}))
}

// claim takes the message in the lane of rank from and returns its length and
// ticket; ticket 0 means that there is none, because it was withdrawn.
func (p *Proc) claim(from Rank, dst Span) (n uint64, ticket Value, err error) {
	lane := p.lay.PassiveLane(from)
	word, err := p.system.Word(lane)
	if err != nil {
		return 0, 0, err
	}
	state := word.Load()
	n = state & (1<<32 - 1)
	switch {
	case state == 0:
		return 0, 0, nil
	case n > p.lay.PassiveMax:
		return 0, 0, fmt.Errorf("rank %d announced a message of %d bytes; at most %d are possible", from, n, p.lay.PassiveMax)
	case n > dst.Len():
		return 0, 0, fmt.Errorf("%w: the message of rank %d has %d bytes, the destination %d", ErrTooLarge, from, n, dst.Len())
	}
	body, err := p.system.Bytes(lane+layout.PassiveHeader, n)
	if err != nil {
		return 0, 0, err
	}
	if !word.CompareAndSwap(state, 0) {
		return 0, 0, nil
	}
	copy(dst.Bytes(), body)
	return n, Value(state >> 32), nil
}
