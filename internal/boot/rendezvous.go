package boot

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
)

const (
	defaultJoin = 30 * time.Second       // for the rendezvous to come up, which may be on a host that starts later
	longestJoin = 365 * 24 * time.Hour   // no job waits longer
	dialTimeout = 3 * time.Second        // for one address: a wrong one may swallow packets
	firstPause  = 20 * time.Millisecond  // between two rounds through the addresses; grows
	lastPause   = 500 * time.Millisecond // and ends here
)

// A meeting is how a rank reaches the rendezvous of its job.
type meeting struct {
	addresses  []string // host:port, tried in this order
	variable   string   // which the user may change for another port; EnvRendezvous if empty
	unresolved error    // at rank 0: why the name of one of addresses does not resolve
	proof      auth.Credentials
	secure     bool          // over TLS
	launched   bool          // the launcher holds the rendezvous, not rank 0
	patience   time.Duration // for the rendezvous to be there, and then for all ranks
	tell       reports       // log hears once that somebody else seems to be there
}

// join begins a session over a network. It blocks until the rendezvous has
// accepted this rank or refused it, for at most m.patience and, where that ends by then, helloPatience.
func (m meeting) join(ctx context.Context, info Info) (*client, error) {
	var secure *tls.Config
	if m.secure {
		var err error
		if _, secure, err = m.proof.Key.TLS(info.Job); err != nil {
			return nil, err
		}
	}
	begun := time.Now()
	conn, err := m.connect(ctx, info, secure)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	c, err := dialRemote(conn, info, m.proof, max(m.patience-time.Since(begun), helloPatience))
	if stop() {
		return c, err
	}
	if err == nil {
		c.Close()
	}
	return nil, m.inVain(ctx, []error{err})
}

// connect returns a connection on which both sides have proven who they are. It believes
// a refusal of the rendezvous itself; who proves nothing may be there for a moment only.
func (m meeting) connect(ctx context.Context, info Info, secure *tls.Config) (net.Conn, error) {
	if err := address.CheckZones(m.addresses); err != nil {
		return nil, fmt.Errorf("no way to the rendezvous at %s: %w", m.where(), err)
	}
	limited, cancel := context.WithTimeout(ctx, m.patience)
	var reminding sync.WaitGroup
	defer reminding.Wait()
	defer cancel()
	if info.reminds() {
		reminding.Go(func() {
			m.tell.remind(limited.Done(), func() string { return m.holder() + " to be at " + m.where() })
		})
	}
	hello := auth.Hello{Role: auth.RoleSession, Job: info.Job, From: int32(info.Rank), Version: protocolVersion}
	addresses := address.Reach(m.addresses)
	causes := make([]error, len(addresses)) // why each address was of no use in the last try that time did not end
	var stranger error                      // the last who answered and proved nothing: nobody may be there later
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		refused := false
		for i, at := range addresses {
			conn, err := knock(limited, at, m.proof, hello, secure)
			if err == nil {
				return conn, nil
			}
			refused = refused || errors.Is(err, auth.ErrRefused)
			if errors.Is(err, auth.ErrUnproven) {
				if stranger == nil {
					m.tell.logs(fmt.Sprintf("at %s there is not the rendezvous of this job (%v); trying for %v in all", at, err, m.patience))
				}
				stranger = err
			}
			if causes[i] == nil || limited.Err() == nil || refused {
				causes[i] = err
			}
		}
		if refused {
			return nil, fmt.Errorf("joining the job at %s as rank %d of %d: %w", m.where(), info.Rank, info.Size, base.OneLine(causes...))
		}
		select {
		case <-limited.Done():
			return nil, m.inVain(ctx, append([]error{stranger}, append(causes, limited.Err())...))
		case <-time.After(pause): // the rendezvous may not be up yet
		}
	}
}

// inVain says that the rendezvous was not there until the limit, or until ctx ended.
func (m meeting) inVain(ctx context.Context, causes []error) error {
	until := fmt.Sprintf("after %v, the limit of %s", m.patience, EnvJoinTimeout)
	if ctx.Err() != nil {
		until = "when the call was given up"
		causes = append(causes, ctx.Err())
	}
	return fmt.Errorf("no rendezvous at %s %s (%w): is %s running, and can this host reach it?", m.where(), until, base.OneLine(causes...), m.holder())
}

// where names the addresses of the rendezvous.
func (m meeting) where() string { return strings.Join(m.addresses, ",") }

// holder names who holds the rendezvous.
func (m meeting) holder() string {
	if m.launched {
		return "the launcher"
	}
	return "rank 0"
}

// errProvenLate is why a connection is of no use whose other side proved what it is when ctx ended.
var errProvenLate = errors.New("it proved what it is too late")

// knock tries one address once.
func knock(ctx context.Context, at string, proof auth.Credentials, hello auth.Hello, secure *tls.Config) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	inner, err := auth.Client(conn, proof, hello, secure)
	if !stop() && err == nil {
		err = errProvenLate
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return inner, nil
}
