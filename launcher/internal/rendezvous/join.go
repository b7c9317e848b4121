package rendezvous

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/phrase"
	"github.com/gaspi-go/gaspi-go/launcher/internal/agent"
)

// Join reaches node 0, as another node, and proves the key, as often as it takes within the limit.
func Join(ctx context.Context, m Meeting) (net.Conn, error) {
	var secure *tls.Config
	if m.TLS {
		var err error
		if _, secure, err = m.Key.TLS(m.Key.JobID()); err != nil {
			return nil, err
		}
	}
	attempts, over := make(chan reached), make(chan struct{})
	defer close(over)
	go attemptLoop(agent.NodeContact(m.Key.JobID(), m.Address, m.Number, m.Key), secure, attempts, over)
	wait := newPatience(m.Limit)
	defer wait.stop()
	why, stranger := errors.New("no answer yet"), false
	for {
		select {
		case r := <-attempts:
			if r.err == nil {
				return r.conn, nil
			}
			if why = r.err; errors.Is(why, auth.ErrRefused) {
				return nil, fmt.Errorf("node 0 at %s: %w", m.Address, why)
			}
			if errors.Is(why, auth.ErrUnproven) && !stranger {
				stranger = true
				m.Notice(fmt.Sprintf("at %s there is not node 0 of this job (%v); trying on", m.Address, why))
			}
		case <-wait.word.C:
			m.Notice(fmt.Sprintf("waiting for node 0 at %s (%v) for %s", m.Address, why, phrase.Limit(wait.passed())))
		case <-wait.over:
			return nil, fmt.Errorf("no node 0 at %s after %s (%w): is it started, with the same key, and can this host reach it? a longer wait is --join-timeout", m.Address, phrase.Limit(wait.limit), why)
		case <-ctx.Done():
			return nil, ctx.Err()
		case sig := <-m.Caught.Channel():
			if err := m.Caught.Early(sig); err != nil {
				return nil, err
			}
		}
	}
}

// reached is what one attempt to reach node 0 has come to.
type reached struct {
	conn net.Conn
	err  error
}

// attemptLoop tries again and again until it succeeds, is refused, or nobody listens.
func attemptLoop(c agent.Contact, secure *tls.Config, attempts chan<- reached, over <-chan struct{}) {
	for {
		conn, _, err := c.Attempt(secure)
		select {
		case attempts <- reached{conn, err}:
			if err == nil || errors.Is(err, auth.ErrRefused) {
				return
			}
		case <-over:
			if err == nil {
				conn.Close()
			}
			return
		}
		select {
		case <-time.After(agent.Headway):
		case <-over:
			return
		}
	}
}

// The times at which somebody who waits says so.
const (
	firstWord = 10 * time.Second
	nextWord  = time.Minute
)

// A patience is a wait with a limit, in which the user hears why nothing goes on.
type patience struct {
	limit time.Duration // 0 for none
	begun time.Time
	over  <-chan time.Time
	word  *time.Timer // the next line is due
}

func newPatience(limit time.Duration) *patience {
	p := &patience{limit: max(limit, 0), begun: time.Now(), word: time.NewTimer(firstWord)}
	if limit > 0 {
		p.over = time.After(limit)
	}
	return p
}

func (p *patience) stop() { p.word.Stop() }

// passed is the time of the line that is due.
func (p *patience) passed() time.Duration {
	p.word.Reset(nextWord)
	return time.Since(p.begun).Round(time.Second)
}
