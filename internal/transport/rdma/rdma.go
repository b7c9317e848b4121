package rdma

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	netaddr "github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/remote"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Config is the configuration of New. Rank, Size, IDs and Lookup are required.
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
	// Ports is the range of ports that libfabric's provider tcp listens at, unless
	// FI_TCP_PORT_LOW_RANGE is set; New fails if none of them is free at the first of Source
	// that the provider has. libfabric learns it once: another range in the same process is an
	// error. The provider chooses with the zero value, and all others always.
	Ports netaddr.Ports
	// Lookup returns the Address of rank r. It may block until that is known; it is called
	// on the first use of a peer. An error of type *base.RankError means that the rank is
	// gone.
	Lookup func(ctx context.Context, r base.Rank) (string, error)

	// Lost, if not nil, is called when a peer cannot be reached any more, once per peer
	// and before anything ends because of it. It must neither block nor call the transport.
	Lost func(*base.RankError)
	// WaitPolicy is the policy of calls that block. Default: yield for a while, then sleep.
	WaitPolicy *notify.WaitPolicy
	// Begin, if not nil, is called with the transport before anything is received: the
	// time for Transport.PolledBy.
	Begin func(*Transport)
	// Log records how notifications travel, and messages that are invalid. Default: none.
	Log *slog.Logger
}

const (
	// defaultYield is about the cost of a sleep and a wake-up across cores together.
	defaultYield = 100 * time.Microsecond
	// withdrawMost bounds how long Withdraw waits for peers to let go of a segment.
	withdrawMost = 2 * time.Second
	// partingMost bounds how long Close waits for peers to take the operations that were issued.
	partingMost = 2 * time.Second
	// partingGrace bounds how long it waits for the last word of peers that close too,
	// since they may be gone before that has left.
	partingGrace = 200 * time.Millisecond
)

// withDefaults returns a copy of cfg with all defaults. It fails if a value is invalid.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Size < 1 || cfg.Rank < 0 || int(cfg.Rank) >= cfg.Size {
		return cfg, fmt.Errorf("%w: rank %d of %d", base.ErrBadRank, cfg.Rank, cfg.Size)
	}
	if cfg.Lookup == nil || cfg.IDs < 1 {
		return cfg, errors.New("rdma: Config.Lookup and Config.IDs are required")
	}
	if cfg.WaitPolicy == nil {
		cfg.WaitPolicy = notify.ProcessWait(0, defaultYield)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

// Transport is one rank's side.
type Transport struct {
	cfg    Config
	mode   mode
	traits traits
	own    *transport.Direct
	secret uint64        // contained in messages to this rank
	array  *notify.Array // wakes the calls that block; it has no notification that anybody posts

	links remote.LinkTable[link] // to other ranks

	wanted atomic.Int32 // goroutines that want mu for an operation; pollers let them
	mu     sync.Mutex   // held in every call of fab
	fab    trackedFabric
	x      transfer          // guarded by mu; scratch
	raw    [messageSize]byte // guarded by mu; scratch
	parsed message           // guarded by mu; scratch
	memory memoryRegions     // guarded by mu
	flow                     // guarded by mu
	events []completion      // guarded by mu

	registry remote.Registry[registration] // has a lock of its own, which is taken after mu
	flags    flagSpace                     // guarded by mu
	deferred []*region                     // guarded by mu; withdrawn, and not yet released by all peers

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines, but for the one that makes progress
	closed atomic.Bool
	broken atomic.Bool //  the endpoint is of no use any more

	progress progress
}

var _ transport.Transport = (*Transport)(nil)

// New makes the transport of one rank. It makes no connection yet. A process with one Go
// processor gets a second. An error that wraps base.ErrNotSupported names what is missing:
// the library, a provider, or the right to lock memory.
func New(cfg Config) (*Transport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	fab, err := open(cfg.Provider, cfg.Source, cfg.Ports, cfg.Size)
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
		cfg: cfg, fab: trackedFabric{fabric: fab}, traits: fab.traits(),
		events: make([]completion, eventsMost),
		array:  notify.NewArray(make([]byte, notify.Bytes(1)), 1, cfg.WaitPolicy),
	}
	if t.mode, err = choose(t.traits); err != nil {
		fab.close()
		return nil, err
	}
	var secret [8]byte
	_, _ = rand.Read(secret[:]) // it does not fail
	t.secret = binary.LittleEndian.Uint64(secret[:])
	t.registry.Init(cfg.Rank, cfg.Size, cfg.IDs)
	t.links.Init(cfg.Size, func(r base.Rank) *link { return newLink(t, r) })
	t.flags.coding = t.mode.coding
	t.memory.init(fab)
	t.flow.init(t.traits.inFlight)
	t.own = transport.NewDirect(cfg.Rank, cfg.IDs, t.registry.OwnWindow, func(ctx context.Context) error { return ctx.Err() })
	t.ctx, t.cancel = context.WithCancel(context.Background())
	if err := t.progress.init(fab.waitFile()); err != nil {
		t.cancel()
		fab.close()
		return nil, fmt.Errorf("rdma: %w", err)
	}
	if cfg.Begin != nil {
		cfg.Begin(t)
	}
	cfg.Log.Info("gaspi: rdma", "rank", cfg.Rank, "provider", t.traits.provider, "device", t.traits.device, "version", t.traits.version, "notifications", t.mode.reason)
	t.progress.Start(t.loop)
	return t, nil
}

