package boot

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
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
	kill func(base.Rank) error

	authority *auth.Authority // hands out the credentials of ranks; nil where they have them already
	hosted    bool            // it is part of rank 0; set before anything is attached
	heartbeat time.Duration   // how long a remote rank may be silent; set before one is served
	vanish    time.Duration   // how long somebody may take to say better what became of one; so too

	announcing sync.WaitGroup // calls of Announce that wait for last words

	mu      sync.Mutex
	links   []*link // index is the rank; nil until attached
	onError func(base.Rank, error)
	onMiss  func(by base.Rank, what Failure)
	ending  string // why no rank is let in any more; empty while they are
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
	return &Server{job: job, authority: authority, own: authority.Launcher(), heartbeat: DefaultHeartbeat, vanish: vanishPatience, hub: newHub(size), kill: kill, links: make([]*link, size)}, nil
}

// Credentials are those of the server: of the job's launcher, or, in rank 0, the key that
// all ranks have.
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

// serve speaks to rank r over conn, which it takes.
func (s *Server) serve(r base.Rank, conn net.Conn, remote bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.admissibleLocked(r); err != nil {
		conn.Close()
		return err
	}
	l := &link{server: s, rank: r, remote: remote, wire: newWire(conn), received: make(chan struct{}), closed: make(chan struct{})}
	s.links[r] = l
	hello := message{Kind: kindHello, Version: protocolVersion, Job: s.job, Rank: r, Size: s.hub.size, Hosted: s.hosted}
	switch {
	case remote: // the rank has credentials
		hello.Beat = s.heartbeat.Milliseconds()
	case s.authority != nil:
		hello.Key = s.authority.Rank(int32(r)).Text()
	default:
		hello.Key = s.own.Text()
	}
	l.wire.send(hello)
	if remote {
		l.wire.watch(s.heartbeat)
	}
	s.hub.attach(r, l)
	go l.receiveLoop()
	return nil
}

// admissibleLocked says why rank r cannot be attached, if so.
func (s *Server) admissibleLocked(r base.Rank) error {
	switch {
	case r < 0 || int(r) >= s.hub.size:
		return fmt.Errorf("attach rank %d to a job of %d: %w", r, s.hub.size, base.ErrBadRank)
	case s.ending != "":
		return fmt.Errorf("attach rank %d: %s: %w", r, s.ending, base.ErrClosed)
	case s.links[r] != nil:
		return fmt.Errorf("attach rank %d: it is attached already", r)
	case s.hub.isGone(r):
		return fmt.Errorf("attach rank %d: it is taken for dead", r)
	}
	return nil
}

// Announce says that the process of a rank has ended. What the rank had sent
// before it ended still counts: it is handled first. All other ranks are told,
// and what needs a value of the rank fails; for a rank that was served over a
// network that happens up to a second after Announce has returned. Only the
// first call for a rank counts.
func (s *Server) Announce(f Failure) {
	s.mu.Lock()
	l := s.links[f.Rank]
	again := l != nil && l.announced
	if l != nil {
		l.announced = true
	}
	s.mu.Unlock()
	switch {
	case again:
	case l == nil:
		s.hub.leave(f)
	case !l.remote:
		l.wire.closeRead()
		<-l.received
		s.hub.leave(f)
	default:
		s.announcing.Go(func() {
			// Its last words may be on the way. Then so is the end of its connection.
			select {
			case <-l.received:
			case <-time.After(lastWords):
				l.wire.closeRead()
				<-l.received
			}
			s.hub.leave(f)
		})
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
	links := s.links
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

// A link is the server's end of one rank's connection.
type link struct {
	server   *Server
	rank     base.Rank
	remote   bool // it is reached over a network
	wire     *wire
	received chan struct{} // closed when nothing more will be received
	closed   chan struct{} // closed when the connection is

	announced bool // guarded by the server's mu: somebody knows what became of the rank
}

// errBye is how a handler says that the rank has said goodbye.
var errBye = errors.New("bye")

// receiveLoop serves the rank until it says goodbye, is gone, or sends nonsense.
func (l *link) receiveLoop() {
	err := l.serve()
	l.server.hub.detach(l.rank)
	switch {
	case errors.Is(err, errBye), errors.Is(err, io.EOF):
	case errors.As(err, &errSilent{}):
		l.server.report(l.rank, err)
	default:
		l.wire.send(message{Kind: kindError, Reason: err.Error()})
		l.server.report(l.rank, err)
	}
	close(l.received)
	l.server.noteEnd(l, err)
	l.wire.close(goodbyePatience) // Server.Close waits: closing once more would not, for this one
	close(l.closed)
}

// serve returns how the talk with the rank ended.
func (l *link) serve() error {
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

func (l *link) handle(m message, greeted bool) error {
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
	case kindError:
		return fmt.Errorf("it closed the connection: %s", m.Reason)
	default:
		return fmt.Errorf("unexpected %s message", m.Kind)
	}
}

func (l *link) handleHello(m message) error {
	switch {
	case m.Kind == kindError:
		return fmt.Errorf("it closed the connection: %s", m.Reason)
	case m.Kind != kindHello:
		return fmt.Errorf("it began with a %s message, not with hello", m.Kind)
	case m.Job != l.server.job || m.Rank != l.rank || m.Size != l.server.hub.size:
		return fmt.Errorf("it takes itself for rank %d of %d of job %s; it is rank %d of %d of job %s",
			m.Rank, m.Size, m.Job, l.rank, l.server.hub.size, l.server.job)
	}
	return nil
}

func (l *link) handleKill(r base.Rank) error {
	if r == l.rank || int(r) >= l.server.hub.size {
		return fmt.Errorf("request to kill rank %d from rank %d of a job of %d", r, l.rank, l.server.hub.size)
	}
	if l.server.hub.isGone(r) {
		return nil // the announcement is already on its way
	}
	if err := l.server.kill(r); err != nil {
		return l.wire.send(message{Kind: kindRefuse, Rank: r, Reason: err.Error()})
	}
	return nil
}

func (l *link) handleMiss(m message) error {
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
// to a rank that is gone or about to be dropped.
func (l *link) tell(m message) { l.wire.send(m) }
