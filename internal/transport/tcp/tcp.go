// Package tcp connects ranks of different hosts by TCP connections, several per
// pair so that big transfers of one queue do not hold up small ones of another.
//
// Bytes are sent straight from their source and received straight into their segment. A
// call that posts sends as much as the socket takes at once. Callers that wait send the
// rest and receive, through Poll; a thread of the transport does while no caller polls. A
// peer whose connection breaks is gone: it is not connected again. WIRE.md defines the
// frames. Package remote holds the parts that do not depend on sockets.
package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/sys/socket"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Version is the version of the protocol that follows the handshake. Ranks of different
// versions refuse each other.
const Version = 3

// Config is the configuration of New. Rank, Size, IDs, Job, Credentials and Lookup are
// required.
type Config struct {
	Rank base.Rank // Rank is this rank
	Size int       // ranks of the job
	IDs  int       // segment ids go from 0 to IDs-1

	Job         string           // id of the job, as auth.Hello wants it
	Credentials auth.Credentials // proof that this rank and its peers belong to the job
	TLS         bool             // encrypt; all ranks alike

	// Listen are the addresses where peers reach this rank, each at a port that
	// the system chooses. Default: 127.0.0.1.
	Listen []netip.Addr
	// Ports is the range of these ports. With the zero value the system chooses.
	Ports address.Ports
	// Lookup returns the Address of rank r. It may block until that is known; it is
	// called on the first use of a peer, possibly by several goroutines. An error of
	// type *base.RankError means that the rank is gone.
	Lookup func(ctx context.Context, r base.Rank) (string, error)
	// Connections is the most connections to one peer. A queue uses the one with the
	// number transport.Queue.Lane modulo Connections. All ranks alike. Default 4. With
	// 1, a big transfer holds up everything behind it; more cost memory and descriptors
	// where ranks have many peers.
	Connections int
	// Congestion is the congestion control of connections. Default: reno where
	// both ends are on one host, else the default of the system.
	Congestion string
	// Silence is the time for which a peer's host may acknowledge nothing before the
	// connection counts as broken, and the limit of a connection attempt. Default 10 s.
	// If it is too short, a peer behind a slow network counts as dead.
	Silence time.Duration

	// Lost, if not nil, is called when the connection with a peer breaks, once per peer
	// and before anything ends because of it. It must neither block nor call the transport.
	Lost func(*base.RankError)
	// WaitPolicy is the policy of calls that block: atomics, flushes, the first use of a
	// peer or segment. Default: yield for a while, then sleep.
	WaitPolicy *notify.WaitPolicy
	// Begin, if not nil, is called with the transport before anybody can connect to
	// it: the time for Transport.PolledBy.
	Begin func(*Transport)
	// Log records connections that were refused. Default: none.
	Log *slog.Logger

	// within runs the functions that make sockets. Tests place ranks on other hosts by it.
	within func(do func() error) error
}

const (
	defaultConnections = 4
	defaultSilence     = 10 * time.Second
	// defaultYield is about the cost of a sleep and a wake-up across cores together.
	defaultYield = 100 * time.Microsecond
)

