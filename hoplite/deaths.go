package hoplite

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// killPatience bounds how long the end of a member that cannot be reached is asked for.
const killPatience = 10 * time.Second

// hasEnded reports whether something is to be done about the end of a member. It costs
// two loads while all are healthy.
func (s *Store) hasEnded(p *peer) bool {
	return s.proc.Silent(p.rank) || !p.kill && s.proc.Health(p.rank) == gaspi.Corrupt && !s.leaves(p)
}

// leaves reports whether a member has closed its connections itself, as it does at its normal end,
// of which the job is told next. Another one may find that in Close, where the two part.
func (s *Store) leaves(p *peer) bool {
	f := s.proc.Failure(p.rank)
	return f != nil && f.Left
}

// bury tells the core of the end of a member, after all that it has sent: nothing of it
// arrives any more. The caller holds mu.
//
// A rank is gone once whoever started it says so, and nothing of it arrives once package
// gaspi calls it silent. Before that it may only be that a connection broke, and a rank
// which some take for dead and others not would break the protocol: it is ended for good.
func (s *Store) bury(i int) bool {
	p := &s.peers[i]
	if !s.hasEnded(p) {
		return false
	}
	if !s.proc.Silent(p.rank) {
		p.kill, p.mute = true, true
		go s.kill(i)
		return true
	}
	s.buryNow(i)
	return true
}

func (s *Store) buryNow(i int) {
	p := &s.peers[i]
	if !p.live {
		return
	}
	s.readWords()
	s.readMail(i, math.MaxInt)
	p.live = false
	p.out.backlog, p.out.spare, p.in.part = nil, nil, nil
	s.active = slices.DeleteFunc(s.active, func(t transfer) bool { return int(t.from) == i })
	if s.phase < deaf && s.broken == nil {
		s.core.Down(core.Rank(i))
	}
}

// kill ends a member that cannot be reached. If that fails, it is taken for dead all the
// same: nobody here hears of it any more.
func (s *Store) kill(i int) {
	ctx, cancel := context.WithTimeout(context.Background(), killPatience)
	defer cancel()
	if err := s.proc.Kill(ctx, s.peers[i].rank); err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != gone && s.broken == nil {
		s.buryNow(i)
	}
	s.ring()
}

// leavingMost is how long a member may take to leave, from the moment when it gives up its memory
// until others hear of its end.
const leavingMost = 2 * time.Second

// suspect ends the store with err, which says that a post was refused, unless that is so because its
// member leaves: messages would be missing. The member is p, or nil if any may be it. It does not
// block; the caller holds mu.
func (s *Store) suspect(p *peer, err error) {
	time.AfterFunc(leavingMost, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.phase == gone || s.broken != nil || s.explained(p) {
			return
		}
		s.fail(err)
		s.ring()
	})
}

// explained reports whether p is on its way out, or if it is nil some member.
func (s *Store) explained(p *peer) bool {
	for i := range s.peers {
		if other := &s.peers[i]; i != s.me && (p == nil || p == other) && (!other.live || other.kill || other.in.steps > open) {
			return true
		}
	}
	return false
}
