package boot

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

const (
	// lastWords is how long the end of a remote rank's connection may come after
	// somebody else's word that its process has ended.
	lastWords = time.Second
	// vanishPatience is how long a launcher may take to say what became of a rank
	// whose connection has ended without goodbye. It knows better.
	vanishPatience = time.Second
)

// SetHeartbeat sets how long either end of a remote rank's connection may be
// silent before the other one takes it for dead: [DefaultHeartbeat] unless set,
// at least [MinHeartbeat], and 0 for ever. It is called before Serve.
func (s *Server) SetHeartbeat(limit time.Duration) {
	if limit > 0 {
		limit = max(limit, MinHeartbeat)
	}
	s.heartbeat = limit
}

// Check refuses a rank that does not belong to this job, or is served already.
// It is for an [auth.Gate] whose connections go to Serve.
func (s *Server) Check(h auth.Hello) error {
	switch {
	case h.Role != auth.RoleSession:
		return fmt.Errorf("this is the rendezvous of a job, and no place for a %s", h.Role)
	case h.Version != protocolVersion:
		return fmt.Errorf("it speaks version %d of the rendezvous and this side version %d: build all ranks from the same version of the module", h.Version, protocolVersion)
	case h.Job != s.job:
		return fmt.Errorf("it is of job %s; this is job %s", h.Job, s.job)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admissibleLocked(base.Rank(h.From))
}

// Serve speaks to rank r over conn, which it takes, also when it returns an
// error. The rank has proven on conn that it is of this job. From now on,
// silence, or an end of the connection without goodbye, is the death of the
// rank: all others are told, unless Announce has told them something better
// within a second, and OnError hears of it too.
func (s *Server) Serve(conn net.Conn, r base.Rank) error {
	return s.serve(r, conn, true)
}

// noteEnd draws the conclusions when the talk with a rank is over. A launcher
// sees what becomes of the processes of its own host; who is told only by a
// connection must believe the connection.
func (s *Server) noteEnd(l *rankLink, err error) {
	f := Failure{Rank: l.rank}
	bye := errors.Is(err, errBye)
	switch {
	case bye && s.hosted:
		f.Left, f.Reason = true, "it left the job"
		s.hub.leave(f)
		return
	case bye || !l.remote && !s.hosted:
		return
	case errors.Is(err, io.EOF):
		f.Reason = "its connection to the rendezvous ended without goodbye"
	default:
		f.Reason = err.Error()
	}
	if s.hosted {
		s.hub.leave(f)
		return
	}
	time.AfterFunc(s.vanish, func() {
		if !s.isAnnounced(l) && s.hub.leave(f) && errors.Is(err, io.EOF) {
			s.report(f.Rank, errors.New(f.Reason))
		}
	})
}

// isAnnounced reports whether somebody knows what became of the rank of a link, and tells
// all others in its turn.
func (s *Server) isAnnounced(l *rankLink) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.announced
}
