package boot

import (
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

// A Server is the launcher's side of the sessions of one job.
type Server struct {
	job  string
	own  auth.Credentials // what it proves with
	hub  *hub
	roll *roll
	kill func(base.Rank) error

	questions  questions
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
	if err := CheckJob(job); err != nil {
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
		l.wire.Watch(heartbeat(s.heartbeat))
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

// Beginning says who waits for whom in the beginning of the session, where all ranks meet: since when each rank has
// waited for the others, the zero time of one that does not, and which ranks have not joined. It returns nil for since
// when nobody waits there, as once all have come.
func (s *Server) Beginning() (since []time.Time, absent []base.Rank) {
	return s.hub.waiting(), s.roll.missing()
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
	l.wire.CloseRead()
	<-l.received
}

// newsPatience bounds how much later than the others, which may not read, rank 0 of a job
// without a launcher hears that a rank is gone.
const newsPatience = 200 * time.Millisecond

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
		case <-l.wire.Written():
		case <-late.C:
			return
		}
	}
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
			l.wire.CloseRead()
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
