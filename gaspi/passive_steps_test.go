package gaspi

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/transport"
)

// These tests let one step of a passive message fail or come late. Rank 1 sends to rank 0 by a
// link that the test controls.

// A knobbedLink is a link whose next steps can be made to fail or to wait.
type knobbedLink struct {
	transport.Link
	notify error         // of the next Notify; nil: none
	answer chan struct{} // the next Atomic is in doubt until it is closed; nil: none
}

func (l *knobbedLink) Notify(q *transport.Queue, f transport.Flag) error {
	if err := l.notify; err != nil {
		l.notify = nil
		return err
	}
	return l.Link.Notify(q, f)
}

func (l *knobbedLink) Atomic(ctx context.Context, at transport.Addr, op transport.AtomicOp, operand, compare uint64) (uint64, error) {
	answer := l.answer
	if answer == nil {
		return l.Link.Atomic(ctx, at, op, operand, compare)
	}
	l.answer = nil
	<-ctx.Done()
	return 0, base.InDoubt(ctx.Err(), func(ctx context.Context) (uint64, error) {
		select {
		case <-answer:
			return l.Link.Atomic(ctx, at, op, operand, compare)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}

// passivePair runs steps in a bubble with the two ranks, their spans, and the link.
func passivePair(t *testing.T, steps func(ctx context.Context, p [2]*Proc, src, dst Span, l *knobbedLink)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Segments: 2, Groups: 1, Notifications: 8, PassiveMax: 64, Spin: -1, Yield: -1}
		joined, over := make(chan *Proc), make(chan struct{})
		var done error
		go func() {
			done = Local(t.Context(), 2, cfg, func(_ context.Context, p *Proc) error {
				joined <- p
				<-over
				return nil
			})
			close(joined)
		}()
		var p [2]*Proc
		for range p {
			one := <-joined
			p[one.rank] = one
		}
		link, err := p[1].link(0)
		fatal(t, err)
		l := &knobbedLink{Link: link}
		p[1].links[0].Store(&route{Link: l})
		var spans [2]Span
		for r := range p {
			s, err := p[r].AllocSegment(0, 64)
			fatal(t, err)
			spans[r], err = s.Span(0, 64)
			fatal(t, err)
		}
		steps(t.Context(), p, spans[1], spans[0], l)
		close(over)
		<-joined
		fatal(t, done)
	})
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// send sends text from rank 1 and tells how that ended.
func send(ctx context.Context, p *Proc, src Span, text string) chan error {
	ended := make(chan error, 1)
	part, err := src.Sub(0, uint64(len(text)))
	if err != nil {
		panic(err)
	}
	copy(part.Bytes(), text)
	go func() { ended <- p.PassiveSend(ctx, 0, part) }()
	return ended
}

// onlyReceives fails the test unless text is what rank 0 receives next, and all.
func onlyReceives(t *testing.T, ctx context.Context, p [2]*Proc, src, dst Span, text string) {
	t.Helper()
	sent := send(ctx, p[1], src, text)
	from, n, err := p[0].PassiveReceive(ctx, dst)
	if got := string(dst.Bytes()[:n]); err != nil || from != 1 || got != text {
		t.Errorf("received %q of rank %d, %v; want %q", got, from, err, text)
	}
	if err := <-sent; err != nil {
		t.Errorf("the sender: %v", err)
	}
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, n, err := p[0].PassiveReceive(limited, dst); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("then received %q, %v; want nothing", dst.Bytes()[:n], err)
	}
}

func TestArrivalThatCannotBePosted(t *testing.T) {
	passivePair(t, func(ctx context.Context, p [2]*Proc, src, dst Span, l *knobbedLink) {
		l.notify = errors.New("no way")
		if err := <-send(ctx, p[1], src, "first"); err == nil || !strings.Contains(err.Error(), "withdrawn: no way") {
			t.Errorf("%v, want that it is withdrawn, and why", err)
		}
		onlyReceives(t, ctx, p, src, dst, "2nd")
	})
}

// The exchange that announces a message is answered after the context has ended. The send
// ends behind it, and the message is withdrawn.
func TestAnnouncementThatIsLate(t *testing.T) {
	passivePair(t, func(ctx context.Context, p [2]*Proc, src, dst Span, l *knobbedLink) {
		answer := make(chan struct{})
		l.answer = answer
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		sent := send(limited, p[1], src, "first")
		<-limited.Done()
		synctest.Wait()
		select {
		case err := <-sent:
			t.Errorf("it ended with %v before its announcement, which comes later", err)
		default:
		}
		close(answer)
		if err := <-sent; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "withdrawn") {
			t.Errorf("%v, want the deadline, and that it is withdrawn", err)
		}
		onlyReceives(t, ctx, p, src, dst, "2nd")
	})
}

// A message that the receiver copies is not the sender's any more: neither the context nor
// the end of the launcher ends the send before the receipt.
func TestSendWaitsForTheCopy(t *testing.T) {
	passivePair(t, func(ctx context.Context, p [2]*Proc, src, dst Span, _ *knobbedLink) {
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		sent := send(limited, p[1], src, "first")
		synctest.Wait()
		n, ticket, err := p[0].claim(1, dst)
		if err != nil || ticket == 0 || string(dst.Bytes()[:n]) != "first" {
			t.Fatalf("claimed %q, %v", dst.Bytes()[:n], err)
		}
		<-limited.Done()
		p[1].loss.Store(&launcherLoss{boot.ErrLost})
		p[1].wakeAll()
		synctest.Wait()
		select {
		case err := <-sent:
			t.Errorf("it ended with %v while the receiver copies", err)
		default:
		}
		back, err := p[0].link(1)
		fatal(t, err)
		p[0].receipt(back, 1, ticket)
		if err := <-sent; err != nil {
			t.Errorf("%v, though it was received", err)
		}
		p[1].loss.Store(nil)
	})
}

// lateWire does not know the way to a rank at first.
type lateWire struct {
	transport.Transport
	fails int
}

func (w *lateWire) Link(r base.Rank) (transport.Link, error) {
	if w.fails--; w.fails >= 0 {
		return nil, errors.New("where it is, is not known yet")
	}
	return w.Transport.Link(r)
}

// A receive that cannot tell its sender leaves the message for the next one.
func TestReceiverThatCannotTell(t *testing.T) {
	passivePair(t, func(ctx context.Context, p [2]*Proc, src, dst Span, _ *knobbedLink) {
		p[0].links[1].Store(nil)
		p[0].wire.Transport = &lateWire{Transport: p[0].wire.Transport, fails: 1}
		sent := send(ctx, p[1], src, "first")
		if _, _, err := p[0].PassiveReceive(ctx, dst); err == nil {
			t.Error("no error, but the sender cannot be told")
		}
		if _, n, err := p[0].PassiveReceive(ctx, dst); err != nil || string(dst.Bytes()[:n]) != "first" {
			t.Errorf("received %q, %v", dst.Bytes()[:n], err)
		}
		if err := <-sent; err != nil {
			t.Errorf("the sender: %v", err)
		}
	})
}
