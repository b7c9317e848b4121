package gaspi_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/google/go-cmp/cmp"
)

// In GPI-2 a passive send that times out stays posted, and the two sides
// disagree. Here senders give up after random times of the order of a delivery:
// what the receiver got must be exactly what the senders were told.
func TestGASPIPassiveSendIsWithdrawnExactly(t *testing.T) {
	const n, messages = 4, 3000
	var sent, received [n][]uint64
	seed := rand.Uint64()
	cfg := small
	cfg.Spin, cfg.Yield = -1, -1 // so that a wait looks at its limit at once
	err := gaspi.Local(t.Context(), n, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 64))
		word := must(gaspi.View[uint64](s, 0, 1))
		span := must(s.Span(0, 8))
		if p.Rank() == 0 {
			for open := n - 1; open > 0; {
				from, size, err := p.PassiveReceive(ctx, span)
				ok(err)
				switch {
				case size == 0:
					open--
				default:
					received[from] = append(received[from], word[0])
				}
			}
			return nil
		}
		random := rand.New(rand.NewPCG(seed, uint64(p.Rank())))
		for i := range uint64(messages) {
			word[0] = i
			limited, cancel := context.WithTimeout(ctx, time.Duration(random.IntN(int(2*time.Microsecond))))
			err := p.PassiveSend(limited, 0, span)
			cancel()
			switch {
			case err == nil:
				sent[p.Rank()] = append(sent[p.Rank()], i)
			case !errors.Is(err, context.DeadlineExceeded):
				return err
			}
		}
		return p.PassiveSend(ctx, 0, must(s.Span(0, 0))) // the end
	})
	if err != nil {
		t.Error(err)
	}
	for r := range sent {
		t.Logf("rank %d: %d of %d delivered", r, len(sent[r]), messages)
		if d := cmp.Diff(sent[r], received[r]); d != "" {
			t.Errorf("seed %d, rank %d (-sent +received):\n%s", seed, r, d)
		}
	}
}

// Nobody receives: the limit withdraws the message, and a receiver that comes
// later finds the next one alone.
func TestGASPIDifference9PassiveSendThatTimedOutIsGone(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 64))
		if p.Rank() == 1 {
			copy(s.Bytes(), "onetwo")
			limited, cancel := soon(ctx)
			defer cancel()
			if err := p.PassiveSend(limited, 0, must(s.Span(0, 3))); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "withdrawn") {
				return fmt.Errorf("to nobody: %v, want the deadline, and that it is withdrawn", err)
			}
			tell(p, s, 0, 1)
			ok(p.PassiveSend(ctx, 0, must(s.Span(3, 3))))
			await(ctx, s, 2)
			return nil
		}
		await(ctx, s, 1)
		from, size, err := p.PassiveReceive(ctx, must(s.Span(0, 64)))
		if err != nil || from != 1 || size != 3 || string(s.Bytes()[:3]) != "two" {
			return fmt.Errorf("got %q of rank %d, %v", s.Bytes()[:size], from, err)
		}
		limited, cancel := soon(ctx)
		defer cancel()
		if _, _, err := p.PassiveReceive(limited, must(s.Span(0, 64))); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a second message: %v, want none", err)
		}
		tell(p, s, 1, 2)
		return nil
	})
}

func TestGASPIPassiveTransferSizeMax(t *testing.T) {
	sizes := []uint64{0, 1, 7, 8, 63, 64, 255, 256} // 256 is the maximum of these jobs
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 1024))
		if p.Rank() == 1 {
			for i := range s.Bytes() {
				s.Bytes()[i] = byte(i * 7)
			}
			if err := p.PassiveSend(ctx, 0, must(s.Span(0, 257))); !errors.Is(err, gaspi.ErrTooLarge) {
				return fmt.Errorf("257 bytes: %v, want ErrTooLarge", err)
			}
			if err := p.PassiveSend(ctx, 2, must(s.Span(0, 1))); !errors.Is(err, gaspi.ErrBadRank) {
				return fmt.Errorf("to rank 2 of 2: %v, want ErrBadRank", err)
			}
			for _, n := range sizes {
				ok(p.PassiveSend(ctx, 0, must(s.Span(n, n))))
			}
			return p.PassiveSend(ctx, 0, must(s.Span(0, 100)))
		}
		for _, want := range sizes {
			clear(s.Bytes())
			from, n, err := p.PassiveReceive(ctx, must(s.Span(0, want))) // exactly fits
			if err != nil || from != 1 || n != want {
				return fmt.Errorf("got %d bytes of rank %d, %v; want %d", n, from, err, want)
			}
			for i := range n {
				if s.Bytes()[i] != byte((want+i)*7) {
					return fmt.Errorf("%d bytes: byte %d is %d", want, i, s.Bytes()[i])
				}
			}
		}
		// One that does not fit stays for a receiver with more room.
		if _, _, err := p.PassiveReceive(ctx, must(s.Span(0, 99))); !errors.Is(err, gaspi.ErrTooLarge) || !strings.Contains(err.Error(), "100 bytes") {
			return fmt.Errorf("room for 99 of 100 bytes: %v, want ErrTooLarge and the length", err)
		}
		_, n, err := p.PassiveReceive(ctx, must(s.Span(0, 100)))
		if n != 100 {
			return fmt.Errorf("then got %d bytes, %v", n, err)
		}
		return err
	})
}

