package boot

import (
	"context"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/internal/base"
)

// An inbox is a rank's half of a session: what it waits for and what it has
// been told. Whoever feeds it (a hub or a connection) never blocks on it.
type inbox struct {
	info     Info
	failures chan Failure  // room for every rank, so that a send never blocks
	done     chan struct{} // closed when the session has ended

	mu        sync.Mutex
	exchanges map[string]*waiting
	kills     map[base.Rank]*waiting
	gone      map[base.Rank]bool
	end       error // why the session ended; nil while it goes on
}

// A waiting is something asked for and not yet answered. Its fields may be read
// once done is closed.
type waiting struct {
	done   chan struct{}
	values [][]byte
	err    error
}

func newInbox(info Info) *inbox {
	return &inbox{
		info:      info,
		failures:  make(chan Failure, info.Size),
		done:      make(chan struct{}),
		exchanges: map[string]*waiting{},
		kills:     map[base.Rank]*waiting{},
		gone:      map[base.Rank]bool{},
	}
}

func (b *inbox) Info() Info               { return b.info }
func (b *inbox) Failures() <-chan Failure { return b.failures }

// exchange waits for the exchange of that name; give is called once, at the
// first call, to send the value.
func (b *inbox) exchange(ctx context.Context, name string, value []byte, give func() error) ([][]byte, error) {
	if err := checkExchange(name, value); err != nil {
		return nil, err
	}
	b.mu.Lock()
	if b.end != nil {
		defer b.mu.Unlock()
		return nil, fmt.Errorf("exchange %q: %w", name, b.end)
	}
	w := b.exchanges[name]
	first := w == nil
	if first {
		w = &waiting{done: make(chan struct{})}
		b.exchanges[name] = w
	}
	b.mu.Unlock()
	if first {
		if err := give(); err != nil {
			b.mu.Lock()
			delete(b.exchanges, name)
			b.mu.Unlock()
			return nil, fmt.Errorf("exchange %q: %w", name, err)
		}
	}
	if err := b.await(ctx, w); err != nil {
		return nil, fmt.Errorf("exchange %q: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.exchanges[name] == w {
		delete(b.exchanges, name)
	}
	if w.err != nil {
		return nil, fmt.Errorf("exchange %q: %w", name, w.err)
	}
	return w.values, nil
}

// kill waits until rank r is gone; ask is called to request it, once for all
// callers that wait at the same time.
func (b *inbox) kill(ctx context.Context, r base.Rank, ask func() error) error {
	if r < 0 || int(r) >= b.info.Size {
		return fmt.Errorf("kill rank %d of a job of %d: %w", r, b.info.Size, base.ErrBadRank)
	}
	if r == b.info.Rank {
		return fmt.Errorf("kill rank %d: a rank cannot kill itself; return or exit instead", r)
	}
	b.mu.Lock()
	if b.gone[r] {
		b.mu.Unlock()
		return nil
	}
	if b.end != nil {
		defer b.mu.Unlock()
		return fmt.Errorf("kill rank %d: %w", r, b.end)
	}
	w := b.kills[r]
	first := w == nil
	if first {
		w = &waiting{done: make(chan struct{})}
		b.kills[r] = w
	}
	b.mu.Unlock()
	if first {
		if err := ask(); err != nil {
			b.killRefused(r, err)
		}
	}
	if err := b.await(ctx, w); err != nil {
		return fmt.Errorf("kill rank %d: %w", r, err)
	}
	if w.err != nil {
		return fmt.Errorf("kill rank %d: %w", r, w.err)
	}
	return nil
}

// await returns nil when w is answered. An answer wins over the end of ctx or
// of the session, so that a caller that only tests sees what is there.
func (b *inbox) await(ctx context.Context, w *waiting) error {
	select {
	case <-w.done:
		return nil
	default:
	}
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-b.done:
	}
	select {
	case <-w.done:
		return nil
	default:
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.end
	}
}

// complete answers an exchange; all belongs to the inbox from now on.
func (b *inbox) complete(name string, all [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.exchanges[name]; w != nil {
		w.values = all
		w.answerLocked()
	}
}

func (b *inbox) exchangeFailed(name string, f Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.exchanges[name]; w != nil {
		w.err = f.rankError()
		w.answerLocked()
	}
}

func (b *inbox) rankGone(f Failure) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone[f.Rank] || b.end != nil {
		return
	}
	b.gone[f.Rank] = true
	b.failures <- f
	if w := b.kills[f.Rank]; w != nil {
		delete(b.kills, f.Rank)
		w.answerLocked()
	}
}

// killRefused answers a kill that will not happen.
func (b *inbox) killRefused(r base.Rank, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.kills[r]; w != nil {
		delete(b.kills, r)
		w.err = err
		w.answerLocked()
	}
}

// finish ends the session for the reason err, and reports whether this call did.
func (b *inbox) finish(err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != nil {
		return false
	}
	b.end = err
	close(b.done)
	close(b.failures)
	return true
}

// answerLocked wakes those who wait for w, once; the inbox's lock is held.
func (w *waiting) answerLocked() {
	select {
	case <-w.done:
	default:
		close(w.done)
	}
}

// checkExchange refuses what the wire could not carry.
func checkExchange(name string, value []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("exchange %q: value has %d bytes; at most %d can be exchanged", name, len(value), MaxValue)
	}
	return nil
}

func checkName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("exchange name %.40q has %d bytes; a name is UTF-8 of 1 to %d bytes", name, len(name), MaxName)
	}
	return nil
}
