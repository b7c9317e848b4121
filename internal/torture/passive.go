package torture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A passive message begins with its sender, its number and its length, each eight bytes; the
// rest follows from these.
const passiveHeader = 24

// mailbox is what a member has received.
type mailbox struct {
	*scene
	mu    sync.Mutex
	seen  map[uint64]bool // guarded by mu; by sender and number
	sum   uint64          // guarded by mu; of the hashes of all messages
	count uint64          // guarded by mu
}

// ledger is what a goroutine has sent, by the member that it was sent to.
type ledger struct{ count, sum []uint64 }

func passive(ctx context.Context, s *scene) error {
	rng, n := s.own(), len(s.members)
	limit := uint64(s.p.Config().PassiveMax)
	senders, receivers := 1+rng.IntN(3), 1+rng.IntN(3)
	seg, err := s.p.AllocSegment(s.base, limit*uint64(senders+receivers))
	if err != nil {
		return err
	}
	box := &mailbox{scene: s, seen: map[uint64]bool{}}
	receiving, stop := context.WithCancel(ctx)
	defer stop()
	ledgers := make([]ledger, senders)
	var sending []func(ctx context.Context) error
	for i := range senders {
		ledgers[i] = ledger{make([]uint64, n), make([]uint64, n)}
		sending = append(sending, func(ctx context.Context) error { return s.mail(ctx, s.own(1, uint64(i)), seg, i, ledgers[i]) })
	}
	tasks := []func(ctx context.Context) error{func(ctx context.Context) error {
		defer stop()
		if err := parallel(ctx, sending...); err != nil {
			return err
		}
		// A send that returned nil was received: when all have sent, all has come.
		return s.barrier(ctx, rng)
	}}
	for i := range receivers {
		tasks = append(tasks, func(ctx context.Context) error {
			return box.receive(ctx, receiving, s.own(2, uint64(i)), seg, uint64(senders+i)*limit)
		})
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	if err := box.compare(ctx, rng, ledgers); err != nil {
		return err
	}
	return seg.Delete()
}

// letter is the hash of a message and writes it into span.
func letter(sender, number uint64, into []byte) uint64 {
	if len(into) < passiveHeader {
		// Too short to say who sent it: its bytes are its length.
		for i := range into {
			into[i] = byte(len(into))
		}
		return mix(uint64(len(into)))
	}
	binary.LittleEndian.PutUint64(into, sender)
	binary.LittleEndian.PutUint64(into[8:], number)
	binary.LittleEndian.PutUint64(into[16:], uint64(len(into)))
	fill(into[passiveHeader:], mix(sender, number, uint64(len(into))))
	return mix(sender, number, uint64(len(into)))
}

// mail sends random messages to random members, and gives some of them up early.
func (s *scene) mail(ctx context.Context, rng *rand.Rand, seg *gaspi.Segment, thread int, sent ledger) error {
	limit := s.p.Config().PassiveMax
	for number := range uint64(10 + rng.IntN(60)) {
		size := pick(rng, 0, rng.IntN(passiveHeader), passiveHeader+rng.IntN(limit-passiveHeader+1), passiveHeader+rng.IntN(40), limit)
		span, err := seg.Span(uint64(thread*limit), uint64(size))
		if err != nil {
			return err
		}
		hash := letter(uint64(s.me), number<<8|uint64(thread), span.Bytes())
		to := rng.IntN(len(s.members))
		short, cancel := s.cut(ctx, rng, 1+rng.IntN(12))
		err = s.p.PassiveSend(short, s.members[to], span)
		early := gaveUp(ctx, short, err) // and the message is not received
		cancel()
		if err != nil && !early {
			return fmt.Errorf("message of %d bytes to member %d: %w", size, to, err)
		}
		if err == nil && s.mutant("received although withdrawn") && number == 5 {
			err = context.DeadlineExceeded
		}
		if err == nil {
			sent.count[to]++
			sent.sum[to] += hash
		}
		fill(span.Bytes(), ^uint64(number)) // the bytes are the sender's again
		s.did(1)
	}
	return nil
}

// receive takes messages until it is told to stop.
func (b *mailbox) receive(ctx, receiving context.Context, rng *rand.Rand, seg *gaspi.Segment, offset uint64) error {
	limit := uint64(b.p.Config().PassiveMax)
	for {
		room := pick(rng, limit, limit, limit, rng.Uint64N(limit))
		span, err := seg.Span(offset, room)
		if err != nil {
			return err
		}
		short, cancel := b.cut(receiving, rng, 2+rng.IntN(12))
		from, size, err := b.p.PassiveReceive(short, span)
		cancel()
		switch {
		case err == nil:
			if err := b.keep(from, span, size); err != nil {
				return err
			}
		case ctx.Err() != nil:
			return ctx.Err()
		case timeLimit(err) && receiving.Err() != nil:
			return nil
		case !timeLimit(err) && !(errors.Is(err, gaspi.ErrTooLarge) && room < limit):
			return err
		}
	}
}

// keep checks one message.
func (b *mailbox) keep(from gaspi.Rank, span gaspi.Span, size uint64) error {
	if size > span.Len() {
		return fmt.Errorf("a message of %d bytes was received into %d", size, span.Len())
	}
	got := span.Bytes()[:size]
	if b.mutant("torn") && size > passiveHeader+8 {
		got[size-1] ^= 1
	}
	var sender, number uint64
	if size >= passiveHeader {
		sender, number = binary.LittleEndian.Uint64(got), binary.LittleEndian.Uint64(got[8:])
	}
	want := make([]byte, size)
	hash := letter(sender, number, want)
	if at := differ(got, want); at >= 0 {
		return fmt.Errorf("a message of %d bytes from rank %d, number %d, is torn: byte %d is %#x, want %#x", size, from, number, at, got[at], want[at])
	}
	if size >= passiveHeader && (sender >= uint64(len(b.members)) || b.members[sender] != from) {
		return fmt.Errorf("a message of member %d is said to come from rank %d", sender, from)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if id := sender<<32 | number; size >= passiveHeader {
		if b.seen[id] {
			return fmt.Errorf("message %d of member %d was received twice", number, sender)
		}
		b.seen[id] = true
	}
	b.count++
	b.sum += hash
	if b.mutant("lost") && b.count == 4 {
		b.sum -= hash
	}
	return nil
}

// compare holds what came here against what all members say that they have sent here.
func (b *mailbox) compare(ctx context.Context, rng *rand.Rand, sent []ledger) error {
	n := len(b.members)
	sums := make([]uint64, 2*n)
	for _, l := range sent {
		for to := range n {
			sums[2*to] += l.count[to]
			sums[2*to+1] += l.sum[to]
		}
	}
	if err := b.total(ctx, rng, sums); err != nil {
		return err
	}
	if count, sum := sums[2*b.me], sums[2*b.me+1]; count != b.count || sum != b.sum {
		return fmt.Errorf("member %d received %d messages; its peers had %d sends that returned nil; equal as sets: %v",
			b.me, b.count, count, sum == b.sum)
	}
	return nil
}
