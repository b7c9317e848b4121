// Package tcp connects ranks of different hosts by TCP connections, several per
// pair so that big transfers of one queue do not hold up small ones of another.
//
// Bytes are sent straight from their source and received straight into the
// segment that they are meant for. Whoever posts sends what the socket takes at
// once; the rest, and all receiving, is done by whoever waits, through Poll, and
// by a thread of the transport when nobody does. A connection that breaks is a
// peer that is gone: none is made again. docs/WIRE.md is what travels.
package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/auth"
	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Version is that of the protocol that follows the handshake. Ranks of different
// versions refuse each other.
const Version = 1

// Config says what New needs. Rank, Size, IDs, Job, Credentials and Lookup are required.
type Config struct {
	Rank base.Rank // Rank is this rank
	Size int       // ranks of the job
	IDs  int       // segment ids go from 0 to IDs-1

	Job         string           // id of the job, as auth.Hello wants it
	Credentials auth.Credentials // what this rank proves, and peers must prove to belong to
	TLS         bool             // encrypt; all ranks alike

	// Listen are the addresses where peers reach this rank, each at a port that
	// the system chooses. Default: 127.0.0.1.
	Listen []netip.Addr
	// Lookup returns what Address of rank r returned there. It may block until
	// that is known; it is called on the first use of a peer, possibly by several
	// goroutines. An error of type *base.RankError says that the rank is gone.
	Lookup func(ctx context.Context, r base.Rank) (string, error)
	// Lanes is how many connections there are to a peer at most; a queue uses the
	// one that its lane number says, modulo Lanes. All ranks alike. Default 4. With
	// 1, a big transfer holds up everything behind it; more cost memory and
	// descriptors where ranks have many peers.
	Lanes int
	// Congestion is the congestion control of connections. Default: reno where
	// both ends are on one host, else what the system uses.
	Congestion string
	// Silence is how long a peer's host may answer to nothing before the
	// connection counts as broken, and how long a connection attempt may take.
	// Default 10 s. Too short a time takes a slow network for a dead peer.
	Silence time.Duration

	// Lost, if not nil, is told of a peer whose connection broke, once per peer and
	// before anything ends because of it. It must neither block nor call the transport.
	Lost func(*base.RankError)
	// Waiting says how calls that must block wait: atomics, flushes, the first use
	// of a peer or segment. Its Poll is the caller's to set, to Transport.Poll, and
	// its Sleep, to Transport.Parker of what it was.
	// Default: yield for a while, then sleep.
	Waiting *notify.Waiting
	// Begin, if not nil, is called with the transport before anybody can connect to
	// it: the time to complete Waiting.
	Begin func(*Transport)
	// Log hears of connections that were refused. Default: nobody does.
	Log *slog.Logger

	// within runs what makes sockets. Tests put ranks on other hosts by it.
	within func(do func() error) error
}

const (
	defaultLanes   = 4
	defaultSilence = 10 * time.Second
	// defaultYield is about what a sleep and a wake-up across cores cost together.
	defaultYield = 100 * time.Microsecond
)

// withDefaults returns a copy of cfg that is complete, or says what is wrong.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Size < 1 || cfg.Rank < 0 || int(cfg.Rank) >= cfg.Size {
		return cfg, fmt.Errorf("%w: rank %d of %d", base.ErrBadRank, cfg.Rank, cfg.Size)
	}
	if cfg.Lookup == nil || cfg.IDs < 1 {
		return cfg, errors.New("tcp: Config.Lookup and Config.IDs are required")
	}
	if cfg.Lanes == 0 {
		cfg.Lanes = defaultLanes
	}
	if cfg.Lanes < 1 || cfg.Lanes > 1<<15 {
		return cfg, fmt.Errorf("tcp: %d lanes; want 1 to %d", cfg.Lanes, 1<<15)
	}
	if cfg.Silence == 0 {
		cfg.Silence = defaultSilence
	}
	if len(cfg.Listen) == 0 {
		cfg.Listen = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	}
	if cfg.Waiting == nil {
		cfg.Waiting = notify.AmongProcesses(0, defaultYield)
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
	cfg     Config
	name    string // own addresses
	secure  *tls.Config
	own     *transport.Direct
	poller  *sys.Poller
	exposed shelf

	links []atomic.Pointer[link] // index is the rank; nil until used, nil for the own rank
	conns []atomic.Pointer[conn] // index is rank x lanes + lane; nil until open
	makes sync.Mutex             // held while a link is made

	listeners []net.Listener
	ctx       context.Context // ends with Close
	cancel    context.CancelFunc
	work      sync.WaitGroup // goroutines
	closed    atomic.Bool
	parting   time.Duration // bounds how long Close waits for peers

	progress
}