// Name implements transport.Transport.
func (t *Transport) Name() string { return "rdma" }

// Provider is the name of the provider in use.
func (t *Transport) Provider() string { return t.traits.provider }

// Reason describes how notifications travel, and why.
func (t *Transport) Reason() string { return t.mode.reason }

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
	return t.links.To(r), nil
}

// Lose implements transport.Transport.
func (t *Transport) Lose(err *base.RankError) {
	if err.Rank == t.cfg.Rank {
		t.own.Lose(err)
		return
	}
	l := t.links.To(err.Rank)
	t.lock()
	defer t.unlock()
	l.markLostAndFailLocked(err, true)
}

// Hears reports whether something that rank r has sent may still arrive: it has been
// contacted, and has not sent kindBye.
func (t *Transport) Hears(r base.Rank) bool {
	if r == t.cfg.Rank || r < 0 || int(r) >= t.cfg.Size {
		return false
	}
	l := t.links.Get(r)
	if l == nil {
		return false
	}
	t.lock()
	defer t.unlock()
	return l.contacted && !l.byeReceived && l.peer.Lost() == nil
}

// lock takes mu ahead of callers that only poll.
func (t *Transport) lock() {
	t.wanted.Add(1)
	t.mu.Lock()
	t.wanted.Add(-1)
}

// unlock gives mu back, after it has dealt with links that were lost meanwhile. It
// wakes the thread if that sleeps on a descriptor that is not reliable any more.
func (t *Transport) unlock() {
	for len(t.dying) > 0 {
		l := t.dying[0]
		t.dying = t.dying[1:]
		t.failOperationsLocked(l)
	}
	if t.progress.asleep && !t.fab.reliable {
		t.progress.asleep = false
		t.progress.poller.Wake()
	}
	t.mu.Unlock()
}

// waitFor blocks until look reports true, ctx ends, or the transport is closed.
func (t *Transport) waitFor(ctx context.Context, look func() bool) error {
	return t.array.WaitFunc(ctx, look, nil, nil)
}

// awaitFor is waitFor for at most d.
func (t *Transport) awaitFor(d time.Duration, look func() bool) {
	if look() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	_ = t.waitFor(ctx, look) // a late event is handled when it comes
}

// A Provider is a way through libfabric that this transport could use here.
type Provider struct {
	Name     string // as Config.Provider wants it
	Device   string
	Hardware bool // the device moves bytes by itself
}

// Providers are those that there are here, in the order of libfabric's preference. It
// fails, with an error that wraps base.ErrNotSupported, where there is no libfabric. Each
// device of a provider is there once, whatever number of addresses it has.
func Providers() ([]Provider, error) {
	all, err := list("")
	var distinct []Provider
	for _, p := range all {
		if !slices.Contains(distinct, p) {
			distinct = append(distinct, p)
		}
	}
	return distinct, err
}
