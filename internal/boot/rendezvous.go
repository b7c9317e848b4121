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

	"github.com/gaspi-go/gaspi-go/internal/auth"
)

const (
	defaultJoin = 30 * time.Second       // for the rendezvous to come up, which may be on a host that starts later
	dialTimeout = 3 * time.Second        // for one address: a wrong one may swallow packets
	firstPause  = 20 * time.Millisecond  // between two rounds through the addresses; grows
	lastPause   = 500 * time.Millisecond // and ends here
)

// A meeting is how a rank reaches the rendezvous of its job.
type meeting struct {
	addresses []string // host:port, tried in this order
	proof     auth.Credentials
	secure    bool          // over TLS
	launched  bool          // the launcher holds the rendezvous, not rank 0
	patience  time.Duration // for the rendezvous to be there, and then for all ranks
	tell      reports       // log hears once that somebody else seems to be there
}

// join begins a session over a network. It blocks until the rendezvous has
// accepted this rank or refused it, for at most m.patience.
func (m meeting) join(ctx context.Context, info Info) (*client, error) {
	var secure *tls.Config
	if m.secure {
		var err error
		if _, secure, err = m.proof.Key.TLS(info.Job); err != nil {
			return nil, err
		}
	}
	conn, err := m.connect(ctx, info, secure)
	if err != nil {
		return nil, err
	}
	return dialRemote(conn, info, m.proof)
}

// connect returns a connection on which both sides have proven who they are. It believes
// a refusal of the rendezvous itself; who proves nothing may be there for a moment only.
func (m meeting) connect(ctx context.Context, info Info, secure *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	var reminding sync.WaitGroup
	defer reminding.Wait()
	defer cancel()
	if info.reminds() {
		reminding.Go(func() {
			m.tell.remind(ctx.Done(), func() string { return m.holder() + " to be at " + strings.Join(m.addresses, ",") })
		})
	}
	hello := auth.Hello{Role: auth.RoleSession, Job: info.Job, From: int32(info.Rank), Version: protocolVersion}
	told := false      // the log has heard of a stranger
	var stranger error // the last who answered and proved nothing: time may be over in the middle of another try
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		var errs []error
		refused := false
		for _, address := range m.addresses {
			conn, err := knock(ctx, address, m.proof, hello, secure)
			if err == nil {
				return conn, nil
			}
			refused = refused || errors.Is(err, auth.ErrRefused)
			if errors.Is(err, auth.ErrUnproven) {
				stranger = err
			}
			if stranger != nil && !told {
				m.tell.logs(fmt.Sprintf("at %s there is not the rendezvous of this job (%v); trying for %v in all", address, err, m.patience))
				told = true
			}
			errs = append(errs, err)
		}
		if refused {
			return nil, fmt.Errorf("joining the job at %s: %w", strings.Join(m.addresses, ","), errors.Join(errs...))
		}
		select {
		case <-ctx.Done():
			why := errors.Join(append(errs, ctx.Err())...)
			if stranger != nil && !errors.Is(why, auth.ErrUnproven) {
				why = errors.Join(stranger, why)
			}
			return nil, fmt.Errorf("no rendezvous at %s after %v, the limit of %s (%w): is %s running, and can this host reach it?",
				strings.Join(m.addresses, ","), m.patience, EnvJoinTimeout, why, m.holder())
		case <-time.After(pause): // the rendezvous may not be up yet
		}
	}
}

// holder names who holds the rendezvous.
func (m meeting) holder() string {
	if m.launched {
		return "the launcher"
	}
	return "rank 0"
}

// knock tries one address once.
func knock(ctx context.Context, address string, proof auth.Credentials, hello auth.Hello, secure *tls.Config) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	inner, err := auth.Client(conn, proof, hello, secure)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return inner, nil
}
