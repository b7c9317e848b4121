package boot

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// localHost is the host of ranks that nobody has given one.
const localHost = "0"

// A Local is a job whose ranks are goroutines of this process. It starts none:
// its owner runs the ranks and says when one is gone.
type Local struct {
	hub      *hub
	sessions []*localSession

	mu   sync.Mutex
	kill func(base.Rank)
}

// NewLocal returns a job of n ranks. It panics unless n is at least 1.
func NewLocal(n int) *Local {
	if n < 1 {
		panic(fmt.Sprintf("boot.NewLocal(%d): a job has at least 1 rank", n))
	}
	l := &Local{hub: newHub(n), sessions: make([]*localSession, n)}
	job, key := NewJobID(), auth.NewKey()
	for r := range l.sessions {
		info := Info{Rank: base.Rank(r), Size: n, LocalRank: r, LocalSize: n, Job: job, Host: localHost}
		s := &localSession{inbox: newInbox(info), local: l}
		s.proof.Key = key
		l.sessions[r] = s
		l.hub.attach(info.Rank, s)
	}
	return l
}

// Session returns the session of rank r, the same one at every call.
func (l *Local) Session(r base.Rank) Session { return l.sessions[r] }

// Leave announces to all other sessions that rank r is gone, for the reason in
// f (its Rank is set to r). Only the first call for a rank counts.
func (l *Local) Leave(r base.Rank, f Failure) {
	f.Rank = r
	l.hub.leave(f)
}

// Mute lets rank r hear nothing of the others any more.
func (l *Local) Mute(r base.Rank) { l.hub.detach(r) }

// Orphan ends the session of rank r as the loss of its launcher does.
func (l *Local) Orphan(r base.Rank) {
	l.Mute(r)
	l.sessions[r].finish(ErrLost)
}

// OnKill sets the function that Session.Kill calls, on a goroutine of its own.
// It must make the rank end, and call Leave for it. Without one, Kill is an error.
func (l *Local) OnKill(kill func(base.Rank)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kill = kill
}

// askKill starts the owner's function.
func (l *Local) askKill(r base.Rank) error {
	l.mu.Lock()
	kill := l.kill
	l.mu.Unlock()
	if kill == nil {
		return errors.New("this job has no way to kill a rank (its owner did not set OnKill)")
	}
	go kill(r)
	return nil
}

// A localSession is an inbox that the hub feeds directly.
type localSession struct {
	*inbox
	local *Local
}

// tell takes what the hub says. The hub's values are shared, and get copies them.
func (s *localSession) tell(m message) {
	if err := s.take(m); err != nil {
		panic("boot: the hub says what no rank understands: " + err.Error())
	}
}

func (s *localSession) Put(name string, value []byte) error {
	return s.put(name, value, func() error {
		return s.local.hub.put(s.info.Rank, name, bytes.Clone(value))
	})
}

func (s *localSession) Get(ctx context.Context, r base.Rank, name string) ([]byte, error) {
	return s.get(ctx, r, name, func() error { return s.local.hub.get(s.info.Rank, r, name) })
}

func (s *localSession) Fence(ctx context.Context, name, word string) error {
	_, err := s.Gather(ctx, name, word, "")
	return err
}

func (s *localSession) Gather(ctx context.Context, name, word, part string) ([]string, error) {
	return s.gather(ctx, name, word, part, func() error { return s.local.hub.come(s.info.Rank, name, word, part) })
}

func (s *localSession) Kill(ctx context.Context, r base.Rank) error {
	return s.kill(ctx, r, func() error { return s.local.askKill(r) })
}

// Miss tells nobody: what a rank of this process returns says it.
func (s *localSession) Miss(base.Rank, string) {}

func (s *localSession) Close() error {
	s.local.hub.detach(s.info.Rank)
	s.finish(fmt.Errorf("boot session: %w", base.ErrClosed))
	return nil
}

// NewJobID returns an id that no other job has: 128 random bits as 32
// hexadecimal digits.
func NewJobID() string {
	var b [16]byte
	rand.Read(b[:]) // never returns an error
	return hex.EncodeToString(b[:])
}