// withDefaults returns a copy of cfg with all defaults. It fails if a value is invalid.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Size < 1 || cfg.Rank < 0 || int(cfg.Rank) >= cfg.Size {
		return cfg, fmt.Errorf("%w: rank %d of %d", base.ErrBadRank, cfg.Rank, cfg.Size)
	}
	if cfg.Lookup == nil || cfg.IDs < 1 {
		return cfg, errors.New("tcp: Config.Lookup and Config.IDs are required")
	}
	if cfg.Connections == 0 {
		cfg.Connections = defaultConnections
	}
	if cfg.Connections < 1 || cfg.Connections > 1<<15 {
		return cfg, fmt.Errorf("tcp: %d lanes; want 1 to %d", cfg.Connections, 1<<15)
	}
	if cfg.Silence == 0 {
		cfg.Silence = defaultSilence
	}
	if len(cfg.Listen) == 0 {
		cfg.Listen = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	if cfg.WaitPolicy == nil {
		cfg.WaitPolicy = notify.ProcessWait(0, defaultYield)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.within == nil {
		cfg.within = func(do func() error) error { return do() }
	}
	return cfg, nil
}

// Transport is one rank's side.
type Transport struct {
	cfg      Config
	name     string // own addresses
	secure   *tls.Config
	own      *transport.Direct
	poller   *socket.Poller
	registry remote.Registry[struct{}]

	links remote.LinkTable[link] // to other ranks
	conns []atomic.Pointer[conn] // index is rank x connections + channel; nil until open

	listeners []net.Listener
	ctx       context.Context // ends with Close
	cancel    context.CancelFunc
	work      sync.WaitGroup // goroutines
	closed    atomic.Bool
	parting   time.Duration // bounds how long Close waits for peers

	withdrawal time.Duration // bounds how long Withdraw waits for peers

	progress progress
}

var _ transport.Transport = (*Transport)(nil)

// New makes the transport of one rank and listens. It makes no connection yet. A process
// with one Go processor, such as one that is bound to a core, gets a second.
func New(cfg Config) (*Transport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Transport{
		cfg: cfg, parting: partingMost, withdrawal: withdrawMost,
		conns: make([]atomic.Pointer[conn], cfg.Size*cfg.Connections),
	}
	t.registry.Init(cfg.Rank, cfg.Size, cfg.IDs)
	t.links.Init(cfg.Size, func(r base.Rank) *link { return newLink(t, r) })
	t.progress.Init()
	t.progress.worker = newWorker(t)
	t.own = transport.NewDirect(cfg.Rank, cfg.IDs, t.registry.OwnWindow, func(ctx context.Context) error { return ctx.Err() })
	var server *tls.Config
	if cfg.TLS {
		if server, t.secure, err = cfg.Credentials.Key.TLS(cfg.Job); err != nil {
			return nil, err
		}
	}
	if t.poller, err = socket.NewPoller(); err != nil {
		return nil, fmt.Errorf("tcp: %w", base.Lacking(err))
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	if cfg.Begin != nil {
		cfg.Begin(t)
	}
	if err := t.listen(server); err != nil {
		t.cancel()
		t.poller.Close()
		return nil, err
	}
	t.progress.Start(t.loop)
	t.work.Go(t.watch)
	return t, nil
}

// Address returns the address of this rank, for the Config.Lookup of peers: addresses with
// ports, separated by commas.
func (t *Transport) Address() string { return t.name }

// Name implements transport.Transport.
func (t *Transport) Name() string { return "tcp" }

// Link implements transport.Transport.
func (t *Transport) Link(r base.Rank) (transport.Link, error) {
	if r < 0 || int(r) >= t.cfg.Size {
		return nil, fmt.Errorf("%w: %d", base.ErrBadRank, r)
	}
	if r == t.cfg.Rank {
		return t.own, nil
	}
	return t.links.To(r), nil
}

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	if err.Rank == t.cfg.Rank {
		t.own.Lose(err)
		return
	}
	t.links.To(err.Rank).markLost(err, true)
}

// listen opens the listeners and serves them.
func (t *Transport) listen(server *tls.Config) error {
	var names []string
	for _, a := range t.cfg.Listen {
		var l net.Listener
		err := t.cfg.within(func() error {
			return t.cfg.Ports.Open(func(port uint16) (err error) {
				l, err = net.Listen("tcp", netip.AddrPortFrom(a, port).String())
				return err
			})
		})
		if err != nil {
			for _, l := range t.listeners {
				l.Close()
			}
			return fmt.Errorf("tcp: cannot listen at %s: %w", a, err)
		}
		t.listeners = append(t.listeners, l)
		names = append(names, address.Told(l))
	}
	t.name = strings.Join(names, ",")
	gate := auth.NewGate(auth.GateConfig{
		Credentials: t.cfg.Credentials, TLS: server, Check: t.admit, Failed: t.decided,
		Log: func(line string) { t.cfg.Log.Warn("gaspi: "+line, "rank", t.cfg.Rank) },
	})
	for _, l := range t.listeners {
		t.work.Go(func() {
			if err := gate.Serve(l, t.accept); err != nil {
				t.cfg.Log.Error("gaspi: "+err.Error(), "rank", t.cfg.Rank)
			}
		})
	}
	return nil
}
