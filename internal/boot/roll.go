package boot

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A roll says which ranks of a job have come: joined, or left without.
type roll struct {
	mu    sync.Mutex
	came  []bool        // index is the rank
	left  int           // ranks that have not come
	begun chan struct{} // closed when the first has joined
	full  chan struct{} // closed when all have
}

func newRoll(size int) *roll {
	return &roll{came: make([]bool, size), left: size, begun: make(chan struct{}), full: make(chan struct{})}
}

// join notes that rank r has joined.
func (l *roll) join(r base.Rank) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.begun:
	default:
		close(l.begun)
	}
	l.noteLocked(r)
}

// drop notes that rank r has ended: nobody waits for it any more.
func (l *roll) drop(r base.Rank) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteLocked(r)
}

func (l *roll) noteLocked(r base.Rank) {
	if l.came[r] {
		return
	}
	l.came[r] = true
	l.left--
	if l.left == 0 {
		close(l.full)
	}
}

// missing returns the ranks that have not come, in order.
func (l *roll) missing() []base.Rank {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []base.Rank
	for r, came := range l.came {
		if !came {
			out = append(out, base.Rank(r))
		}
	}
	return out
}

// text names the ranks that have not come.
func (l *roll) text() string { return missingText(l.missing(), len(l.came)) }

// AwaitAll blocks until all ranks have joined or are gone, or stop is closed. Once the
// first has joined, wait hears after 10 s, and then every minute, which are missing. Those
// that are missing after limit are taken for dead, so that the others do not wait for
// them; a limit of 0 is none.
func (s *Server) AwaitAll(stop <-chan struct{}, limit time.Duration, wait func(line string)) {
	var end <-chan time.Time
	if limit > 0 {
		end = time.After(limit)
	}
	done := make(chan struct{})
	var reminding sync.WaitGroup
	reminding.Go(func() {
		select {
		case <-s.roll.begun:
			reports{wait: wait}.remind(done, s.roll.text)
		case <-done:
		}
	})
	select {
	case <-s.roll.full:
	case <-stop:
	case <-end:
		s.giveUp(limit)
	}
	close(done)
	reminding.Wait()
}

// giveUp takes the ranks that have not come for dead, and says what is known of why.
func (s *Server) giveUp(limit time.Duration) {
	missing := s.roll.missing()
	reason := fmt.Sprintf("it has not joined: waiting for %s ended after %v, the limit of %s%s",
		missingText(missing, s.hub.size), limit, EnvJoinTimeout, s.circumstances(missing))
	for _, r := range missing {
		s.hub.leave(Failure{Rank: r, Reason: reason})
	}
}

// An errOtherSize says that a rank of this job takes it for one of another number of ranks.
type errOtherSize struct{ error }

// mistaken says how a rank differs from the one that its connection is for.
func (l *rankLink) mistaken(m message) error {
	s := l.server
	err := fmt.Errorf("it takes itself for rank %d of %d of job %s; it is rank %d of %d of job %s", m.Rank, m.Size, m.Job, l.rank, s.hub.size, s.job)
	if m.Job == s.job && m.Rank == l.rank {
		return errOtherSize{err}
	}
	return err
}

// dismiss takes a rank that has not come for dead if the job has another size for it: the job
// cannot become whole, so nobody waits for the rank until the limit. A launcher knows better what
// becomes of its ranks, and tells them the size itself.
func (s *Server) dismiss(r base.Rank, why error) {
	if !s.hosted || !errors.As(why, &errOtherSize{}) || !slices.Contains(s.roll.missing(), r) {
		return
	}
	s.roll.drop(r)
	s.hub.leave(Failure{Rank: r, Reason: fmt.Sprintf("it has not joined: %v: set the same %s for all ranks", why, EnvSize)})
}

// circumstances says which ranks have come, who was refused, and whether rank 0 knows its
// own address.
func (s *Server) circumstances(missing []base.Rank) string {
	var text strings.Builder
	if came := others(missing, s.hub.size); len(came) > 0 {
		verb := "have"
		if len(came) == 1 {
			verb = "has"
		}
		fmt.Fprintf(&text, "; %s %s come", ranksText(came), verb)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r := s.refusals; r.count {
	case 0:
	case 1:
		text.WriteString("; a connection was refused, " + r.first)
	default:
		fmt.Fprintf(&text, "; %d connections were refused, the first %s", r.count, r.first)
	}
	if s.unresolved != nil {
		fmt.Fprintf(&text, "; rank 0 cannot find where it is to be reached itself: %v", s.unresolved)
	}
	return text.String()
}

// refusals are the connections that were refused.
type refusals struct {
	count int
	first string // from where it came, and why it was refused
}

// noteRefusal notes that somebody who came from somewhere was refused.
func (s *Server) noteRefusal(from string, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusals.count == 0 {
		s.refusals.first = fmt.Sprintf("from %s: %.200s", from, why.Error())
	}
	s.refusals.count++
}
