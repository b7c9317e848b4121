package gaspi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/address"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/internal/transport/loopback"
	"github.com/gaspi-go/gaspi-go/internal/transport/mixed"
	"github.com/gaspi-go/gaspi-go/internal/transport/shm"
	"github.com/gaspi-go/gaspi-go/internal/transport/tcp"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// This file is the one place that names transports and chooses between them.

// A whereabouts is what a rank tells the others about how to reach it.
type whereabouts struct {
	Host   string `json:"host"`             // ranks of equal hosts share memory
	Shared string `json:"shared,omitempty"` // where its memory files are found
	TCP    string `json:"tcp,omitempty"`    // where it listens
	RDMA   string `json:"rdma,omitempty"`   // where its network card is reached
	Card   string `json:"card,omitempty"`   // where the memory of its emulated network card is found
}

// published is the name under which a rank's whereabouts are found.
const published = "whereabouts"

// A dialer makes the transport of a rank, says how the rank waits, and tells the
// others where it is.
type dialer struct {
	cfg        Config
	session    boot.Session
	info       boot.Info
	apart      bool // the ranks of the job are processes
	inside     bool // they are goroutines of this one (Local)
	waitPolicy *notify.WaitPolicy
	own        whereabouts

	mu    sync.Mutex
	proc  *Proc         // guarded by mu; nil until the rank has been started
	early []func(*Proc) // guarded by mu; what it is to hear then
}

// started makes p the rank that hears of losses, also of those that came before.
func (d *dialer) started(p *Proc) {
	d.mu.Lock()
	early := d.early
	d.proc, d.early = p, nil
	d.mu.Unlock()
	for _, news := range early {
		news(p)
	}
}

// tell lets the rank hear news, as soon as it has been started.
func (d *dialer) tell(news func(*Proc)) {
	d.mu.Lock()
	p := d.proc
	if p == nil {
		d.early = append(d.early, news)
	}
	d.mu.Unlock()
	if p != nil {
		news(p)
	}
}

// newDialer makes the dialer of a rank whose peers are processes of their own, or
// goroutines of this one.
func newDialer(cfg Config, session boot.Session, apart bool) *dialer {
	info := session.Info()
	d := &dialer{cfg: cfg, session: session, info: info, apart: apart, own: whereabouts{Host: info.Host}}
	spin, yield := cfg.spinTime(info.LocalSize, localCores()), cfg.yieldTime()
	switch {
	case cfg.Emulate != "":
		d.waitPolicy = patient()
	case apart:
		d.waitPolicy = notify.ProcessWait(spin, yield)
	default:
		d.waitPolicy = notify.GoroutineWait(spin, yield)
	}
	return d
}

// dial makes the transport of a rank that has peers in other processes.
func (d *dialer) dial() (transport.Transport, error) {
	info := d.info
	switch name := d.cfg.Transport; {
	case name == "loopback" && info.Size > 1:
		return nil, fmt.Errorf("transport loopback connects ranks of one process only; this job has %d processes: use auto, shm or tcp", info.Size)
	case name == "loopback":
		return loopback.NewHub(1, d.cfg.segmentIDs()).Join(0), nil
	case name == "shm" && info.LocalSize != info.Size:
		return nil, fmt.Errorf("%w: transport shm connects ranks of one host, and only %d of %d are on this one: use auto or tcp", ErrNotSupported, info.LocalSize, info.Size)
	}
	wire, err := d.choose()
	if err == nil && d.cfg.Emulate != "" {
		wire, err = d.emulateApart(wire)
	}
	if err != nil {
		return nil, err
	}
	return wire, d.publish(wire)
}

// publish tells the others where this rank is. It closes wire if it cannot.
func (d *dialer) publish(wire transport.Transport) error {
	text, err := json.Marshal(d.own)
	if err == nil {
		err = d.session.Put(published, text)
	}
	if err != nil {
		_ = wire.Close()
	}
	return err
}

// choose takes memory if all ranks share it, the network if none do or it is asked
// for, and else both.
func (d *dialer) choose() (transport.Transport, error) {
	switch {
	case d.cfg.Transport == "tcp":
		return d.tcp(true)
	case d.cfg.Transport == "rdma":
		return d.rdma(true)
	case d.info.LocalSize == 1 && d.info.Size > 1:
		return d.network(true)
	}
	shared, err := d.shared()
	if err != nil || d.info.LocalSize == d.info.Size {
		return shared, err
	}
	wire, err := d.network(false)
	if err != nil {
		_ = shared.Close()
		return nil, err
	}
	return mixed.New(shared, wire, d.isNear), nil
}

// shared is the way through memory.
func (d *dialer) shared() (transport.Transport, error) {
	wire, err := shm.Join(d.info.Rank, d.info.Size, d.cfg.segmentIDs(), func(ctx context.Context, r Rank) (string, error) {
		at, err := d.find(ctx, r)
		return at.Shared, err
	})
	if err != nil {
		return nil, err
	}
	wire.WaitWith(d.waitPolicy)
	d.own.Shared = wire.Address()
	return wire, nil
}

