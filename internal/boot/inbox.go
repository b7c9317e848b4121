package boot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// An inbox is a rank's half of a session: all of it but how messages travel and how it ends. The
// hub or connection that feeds it never blocks on it.
type inbox struct {
	info Info
	// send takes what the rank says to the hub, and returns why it is refused. A connection that
	// no longer sends is no error: the session is about to end, and a caller that waits learns
	// the reason. It is set before the session begins.
	send     func(message) error
	proof    auth.Credentials
	failures chan Failure  // room for every rank, so that a send never blocks
	done     chan struct{} // closed when the session has ended

	mu   sync.Mutex
	asks map[ask]*waiting
	puts map[string]bool // names that this rank has put
	gone map[base.Rank]bool
	end  error // why the session ended; nil while it goes on
}

// An ask is what can be waited for. kind is that of the message that asks.
type ask struct {
	kind string
	rank base.Rank // for get and kill
	name string    // for all but kill
}

// String says it in an error.
func (a ask) String() string {
	switch a.kind {
	case kindGet:
		return fmt.Sprintf("value %q of rank %d", a.name, a.rank)
	case kindKill:
		return fmt.Sprintf("kill rank %d", a.rank)
	}
	return fmt.Sprintf("%s %q", a.kind, a.name)
}

// A waiting is something asked for and not yet answered. Its fields may be read
// once done is closed.
type waiting struct {
	done  chan struct{}
	value []byte // of a get
	err   error
}

func newInbox(info Info) *inbox {
	return &inbox{
		info:     info,
		failures: make(chan Failure, info.Size),
		done:     make(chan struct{}),
		asks:     map[ask]*waiting{},
		puts:     map[string]bool{},
		gone:     map[base.Rank]bool{},
	}
}

func (b *inbox) Info() Info                    { return b.info }
func (b *inbox) Credentials() auth.Credentials { return b.proof }
func (b *inbox) Failures() <-chan Failure      { return b.failures }

// wait returns the answer to a, which m asks for. m is sent once for all callers
// that wait at the same time, and for those that come back because their
// context had ended. Only the answer to a get is kept for later callers.
func (b *inbox) wait(ctx context.Context, a ask, m message) ([]byte, error) {
	b.mu.Lock()
	if a.kind == kindKill && b.gone[a.rank] {
		b.mu.Unlock()
		return nil, nil
	}
	if b.end != nil {
		defer b.mu.Unlock()
		return nil, fmt.Errorf("%s: %w", a, b.end)
	}
	w := b.asks[a]
	first := w == nil
	if first {
		w = &waiting{done: make(chan struct{})}
		b.asks[a] = w
	}
	b.mu.Unlock()
	if first {
		if err := b.send(m); err != nil {
			b.answer(a, nil, err)
		}
	}
	if err := b.await(ctx, w); err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asks[a] == w && a.kind != kindGet {
		delete(b.asks, a)
	}
	if w.err != nil {
		return nil, fmt.Errorf("%s: %w", a, w.err)
	}
	return w.value, nil
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

// Put implements Session.
func (b *inbox) Put(name string, value []byte) error {
	if err := checkNamed(name, value); err != nil {
		return fmt.Errorf("put: %w", err)
	}
	if err := b.claim(name); err != nil {
		return fmt.Errorf("put %q: %w", name, err)
	}
	if err := b.send(message{Kind: kindPut, Rank: b.info.Rank, Name: name, Value: value}); err != nil {
		return fmt.Errorf("put %q: %w", name, err)
	}
	return nil
}

// claim notes that this rank puts a value of that name.
func (b *inbox) claim(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.end != nil:
		return b.end
	case b.puts[name]:
		return errors.New("this rank has put a value of that name before, and others may hold it: choose another name")
	case len(b.puts) == maxPuts:
		return fmt.Errorf("this rank has put %d values, which is the limit", maxPuts)
	}
	b.puts[name] = true
	return nil
}

// Get implements Session.
func (b *inbox) Get(ctx context.Context, r base.Rank, name string) ([]byte, error) {
	a := ask{kind: kindGet, rank: r, name: name}
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	if r < 0 || int(r) >= b.info.Size {
		return nil, fmt.Errorf("%s of a job of %d: %w", a, b.info.Size, base.ErrBadRank)
	}
	value, err := b.wait(ctx, a, message{Kind: kindGet, Rank: r, Name: name})
	if err != nil {
		return nil, err
	}
	return bytes.Clone(value), nil
}