var _ transport.Transport = (*Transport)(nil)

// New makes the transport of one rank and listens. It connects to nobody yet. A
// process with one Go processor, as one that is bound to a core, gets a second.
func New(cfg Config) (*Transport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Transport{
		cfg: cfg, parting: partingMost,
		links: make([]atomic.Pointer[link], cfg.Size),
		conns: make([]atomic.Pointer[conn], cfg.Size*cfg.Lanes),
	}
	t.exposed.init(t, cfg.IDs)
	t.own = transport.NewDirect(cfg.Rank, cfg.IDs, t.exposed.openOwn, func(ctx context.Context) error { return ctx.Err() })
	var server *tls.Config
	if cfg.TLS {
		if server, t.secure, err = cfg.Credentials.Key.TLS(cfg.Job); err != nil {
			return nil, err
		}
	}
	if t.poller, err = sys.NewPoller(); err != nil {
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
	if runtime.GOMAXPROCS(0) == 1 {
		// The thread would wait up to 10 ms for the only processor, and keep it for
		// a while when it blocks. The system divides the core better.
		runtime.GOMAXPROCS(2)
	}
	t.progress.start(t)
	t.work.Go(t.watch)
	return t, nil
}

// Address is where peers reach this rank, for their Config.Lookup: addresses with
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
	return t.link(r), nil
}

// link is the link to another rank, made on first use.
func (t *Transport) link(r base.Rank) *link {
	if l := t.links[r].Load(); l != nil {
		return l
	}
	t.makes.Lock()
	defer t.makes.Unlock()
	if l := t.links[r].Load(); l != nil {
		return l
	}
	l := newLink(t, r)
	t.links[r].Store(l)
	return l
}

// Expose implements transport.Transport.
func (t *Transport) Expose(id segment.ID, s *segment.Segment) error {
	if t.closed.Load() {
		return base.ErrClosed
	}
	return t.exposed.expose(id, s)
}

// Grant implements transport.Transport.
func (t *Transport) Grant(id segment.ID, r base.Rank) error { return t.exposed.grant(id, r) }

// Withdraw implements transport.Transport. When it returns, nothing that peers
// send is written into the segment any more.
func (t *Transport) Withdraw(id segment.ID) error { return t.exposed.withdraw(id) }

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	if err.Rank == t.cfg.Rank {
		t.own.Lose(err)
		return
	}
	t.link(err.Rank).lose(err, true)
}

// listen opens the listeners and serves them.
func (t *Transport) listen(server *tls.Config) error {
	var names []string
	for _, a := range t.cfg.Listen {
		var l net.Listener
		err := t.cfg.within(func() (err error) {
			l, err = net.Listen("tcp", netip.AddrPortFrom(a, 0).String())
			return err
		})
		if err != nil {
			for _, l := range t.listeners {
				l.Close()
			}
			return fmt.Errorf("tcp: cannot listen at %s: %w", a, err)
		}
		t.listeners = append(t.listeners, l)
		names = append(names, l.Addr().String())
	}
	t.name = strings.Join(names, ",")
	gate := auth.NewGate(auth.GateConfig{
		Credentials: t.cfg.Credentials, TLS: server, Check: t.admit,
		Log: func(line string) { t.cfg.Log.Warn("gaspi: "+line, "rank", t.cfg.Rank) },
	})
	for _, l := range t.listeners {
		t.work.Go(func() {
			if err := gate.Serve(l, t.adopt); err != nil {
				t.cfg.Log.Error("gaspi: "+err.Error(), "rank", t.cfg.Rank)
			}
		})
	}
	return nil
}