// tcp is the way through sockets; only says that there is no other.
func (d *dialer) tcp(only bool) (transport.Transport, error) {
	listen, err := d.addresses()
	if err != nil {
		return nil, err
	}
	ports, err := ports()
	if err != nil {
		return nil, err
	}
	wire, err := tcp.New(tcp.Config{
		Rank: d.info.Rank, Size: d.info.Size, IDs: d.cfg.segmentIDs(),
		Job: d.info.Job, Credentials: d.session.Credentials(), TLS: os.Getenv(boot.EnvTLS) == "1",
		Listen: listen, Ports: ports, Congestion: os.Getenv(envCongestion), Silence: silence(),
		Lookup: func(ctx context.Context, r Rank) (string, error) {
			at, err := d.find(ctx, r)
			return at.TCP, err
		},
		Lost:       d.lost,
		WaitPolicy: d.waitPolicy,
		Begin:      func(t *tcp.Transport) { d.pollWhileWaiting(t, only) },
		Log:        d.cfg.Log,
	})
	if err != nil {
		return nil, err
	}
	d.own.TCP = wire.Address()
	return wire, nil
}

// addresses returns where this rank can be reached, best first.
func (d *dialer) addresses() ([]netip.Addr, error) {
	own, err := address.Choose(d.cfg.Interface, d.hint())
	if err != nil && d.cfg.Interface != "" {
		return nil, fmt.Errorf("%s: %w", origin("Interface", envInterface, d.cfg.Interface), err)
	}
	return own, err
}

// ports returns the range of ports that this rank may listen at.
func ports() (address.Ports, error) {
	ports, err := address.ParsePorts(os.Getenv(boot.EnvPorts))
	if err != nil {
		return ports, fmt.Errorf("%s: %w", boot.EnvPorts, err)
	}
	return ports, nil
}

// hint is an address that peers are reached the same way as, if one is known.
func (d *dialer) hint() netip.Addr {
	if d.info.LocalSize == d.info.Size {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return d.info.Rendezvous
}

// forever is a silence that no job outlasts. Longer ones do not fit into an option of a
// socket, which has milliseconds.
const forever = 20 * 24 * time.Hour

// silence is how long a peer's host may be silent, 0 for the transport's default. A
// heartbeat of 0 is for ever.
func silence() time.Duration {
	d, err := time.ParseDuration(os.Getenv(boot.EnvHeartbeat))
	switch {
	case err != nil:
		return 0
	case d == 0:
		return forever
	}
	return d
}

// lost hears of peers whose connection broke.
func (d *dialer) lost(err *RankError) {
	d.tell(func(p *Proc) { p.linkLost(err) })
}

// find is where rank r is.
func (d *dialer) find(ctx context.Context, r Rank) (whereabouts, error) {
	text, err := d.session.Get(ctx, r, published)
	if err != nil {
		return whereabouts{}, err
	}
	var at whereabouts
	if err := json.Unmarshal(text, &at); err != nil {
		return whereabouts{}, fmt.Errorf("what rank %d says about where it is makes no sense: %w", r, err)
	}
	return at, nil
}

// isNear reports whether rank r is on this host.
func (d *dialer) isNear(ctx context.Context, r Rank) (bool, error) {
	at, err := d.find(ctx, r)
	return at.Host == d.own.Host, err
}

// LocalCores is how many cores the ranks of this host share.
func (p *Proc) LocalCores() int { return localCores() }

// localCores is how many cores the ranks of this host share. The launcher says
// it, because a rank that is bound to one core sees only that one.
func localCores() int {
	if n, err := strconv.Atoi(os.Getenv(boot.EnvLocalCores)); err == nil { // else it is not set: checkEnvironment
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// newMemory makes a segment's memory where the transport's peers can reach it.
func (p *Proc) newMemory(size uint64, notifications uint32) (*segment.Segment, error) {
	if p.apart {
		return segment.Create(size, notifications, p.waitPolicy)
	}
	return segment.New(size, notifications, p.waitPolicy)
}

// bindMemory makes a segment of caller-owned memory, with an array that peers can
// reach.
func (p *Proc) bindMemory(mem []byte, notifications uint32) (*segment.Segment, error) {
	if p.apart {
		return segment.BindShared(mem, notifications, p.waitPolicy)
	}
	return segment.Bind(mem, notifications, p.waitPolicy)
}

// Transport is the name of the transport that connects this rank with r.
func (p *Proc) Transport(r Rank) (string, error) {
	if _, err := p.link(r); err != nil {
		return "", &OpError{Op: "transport", Err: err}
	}
	way := p.wire
	for {
		both, ok := way.(*mixed.Transport)
		if !ok {
			return way.Name(), nil
		}
		var err error
		if way, err = both.Via(r); err != nil {
			return "", &OpError{Op: "transport", Err: err}
		}
	}
}
