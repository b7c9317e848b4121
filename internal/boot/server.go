package boot

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/base"
)

// A Server is the launcher's side of the sessions of one job.
type Server struct {
	job  string
	own  auth.Credentials // what it proves with
	hub  *hub
	roll *roll
	kill func(base.Rank) error

	authority  *auth.Authority // hands out the credentials of ranks; nil where they have them already
	hosted     bool            // it is part of rank 0; set before anything is attached
	unresolved error           // why rank 0 cannot find a name of its own; so too
	heartbeat  time.Duration   // how long a remote rank may be silent; set before one is served
	vanish     time.Duration   // how long somebody may take to say better what became of one; so too

	announcing sync.WaitGroup // calls of Announce that wait for last words, or for earlier calls

	mu       sync.Mutex
	told     chan struct{} // closed when all ranks were told of the last end that was announced
	links    []*rankLink   // index is the rank; nil until attached, over a network until its hello
	unjoined []*rankLink   // connections over a network before their hello, and those that ended without
	onError  func(base.Rank, error)
	onMiss   func(by base.Rank, what Failure)
	refusals refusals
	ending   string // why no rank is let in any more; empty while they are
}

// NewServer returns the server of a job of size ranks. It calls kill, from any
// goroutine, when a rank asks for another one (never itself) to be killed; kill
// must make that happen without waiting for it, and an error of it is told to
// the rank that asked.
func NewServer(job string, size int, kill func(base.Rank) error) (*Server, error) {
	if err := checkJob(job); err != nil {
		return nil, err
	}
	if size < 1 {
		return nil, fmt.Errorf("a job of %d ranks; it needs at least 1", size)
	}
	authority := auth.NewAuthority(job)
	told := make(chan struct{})
	close(told)
	return &Server{
		job: job, authority: authority, own: authority.Launcher(), heartbeat: DefaultHeartbeat, vanish: vanishPatience,
		hub: newHub(size), roll: newRoll(size), kill: kill, told: told, links: make([]*rankLink, size),
	}, nil
}

// Credentials returns the credentials of the server: those of the job's launcher, or, in rank
// 0, the key that all ranks have.
func (s *Server) Credentials() auth.Credentials { return s.own }

// Authority hands out the credentials of ranks and agents. A server in rank 0 has none.
func (s *Server) Authority() *auth.Authority { return s.authority }

// OnError sets a function that hears about ranks whose connection was closed
// because of what they sent. It is called from goroutines of the server.
func (s *Server) OnError(report func(base.Rank, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onError = report
}

// OnMiss sets a function that hears which rank another one cannot reach any more, and
// why. It is called from goroutines of the server.
func (s *Server) OnMiss(report func(by base.Rank, what Failure)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onMiss = report
}

// Attach makes the connection of rank r and returns the rank's end of it, to be
// inherited by the process under the number that EnvFD names. The caller closes
// child when the process has been started. A rank can be attached once.
func (s *Server) Attach(r base.Rank) (child *os.File, err error) {
	conn, child, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("connection for rank %d: %w", r, err)
	}
	if err := s.serve(r, conn, false); err != nil {
		child.Close()
		return nil, err
	}
	return child, nil
}

// serve speaks to rank r over conn, which it takes. A rank that has given up a connection over a
// network makes another one, and the two may be served in either order: it is attached over
// the one on which it says hello.
func (s *Server) serve(r base.Rank, conn net.Conn, remote bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admissibleLocked(r); err != nil {
		conn.Close()
		return err
	}
	l := &rankLink{server: s, rank: r, remote: remote, wire: newWire(conn), received: make(chan struct{}), closed: make(chan struct{})}
	if remote {
		s.unjoined = append(s.unjoined, l)
		l.wire.watch(s.heartbeat)
	} else {
		s.links[r] = l
	}
	go l.receiveLoop()
	return nil
}

// hello is the server's first message to a rank, in answer to that of the rank.
func (l *rankLink) hello() message {
	s := l.server
	m := message{Kind: kindHello, Version: protocolVersion, Job: s.job, Rank: l.rank, Size: s.hub.size, Hosted: s.hosted}
	switch {
	case l.remote: // the rank has credentials
		m.Beat = s.heartbeat.Milliseconds()
	case s.authority != nil:
		m.Key = s.authority.Rank(int32(l.rank)).Text()
	default:
		m.Key = s.own.Text()
	}
	return m
}

// admissibleLocked says why rank r cannot be attached, if so.
func (s *Server) admissibleLocked(r base.Rank) error {
	switch {
	case r < 0 || int(r) >= s.hub.size:
		return fmt.Errorf("attach rank %d to a job of %d: %w", r, s.hub.size, base.ErrBadRank)
	case s.ending != "":
		return fmt.Errorf("attach rank %d: %s: %w", r, s.ending, base.ErrClosed)
	case s.links[r] != nil:
		return joinedAlready(r)
	}
	if f := s.hub.failure(r); f != nil {
		return fmt.Errorf("attach rank %d: it is taken for dead: %s", r, f.Reason)
	}
	return nil
}

// joinedAlready refuses one more process that takes itself for rank r.
func joinedAlready(r base.Rank) error {
	return fmt.Errorf("a process has joined as rank %d already: start the program once for each rank, by one starter alone", r)
}