// Fence implements Session.
func (b *inbox) Fence(ctx context.Context, name, word string) error {
	_, err := b.Gather(ctx, name, word, "")
	return err
}

// Gather implements Session.
func (b *inbox) Gather(ctx context.Context, name, word, part string) ([]string, error) {
	if err := checkFence(name, word, part); err != nil {
		return nil, err
	}
	packed, err := b.wait(ctx, ask{kind: kindFence, name: name},
		message{Kind: kindFence, Rank: b.info.Rank, Name: name, Word: word, Part: part})
	if err != nil {
		return nil, err
	}
	return unpackParts(packed, b.info.Size)
}

// Kill implements Session.
func (b *inbox) Kill(ctx context.Context, r base.Rank) error {
	a := ask{kind: kindKill, rank: r}
	if r < 0 || int(r) >= b.info.Size {
		return fmt.Errorf("%s of a job of %d: %w", a, b.info.Size, base.ErrBadRank)
	}
	if r == b.info.Rank {
		return fmt.Errorf("%s: a rank cannot kill itself; return or exit instead", a)
	}
	_, err := b.wait(ctx, a, message{Kind: kindKill, Rank: r})
	return err
}

// Miss implements Session.
func (b *inbox) Miss(r base.Rank, reason string) {
	_ = b.send(message{Kind: kindMiss, Rank: r, Reason: reason}) // nobody waits for it
}

// take notes what the hub says. It keeps what m refers to.
func (b *inbox) take(m message) error {
	f := Failure{Rank: m.Rank, Left: m.Left, Reason: m.Reason}
	switch m.Kind {
	case kindValue:
		value := m.Value
		if value == nil {
			value = []byte{}
		}
		b.answer(ask{kind: kindGet, rank: m.Rank, name: m.Name}, value, nil)
	case kindNever:
		b.answer(ask{kind: kindGet, rank: m.Rank, name: m.Name}, nil, f.rankError())
	case kindFenced:
		var err error
		if m.Reason != "" {
			err = fmt.Errorf("%w: %s", base.ErrMismatch, m.Reason)
		}
		b.answer(ask{kind: kindFence, name: m.Name}, m.Value, err)
	case kindBroken:
		b.answer(ask{kind: kindFence, name: m.Name}, nil, f.rankError())
	case kindGone:
		b.rankGone(f)
		for _, f.Rank = range m.Also {
			b.rankGone(f)
		}
	case kindRefuse:
		b.answer(ask{kind: kindKill, rank: m.Rank}, nil, errors.New(m.Reason))
	default:
		return fmt.Errorf("unexpected %s message", m.Kind)
	}
	return nil
}

// answer wakes those who wait for a, if there are any; it keeps value.
func (b *inbox) answer(a ask, value []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answerLocked(a, value, err)
}

func (b *inbox) answerLocked(a ask, value []byte, err error) {
	w := b.asks[a]
	if w == nil {
		return
	}
	select {
	case <-w.done: // the first answer counts
	default:
		w.value, w.err = value, err
		close(w.done)
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
	b.answerLocked(ask{kind: kindKill, rank: f.Rank}, nil, nil)
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

// Lost returns why the session has ended if its server went away, else nil. A caller that sees
// the channel of failures closed sees this too.
func (b *inbox) Lost() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !errors.Is(b.end, ErrLost) {
		return nil
	}
	return b.end
}

// checkNamed refuses what the wire could not carry.
func checkNamed(name string, value []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if len(value) > MaxValue {
		return fmt.Errorf("value %q has %d bytes; it can have at most %d", name, len(value), MaxValue)
	}
	return nil
}

func checkFence(name, word, part string) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("fence: %w", err)
	}
	if len(word) > MaxWord || !utf8.ValidString(word) {
		return fmt.Errorf("fence %q: word %.40q has %d bytes; a word is UTF-8 of at most %d bytes", name, word, len(word), MaxWord)
	}
	if len(part) > MaxPart || !utf8.ValidString(part) || strings.Contains(part, partEnd) {
		return fmt.Errorf("fence %q: part %.40q has %d bytes; a part is UTF-8 of at most %d bytes without line feeds", name, part, len(part), MaxPart)
	}
	return nil
}

func checkName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("name %.40q has %d bytes; a name is UTF-8 of 1 to %d bytes", name, len(name), MaxName)
	}
	return nil
}
