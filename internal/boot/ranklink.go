package boot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/control"
)

// A rankLink is the server's end of one rank's connection.
type rankLink struct {
	server   *Server
	rank     base.Rank
	remote   bool // it is reached over a network
	wire     *wire
	received chan struct{} // closed when nothing more will be received
	closed   chan struct{} // closed when the connection is

	joined    bool // guarded by the server's mu: the rank uses this connection and no other
	announced bool // guarded by the server's mu: somebody knows what became of the rank

	ends   sync.Mutex
	untold []message // guarded by ends: ranks that are gone, of which this one was not told yet
}

// join answers the hello of the rank, from which on it is there, and ends the other connections
// of the rank, which it has given up. It fails if the rank is there already, or was taken for
// dead meanwhile.
func (l *rankLink) join() error {
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.remote {
		if err := s.admissibleLocked(l.rank); err != nil {
			return err
		}
		s.links[l.rank] = l
		s.unjoined = slices.DeleteFunc(s.unjoined, func(other *rankLink) bool { return other == l })
		for _, other := range s.unjoined {
			if other.rank == l.rank {
				other.wire.CloseRead()
			}
		}
	}
	l.joined = true
	l.wire.Send(l.hello())
	s.hub.attach(l.rank, l)
	return nil
}

// detach makes the hub say no more over l, and reports whether the rank had joined over it.
// A rank that had not may still join over another connection: an answer to its handshake may
// have come too late for it.
func (l *rankLink) detach() bool {
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.joined {
		s.hub.detach(l.rank)
	}
	return l.joined
}

// errBye is how a handler says that the rank has said goodbye.
var errBye = errors.New("bye")

// receiveLoop serves the rank until it says goodbye, is gone, or sends nonsense.
func (l *rankLink) receiveLoop() {
	err := l.serve()
	joined := l.detach()
	switch {
	case errors.Is(err, errBye), errors.Is(err, io.EOF):
	case errors.As(err, new(control.SilentError)):
		l.server.report(l.rank, err)
	default:
		l.wire.Send(message{Kind: kindError, Reason: err.Error()})
		l.server.report(l.rank, err)
		if !joined {
			l.server.noteRefusal(fmt.Sprintf("rank %d", l.rank), err)
			l.server.dismiss(l.rank, err)
		}
	}
	close(l.received)
	if joined {
		l.server.questions.lose(l.rank)
		l.server.noteEnd(l, err)
	}
	l.wire.Close() // Server.Close waits: closing once more would not, for this one
	close(l.closed)
}

// serve returns how the talk with the rank ended.
func (l *rankLink) serve() error {
	for greeted := false; ; greeted = true {
		m, err := l.wire.Receive()
		if err != nil {
			return err
		}
		if err := l.handle(m, greeted); err != nil {
			return err
		}
	}
}

func (l *rankLink) handle(m message, greeted bool) error {
	if !greeted {
		return l.handleHello(m)
	}
	switch m.Kind {
	case kindKill:
		return l.handleKill(m.Rank)
	case kindMiss:
		return l.handleMiss(m)
	case kindAnswer:
		return l.server.questions.answer(l.rank, m)
	case kindBye:
		return errBye
	case kindHello:
		return joinedAlready(l.rank) // two have inherited one connection
	case kindError:
		return fmt.Errorf("it closed the connection: %s", m.Reason)
	default:
		return l.server.hub.take(l.rank, m)
	}
}

func (l *rankLink) handleHello(m message) error {
	switch {
	case m.Kind == kindError:
		return fmt.Errorf("it closed the connection: %s", m.Reason)
	case m.Kind != kindHello:
		return fmt.Errorf("it began with a %s message, not with hello", m.Kind)
	case m.Job != l.server.job || m.Rank != l.rank || m.Size != l.server.hub.size:
		return l.mistaken(m)
	}
	if err := l.join(); err != nil {
		return err
	}
	l.server.roll.join(l.rank)
	return nil
}

func (l *rankLink) handleKill(r base.Rank) error {
	if r == l.rank || int(r) >= l.server.hub.size {
		return fmt.Errorf("request to kill rank %d from rank %d of a job of %d", r, l.rank, l.server.hub.size)
	}
	if l.server.hub.failure(r) != nil {
		return nil // the announcement is already on its way
	}
	if err := l.server.kill(r); err != nil {
		return l.say(message{Kind: kindRefuse, Rank: r, Reason: err.Error()})
	}
	return nil
}

// say queues m, or returns why it cannot be sent.
func (l *rankLink) say(m message) error {
	return cmp.Or(l.wire.Send(m), l.wire.Err())
}

func (l *rankLink) handleMiss(m message) error {
	if m.Rank == l.rank || int(m.Rank) >= l.server.hub.size {
		return fmt.Errorf("rank %d cannot be reached from rank %d, of a job of %d", m.Rank, l.rank, l.server.hub.size)
	}
	l.server.mu.Lock()
	report := l.server.onMiss
	l.server.mu.Unlock()
	if report != nil {
		report(l.rank, Failure{Rank: m.Rank, Reason: m.Reason})
	}
	return nil
}

// tell is what the hub calls. It only queues; a wire that no longer sends belongs
// to a rank that is gone or about to be dropped. Rank 0 may exit because another rank is
// gone, and the server with it if it is hosted there: the others are told before.
func (l *rankLink) tell(m message) {
	if l.server.hosted && !l.remote && (m.Kind == kindGone || m.Kind == kindBroken || m.Kind == kindNever) {
		l.wire.SendAfter(l.server.awaitTold, m)
		return
	}
	if m.Kind != kindGone {
		l.wire.Send(m)
		return
	}
	l.ends.Lock()
	l.untold = append(l.untold, m)
	l.ends.Unlock()
	l.wire.SendLate(l.takeEnds)
}

// takeEnds returns the messages about ranks that are gone which the rank is to be told, in order. Ranks
// that ended alike one after the other are in one message: most of a job ends at a time.
func (l *rankLink) takeEnds() []message {
	l.ends.Lock()
	defer l.ends.Unlock()
	var merged []message
	for _, m := range l.untold {
		if n := len(merged); n > 0 && merged[n-1].Left == m.Left && merged[n-1].Reason == m.Reason {
			merged[n-1].Also = append(merged[n-1].Also, m.Rank)
			continue
		}
		merged = append(merged, m)
	}
	l.untold = nil
	return merged
}
