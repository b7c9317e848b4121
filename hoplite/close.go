package hoplite

import (
	"context"
	"errors"
	"fmt"
)

// A phase is how far a member is on its way out. Each step but the first two is told to
// the others by a record of no bytes, behind everything that was sent before.
type phase int

const (
	open    phase = iota
	leaving       // makes no calls any more, and serves those who have not got so far
	deaf          // nobody makes calls any more: messages mean nothing, and nothing is put
	gone          // nobody writes to this member any more
)

// forever is the context of waits that others end.
var forever = context.Background()

// Close ends the store. It is collective: it returns when all members that live have
// called it, and until then this rank goes on serving the others. Calls under way, and
// later ones, end with ErrClosed. The bytes of a Ref must not be used any more; its memory may
// read as zeros.
//
// When ctx ends first, Close goes on, and calling it again waits for the rest.
func (s *Store) Close(ctx context.Context) error {
	if err := s.inbox.put(submission{what: leave}); err == nil {
		s.help()
	}
	select {
	case <-s.ended:
	case <-ctx.Done():
		return &Error{Call: "close", Err: ctx.Err()}
	}
	return s.release(ctx)
}

// beginLeaving is the first step of Close. The caller holds mu.
func (s *Store) beginLeaving() {
	if s.phase != open {
		return
	}
	s.phase = leaving
	for id := range s.calls {
		s.core.Cancel(id)
	}
	s.announce()
}

// announce tells all members of a step.
func (s *Store) announce() {
	for i := range s.peers {
		p := &s.peers[i]
		if i == s.me || !p.live || p.mute {
			continue
		}
		l := letter{step: true}
		if s.phase == deaf && p.lane != nil {
			l.ticket = s.flush(i)
		}
		p.out.backlog = append(p.out.backlog, l)
		s.pushMail(i)
	}
}

// advancePhase goes on with Close as far as the others have come. The caller holds mu.
func (s *Store) advancePhase() {
	if s.phase == leaving && len(s.calls) == 0 && s.allAt(leaving) {
		s.phase = deaf
		for _, l := range s.lanes {
			l.held = nil
		}
		s.announce()
	}
	if s.phase == deaf && s.allAt(deaf) && s.delivered() {
		s.phase = gone
		s.inbox.shut(ErrClosed)
	}
}

// allAt reports whether all other members that live have come to a step.
func (s *Store) allAt(p phase) bool {
	for i := range s.peers {
		if other := &s.peers[i]; i != s.me && other.live && !other.mute && other.in.steps < p {
			return false
		}
	}
	return true
}

// delivered reports whether nothing waits for room any more.
func (s *Store) delivered() bool {
	for i := range s.peers {
		if p := &s.peers[i]; p.live && !p.mute && len(p.out.backlog) > 0 {
			return false
		}
	}
	return true
}

// release gives back what the store has taken, once its loop has ended.
func (s *Store) release(ctx context.Context) error {
	if s.releasing.Swap(true) {
		select {
		case <-s.released:
			return nil
		case <-ctx.Done():
			return &Error{Call: "close", Err: ctx.Err()}
		}
	}
	defer close(s.released)
	for _, l := range s.lanes {
		// Others know by now that nothing more comes, or are dead. Puts under way may still be
		// read from the segment.
		_ = l.queue.Wait(ctx)
	}
	for _, l := range s.lanes {
		<-l.ended
	}
	err := errors.Join(s.giveBack(), s.own.Delete())
	if s.broken != nil {
		err = s.broken // the end of the process has taken the rest
	}
	if err != nil {
		return &Error{Call: "close", Err: fmt.Errorf("the store was not closed well: %w", err)}
	}
	return nil
}

// giveBack frees the memory and the queues. Nobody uses them any more.
func (s *Store) giveBack() error {
	var errs []error
	for _, l := range s.lanes {
		l.queue.Purge()
		errs = append(errs, l.queue.Delete())
	}
	if s.queue != nil {
		s.queue.Purge()
		errs = append(errs, s.queue.Delete())
	}
	if s.seg != nil {
		errs = append(errs, s.seg.Delete())
	}
	return errors.Join(errs...)
}
