package rdma

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Config says what New needs. Rank, Size, IDs and Lookup are required.
type Config struct {
	Rank base.Rank // Rank is this rank
	Size int       // ranks of the job
	IDs  int       // segment ids go from 0 to IDs-1

	// Provider is which provider of libfabric to use, by its name there, such as
	// "verbs;ofi_rxm" or "tcp;ofi_rxm"; all ranks alike. Default: the first that
	// drives a network card which moves bytes by itself.
	Provider string
	// Source are addresses of this host to use, the first that the provider has; if
	// it has none of them, or none is given, the provider chooses.
	Source []netip.Addr
	// Lookup returns what Address of rank r returned there. It may block until that
	// is known; it is called on the first use of a peer. An error of type
	// *base.RankError says that the rank is gone.
	Lookup func(ctx context.Context, r base.Rank) (string, error)

	// Lost, if not nil, is told of a peer that cannot be reached any more, once per peer
	// and before anything ends because of it. It must neither block nor call the transport.
	Lost func(*base.RankError)
	// Waiting says how calls that must block wait. Its Poll is the caller's to set, to
	// Transport.Poll, and its Sleep, to Transport.Parker of what it was.
	// Default: yield for a while, then sleep.
	Waiting *notify.Waiting
	// Begin, if not nil, is called with the transport before anything is received: the
	// time to complete Waiting.
	Begin func(*Transport)
	// Log hears how notifications travel, and of messages that make no sense.
	// Default: nobody does.
	Log *slog.Logger
}

const (
	// defaultYield is about what a sleep and a wake-up across cores cost together.
	defaultYield = 100 * time.Microsecond
	// withdrawMost bounds how long Withdraw waits for peers to let go of a segment.
	withdrawMost = 2 * time.Second
	// partingMost bounds how long Close waits for peers to take what was issued.
	partingMost = 2 * time.Second
	// partingGrace bounds how long it waits for the last word of peers that close too,
	// since they may be gone before that has left.
	partingGrace = 200 * time.Millisecond
)

// withDefaults returns a copy of cfg that is complete, or says what is wrong.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Size < 1 || cfg.Rank < 0 || int(cfg.Rank) >= cfg.Size {
		return cfg, fmt.Errorf("%w: rank %d of %d", base.ErrBadRank, cfg.Rank, cfg.Size)
	}
	if cfg.Lookup == nil || cfg.IDs < 1 {
		return cfg, errors.New("rdma: Config.Lookup and Config.IDs are required")
	}
	if cfg.Waiting == nil {
		cfg.Waiting = notify.AmongProcesses(0, defaultYield)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

// Transport is one rank's side.
type Transport struct {
	cfg    Config
	course course
	traits traits
	own    *transport.Direct
	secret uint64        // what messages to this rank carry
	board  *notify.Board // what calls that block wait on; nobody posts to it

	links []atomic.Pointer[link] // index is the rank; nil until used

	wanted  atomic.Int32 // goroutines that want mu for an operation; pollers let them
	mu      sync.Mutex   // held in every call of fab
	fab     gate
	x       transfer          // guarded by mu; scratch
	raw     [messageSize]byte // guarded by mu; scratch
	heard   message           // guarded by mu; scratch
	shelf   shelf             // guarded by mu, but for what its fields say
	regions                   // guarded by mu
	flow                      // guarded by mu
	events  []event           // guarded by mu
	makes   sync.Mutex        // held while a link is made

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines, but for the one that makes progress
	closed atomic.Bool
	broken atomic.Bool //  the endpoint is of no use any more

	progress
}

var _ transport.Transport = (*Transport)(nil)

// New makes the transport of one rank. It connects to nobody yet. An error that wraps
// base.ErrNotSupported says what is missing: the library, a provider, or the right to
// lock memory.
func New(cfg Config) (*Transport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	fab, err := open(cfg.Provider, cfg.Source, cfg.Size)
	if err != nil {
		return nil, err
	}
	return newOn(fab, cfg)
}

// newOn is New on a fabric, which it takes.
func newOn(fab fabric, cfg Config) (*Transport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		fab.close()
		return nil, err
	}
	t := &Transport{
		cfg: cfg, fab: gate{fabric: fab}, traits: fab.traits(),
		links:  make([]atomic.Pointer[link], cfg.Size),
		events: make([]event, eventsMost),
		board:  notify.NewBoard(make([]byte, notify.Bytes(1)), 1, cfg.Waiting),
	}
	if t.course, err = choose(t.traits); err != nil {
		fab.close()
		return nil, err
	}
	var secret [8]byte
	_, _ = rand.Read(secret[:]) // it does not fail
	t.secret = binary.LittleEndian.Uint64(secret[:])
	t.shelf.slots = make([]atomic.Pointer[exposure], cfg.IDs)
	t.shelf.flags.coding = t.course.coding
	t.regions.init(fab)
	t.flow.init(t.traits.inFlight)
	t.own = transport.NewDirect(cfg.Rank, cfg.IDs, t.openOwn, func(ctx context.Context) error { return ctx.Err() })
	t.ctx, t.cancel = context.WithCancel(context.Background())
	if err := t.progress.init(fab.waitFile()); err != nil {
		t.cancel()
		fab.close()
		return nil, fmt.Errorf("rdma: %w", err)
	}
	if cfg.Begin != nil {
		cfg.Begin(t)
	}
	if runtime.GOMAXPROCS(0) == 1 {
		// The thread that makes progress would wait up to 10 ms for the only processor.
		runtime.GOMAXPROCS(2)
	}
	cfg.Log.Info("gaspi: rdma", "rank", cfg.Rank, "provider", t.traits.provider, "device", t.traits.device, "version", t.traits.version, "notifications", t.course.reason)
	go t.loop()
	return t, nil
}

