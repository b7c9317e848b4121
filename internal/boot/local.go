package boot

import (
	"bytes"
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
		s.proof.Key, s.send = key, s.say
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

// say hands the hub what this rank says. Whom it misses is told to nobody: what a rank of this
// process returns says it.
func (s *localSession) say(m message) error {
	switch m.Kind {
	case kindKill:
		return s.local.askKill(m.Rank)
	case kindMiss:
		return nil
	}
	m.Value = bytes.Clone(m.Value)
	return s.local.hub.take(s.info.Rank, m)
}

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