func TestPassiveMessageToItself(t *testing.T) {
	bubble(t, 1, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 16))
		copy(s.Bytes(), "hello")
		sent := make(chan error)
		go func() { sent <- p.PassiveSend(ctx, 0, must(s.Span(0, 5))) }()
		from, n, err := p.PassiveReceive(ctx, must(s.Span(8, 8)))
		if err != nil || from != 0 || string(s.Bytes()[8:8+n]) != "hello" {
			return fmt.Errorf("got %q of rank %d, %v", s.Bytes()[8:8+n], from, err)
		}
		return <-sent
	})
}

// A receive whose context has ended looks once, and takes a message that is there.
func TestAnEndedContextReceivesWhatIsThere(t *testing.T) {
	bubble(t, 1, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 16))
		ended, end := context.WithCancel(ctx)
		end()
		for i := range 50 {
			sent := make(chan error)
			go func() { sent <- p.PassiveSend(ctx, 0, must(s.Span(0, 5))) }()
			synctest.Wait()
			if _, _, err := p.PassiveReceive(ended, must(s.Span(8, 8))); err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
			if err := <-sent; err != nil {
				return err
			}
		}
		return nil
	})
}

// Goroutines of one rank send to one peer, several receive: every message
// arrives once.
func TestPassiveFromManyGoroutines(t *testing.T) {
	const senders, each = 3, 100
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 64))
		errs := make(chan error, senders)
		seen := make(chan uint64, senders*each)
		for g := range uint64(senders) {
			span := must(s.Span(8*g, 8))
			go func() {
				for i := range uint64(each) {
					if p.Rank() == 1 {
						binary.LittleEndian.PutUint64(span.Bytes(), g*each+i)
						if err := p.PassiveSend(ctx, 0, span); err != nil {
							errs <- err
							return
						}
						continue
					}
					if _, _, err := p.PassiveReceive(ctx, span); err != nil {
						errs <- err
						return
					}
					seen <- binary.LittleEndian.Uint64(span.Bytes())
				}
				errs <- nil
			}()
		}
		for range senders {
			ok(<-errs)
		}
		if p.Rank() == 0 {
			var got [senders * each]bool
			for range senders * each {
				m := <-seen
				if got[m] {
					return fmt.Errorf("message %d arrived twice", m)
				}
				got[m] = true
			}
		}
		return nil
	})
}

// The queues are the program's: passive messages must do without them.
func TestPassiveNeedsNoQueue(t *testing.T) {
	ranktest.Local(t, 2, small, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.AllocSegment(0, 8))
		for n := range p.Config().Queues {
			ok(p.MustQueue(n).Delete())
		}
		if p.Rank() == 1 {
			return p.PassiveSend(ctx, 0, must(s.Span(0, 8)))
		}
		_, _, err := p.PassiveReceive(ctx, must(s.Span(0, 8)))
		return err
	})
}

// A sender that closes takes its message back, like one whose time is up.
func TestCloseWithdrawsPassiveMessages(t *testing.T) {
	bubble(t, 2, func(ctx context.Context, p *gaspi.Proc) error {
		s := must(p.CreateSegment(ctx, 0, 8))
		if p.Rank() == 1 {
			errs := make(chan error)
			for range 2 { // one is under way, the other waits for its turn
				go func() { errs <- p.PassiveSend(ctx, 0, must(s.Span(0, 8))) }()
			}
			synctest.Wait()
			ok(p.Close())
			for range 2 {
				if err := <-errs; !errors.Is(err, gaspi.ErrClosed) {
					t.Errorf("send when the rank closes: %v, want ErrClosed", err)
				}
			}
			return nil
		}
		quiet(ctx)
		from, n, err := p.PassiveReceive(ctx, must(s.Span(0, 8)))
		if err == nil {
			return fmt.Errorf("got %d bytes of rank %d, which was told that they were not sent", n, from)
		}
		return nil
	})
}