// Name implements transport.Transport.
func (t *Transport) Name() string { return "rdma" }

// Provider is the name of the provider in use.
func (t *Transport) Provider() string { return t.traits.provider }

// Reason says how notifications travel, and why.
func (t *Transport) Reason() string { return t.course.reason }

// Address is where peers reach this rank, for their Config.Lookup. It holds the
// secret that peers show, so it is for them alone.
func (t *Transport) Address() string {
	t.lock()
	defer t.unlock()
	return address{provider: t.traits.provider, secret: t.secret, name: t.fab.name()}.String()
}

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

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	if err.Rank == t.cfg.Rank {
		t.own.Lose(err)
		return
	}
	l := t.link(err.Rank)
	t.lock()
	defer t.unlock()
	l.loseLocked(err, true)
}

// Hears reports whether something that rank r has sent may still arrive: it has been
// heard of, and has not said that it closes.
func (t *Transport) Hears(r base.Rank) bool {
	if r == t.cfg.Rank || r < 0 || int(r) >= t.cfg.Size {
		return false
	}
	l := t.links[r].Load()
	if l == nil {
		return false
	}
	t.lock()
	defer t.unlock()
	return l.heard && !l.left && l.lost.Load() == nil
}

// lock takes mu ahead of those who only poll.
func (t *Transport) lock() {
	t.wanted.Add(1)
	t.mu.Lock()
	t.wanted.Add(-1)
}

// unlock gives mu back, after it has dealt with links that were lost meanwhile. It
// wakes the thread that makes progress if that sleeps on what does not tell any more.
func (t *Transport) unlock() {
	for len(t.dying) > 0 {
		l := t.dying[0]
		t.dying = t.dying[1:]
		t.abandonLocked(l)
	}
	if t.asleep && !t.fab.tells {
		t.asleep = false
		t.poller.Wake()
	}
	t.mu.Unlock()
}

// waitFor blocks until look reports true, ctx ends, or the transport is closed.
func (t *Transport) waitFor(ctx context.Context, look func() bool) error {
	return t.board.WaitFunc(ctx, look, nil, nil)
}

// awaitFor is waitFor for at most d.
func (t *Transport) awaitFor(d time.Duration, look func() bool) {
	if look() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	_ = t.waitFor(ctx, look) // who is late is dealt with when it comes
}