// Announce says that the process of a rank has ended. Messages that the rank had sent before it
// ended still count: they are handled first. All other ranks are told, and calls that need a
// value of the rank fail; for a rank that was served over a network, and for those that are
// announced while others wait for that, it happens up to a second after Announce has returned.
// All ranks are told of ends in the order of these calls, so that a rank that ended because of
// another one comes after it. Only the first call for a rank counts.
func (s *Server) Announce(f Failure) {
	l, before, done := s.enterAnnouncement(f.Rank)
	s.roll.drop(f.Rank)
	if done == nil {
		return
	}
	announce := func() {
		if l != nil {
			l.awaitLastWords()
		}
		<-before
		s.hub.leave(f)
		close(done)
	}
	select {
	case <-before:
		if l == nil || !l.remote {
			announce()
			return
		}
	default:
	}
	s.announcing.Go(announce)
}

// enterAnnouncement notes that the end of a rank is known, and returns its link, nil if there
// is none, the end of the announcement before, and what is to be closed at the end of this
// one: nil if the rank was announced before.
func (s *Server) enterAnnouncement(r base.Rank) (l *rankLink, before <-chan struct{}, done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l = s.links[r]
	if l != nil && l.announced {
		return l, nil, nil
	}
	if l != nil {
		l.announced = true
	}
	before, done = s.told, make(chan struct{})
	s.told = done
	return l, before, done
}

// awaitLastWords returns when what the rank had sent before its process ended was handled. Of
// a remote rank it may be on the way, and then so is the end of its connection.
func (l *rankLink) awaitLastWords() {
	if l.remote {
		select {
		case <-l.received:
			return
		case <-time.After(lastWords):
		}
	}
	l.wire.closeRead()
	<-l.received
}

// Close ends all sessions: a rank that still lives sees its launcher lost. All
// connections are closed when it returns. It waits for kill and for what OnError
// and OnMiss have set, so none of them may call it.
func (s *Server) Close() {
	s.mu.Lock()
	if s.ending == "" {
		s.ending = "the job is over"
	}
	links := slices.Concat(s.links, s.unjoined)
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, l := range links {
		if l == nil {
			continue
		}
		all.Go(func() {
			l.wire.closeRead()
			<-l.closed
		})
	}
	all.Wait()
	s.announcing.Wait()
}

func (s *Server) report(r base.Rank, err error) {
	s.mu.Lock()
	report := s.onError
	s.mu.Unlock()
	if report != nil {
		report(r, err)
	}
}

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
				other.wire.closeRead()
			}
		}
	}
	l.joined = true
	l.wire.send(l.hello())
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
	case errors.As(err, &errSilent{}):
		l.server.report(l.rank, err)
	default:
		l.wire.send(message{Kind: kindError, Reason: err.Error()})
		l.server.report(l.rank, err)
		if !joined {
			l.server.noteRefusal(fmt.Sprintf("rank %d", l.rank), err)
			l.server.dismiss(l.rank, err)
		}
	}
	close(l.received)
	if joined {
		l.server.noteEnd(l, err)
	}
	l.wire.close(goodbyePatience) // Server.Close waits: closing once more would not, for this one
	close(l.closed)
}

// serve returns how the talk with the rank ended.
func (l *rankLink) serve() error {
	for greeted := false; ; greeted = true {
		m, err := l.wire.receive()
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
	case kindPut:
		return l.server.hub.put(l.rank, m.Name, m.Value)
	case kindGet:
		return l.server.hub.get(l.rank, m.Rank, m.Name)
	case kindFence:
		return l.server.hub.come(l.rank, m.Name, m.Word)
	case kindKill:
		return l.handleKill(m.Rank)
	case kindMiss:
		return l.handleMiss(m)
	case kindBye:
		return errBye
	case kindHello:
		return joinedAlready(l.rank) // two have inherited one connection
	case kindError:
		return fmt.Errorf("it closed the connection: %s", m.Reason)
	default:
		return fmt.Errorf("unexpected %s message", m.Kind)
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
		return l.wire.send(message{Kind: kindRefuse, Rank: r, Reason: err.Error()})
	}
	return nil
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

// newsPatience bounds how much later than the others, which may not read, rank 0 of a job
// without a launcher hears that a rank is gone.
const newsPatience = 200 * time.Millisecond

// tell is what the hub calls. It only queues; a wire that no longer sends belongs
// to a rank that is gone or about to be dropped. Rank 0 may exit because another rank is
// gone, and the server with it if it is hosted there: the others are told before.
func (l *rankLink) tell(m message) {
	if l.server.hosted && !l.remote && (m.Kind == kindGone || m.Kind == kindBroken || m.Kind == kindNever) {
		l.wire.sendAfter(l.server.awaitTold, m)
		return
	}
	l.wire.send(m)
}

// awaitTold returns when what the remote ranks were told has been written, after newsPatience
// at most.
func (s *Server) awaitTold() {
	s.mu.Lock()
	links := slices.Clone(s.links)
	s.mu.Unlock()
	late := time.NewTimer(newsPatience)
	defer late.Stop()
	for _, l := range links {
		if l == nil || !l.remote {
			continue
		}
		select {
		case <-l.wire.written():
		case <-l.wire.sent:
		case <-late.C:
			return
		}
	}
}
