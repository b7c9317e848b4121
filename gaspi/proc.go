package gaspi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/gaspi/emulation"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/detector"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/layout"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/numbers"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/wireup"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/logging"
	"github.com/gaspi-go/gaspi-go/internal/netstat"
	"github.com/gaspi-go/gaspi-go/internal/status"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
	"github.com/gaspi-go/gaspi-go/segment"
)

// Rank numbers a process of the job, from 0 to Size-1.
type Rank = base.Rank

// A Proc is one rank of a job. Init makes it, or Local.
type Proc struct {
	cfg    Config
	boot   boot.Session
	wire   *wireup.Endpoint
	lay    layout.System
	inside bool // the ranks of the job are goroutines of this process (Local)

	rank   Rank
	size   int
	closed atomic.Bool
	info   boot.Info
	hosts  topology.Hosts

	links    []atomic.Pointer[route] // index is the rank; nil until used
	system   *segment.Segment
	news     *segment.Segment // of revocations; see heedNews
	heeded   []atomic.Uint32  // index is the place of a group; the last news of it that were read
	telling  underWay         // revocations that are being told to others
	internal *transport.Queue // of the runtime's own operations

	segments  *numbers.Places[Segment]
	creations creations
	queues    *numbers.Places[Queue]
	groups    *numbers.Places[Group]
	tags      []uint32 // index is the place of a group; the tag of that, or of the last one
	commits   commitQueue
	passive   *passive
	world     *Group

	peers *detector.Detector           // what this rank knows of each of the job
	loss  atomic.Pointer[launcherLoss] // nil until the launcher is gone
	stats counters
	vars  atomic.Pointer[func(add func(name, value string))] // of the program; see PublishVars

	reached sync.Map         // names of transports that this rank has used
	teller  *status.Teller   // of what this rank does; nil without gaspi-run
	clocks  toldClocks       // of libraries, for the teller
	sampler *netstat.Sampler // of connections and processors; nil unless gaspi-run wants to know

	timeline *trace.Recorder // of what this rank did; nil without gaspi-run --trace

	anyStop func() error   // for waits that any rank might end; bound once, so that waits allocate nothing
	stop    func() error   // for waits that no rank ends; likewise
	done    sync.WaitGroup // the failure watch, and that of revocations

	attached context.Context    // ends when the launcher is lost
	detach   context.CancelFunc // ends attached
}

// Init joins the job that this process was started for by gaspi-run, or by another
// starter that docs/BOOT.md names: mpiexec, mpirun, srun, torchrun, or variables. A
// process that none of them has started is a job of one rank; one that is announced to
// be one of several, and cannot find the others, gets an error. Init blocks until all
// ranks have joined, and have connected with those with which they signal in barriers.
// While some are missing, a line on standard error says after 10 s, and then every
// minute, which; without a launcher, it returns an error when they have not come within
// GASPI_JOIN_TIMEOUT, 30 s unless set. A rank that ends once all have joined is no error
// of Init: the first call that needs it tells of that.
//
// A process in which GOMAXPROCS is 1 and whose rank reaches others through sockets or RDMA gets a
// GOMAXPROCS of 2, for the thread that makes progress; Config.Emulate raises it, too. Close does not
// restore it.
func Init(ctx context.Context, cfg Config) (*Proc, error) {
	cfg, err := cfg.prepare()
	if err != nil {
		return nil, err
	}
	session, err := boot.FromEnvironment(ctx,
		func(line string) { cfg.Log.Warn("gaspi: " + line) },
		func(line string) { say("gaspi: " + line) })
	if err != nil {
		return nil, &OpError{Op: "init", Err: err}
	}
	if session == nil {
		session = boot.NewLocal(1).Session(0)
		if cfg.Transport == "auto" {
			cfg.Transport = "loopback"
		}
	}
	p, err := join(ctx, cfg, session, false, wireup.Open)
	if err != nil {
		_ = session.Close()
		return nil, &OpError{Op: "init", Err: err}
	}
	return p, nil
}

// join makes the rank of a session, whose connections open opens. inside says that the ranks of the
// job are goroutines of this process.
func join(ctx context.Context, cfg Config, session boot.Session, inside bool, open func(wireup.Wiring) (*wireup.Endpoint, error)) (*Proc, error) {
	info, peers := session.Info(), detector.New(session, wireup.LossMost(), cfg.Log.With(logging.Part, logging.Job))
	row, err := inherit(info, inside)
	if err != nil {
		cfg.Log.Warn("gaspi: gaspi-run cannot see what this rank does", "err", err)
	}
	timeline, err := inheritTimeline(info, inside)
	if err != nil {
		cfg.Log.Warn("gaspi: gaspi-run gets no trace of this rank", "err", err)
	}
	wire, err := open(cfg.wiring(session, peers))
	if err != nil {
		return nil, err
	}
	if _, ok := wire.Emulation().Network(); ok { // each rank counts as alone on its host
		info.LocalRank, info.LocalSize = 0, 1
	}
	p := &Proc{
		cfg: cfg, boot: session, wire: wire, lay: cfg.layout(info.Size), inside: inside,
		rank: info.Rank, size: info.Size, info: info, peers: peers, timeline: timeline,
		links:    make([]atomic.Pointer[route], info.Size),
		heeded:   make([]atomic.Uint32, cfg.Groups),
		internal: transport.NewQueue(1, cfg.QueuesMax),
		segments: numbers.NewPlaces[Segment](cfg.Segments), queues: numbers.NewPlaces[Queue](cfg.QueuesMax),
		groups: numbers.NewPlaces[Group](cfg.Groups), tags: make([]uint32, cfg.Groups),
	}
	p.stats.peers = newPeerCounts(p.size)
	p.attached, p.detach = context.WithCancel(context.Background())
	p.anyStop, p.stop = p.anyEnded, p.ended
	p.queues.Fill(cfg.Queues, p.newQueue)
	if err := p.openSystem(); err != nil {
		p.abandon()
		return nil, err
	}
	p.passive = newPassive()
	peers.Start(wire, p.wakeAll)
	// From here on peers may write: everything they write to is in place.
	if err := p.meet(ctx, wire.Location); err != nil {
		p.abandon()
		return nil, err
	}
	p.openWorld()
	p.tellWaits(row)
	p.measure()
	p.done.Add(2)
	go p.watch()
	go p.heedNews()
	p.answerTo(session)
	p.logJoined()
	if err := p.world.connect(ctx); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// abandon gives back what a start that failed has taken.
func (p *Proc) abandon() {
	_ = p.wire.Close()
	if p.system != nil {
		_ = p.system.Close()
	}
	if p.news != nil {
		_ = p.news.Close()
	}
}

// meet waits for all ranks, checks that they agree on where things lie in each other's
// system segments, and learns where they are.
func (p *Proc) meet(ctx context.Context, location string) error {
	locations, err := p.boot.Gather(ctx, "system", p.cfg.common(), location)
	if errors.Is(err, ErrMismatch) {
		return fmt.Errorf("%w; Config must be the same on all ranks", err)
	}
	p.hosts = topology.ReadLocations(p.size, locations)
	p.wire.Learn(locations)
	return err
}

// layout returns where things lie in the system segment of a job of so many ranks.
func (c Config) layout(ranks int) layout.System {
	return layout.New(layout.Sizes{
		Segments: c.Segments, Groups: c.Groups, Ranks: ranks,
		Vector: uint64(vectorHeader + 8*c.AllReduceElements), PassiveMax: uint64(c.PassiveMax),
	})
}

// openSystem makes the runtime's own segments and lets every rank reach them.
func (p *Proc) openSystem() error {
	var err error
	if p.system, err = p.openOwn(p.lay.ID, p.lay.Size(), p.lay.Notifications()); err != nil {
		return fmt.Errorf("system segment: %w", err)
	}
	if p.news, err = p.openOwn(p.lay.News, 8, uint32(p.cfg.Groups)); err != nil {
		return fmt.Errorf("segment of revocations: %w", err)
	}
	return nil
}

// openOwn makes a segment that every rank can reach.
func (p *Proc) openOwn(id segment.ID, size uint64, notifications uint32) (*segment.Segment, error) {
	seg, err := p.wire.NewSparse(size, notifications) // with the square of the number of ranks, most of it unused
	if err != nil {
		return nil, err
	}
	if err = p.wire.Expose(id, seg); err != nil {
		_ = seg.Close()
		return nil, err
	}
	for r := range Rank(p.size) {
		if err == nil {
			err = p.wire.Grant(id, r)
		}
	}
	return seg, err
}

// clearGroup clears the slots of a group.
func (p *Proc) clearGroup(index int) {
	first := p.lay.GroupSlot(index)
	for i := range p.lay.SlotsOfGroup() {
		_, _ = p.system.Notifications().Reset(first + notify.ID(i)) // the id is on the array by layout
	}
}

// openWorld makes the group of all ranks, which has number 0 everywhere and so
// needs no exchange.
func (p *Proc) openWorld() {
	g := p.groups.Add(p.newGroup)
	for r := range Rank(p.size) {
		g.ranks = append(g.ranks, r)
	}
	g.open(int(p.rank), make([]int, p.size), slices.Repeat([]uint32{g.tag}, p.size))
	g.committed.Store(true)
	p.world = g
}

// Close ends this rank's part in the job. The program completes operations that must be
// complete before, by Wait, Flush and Barrier. Operations issued to other hosts still go out,
// for at most a few seconds, and passive messages under way are withdrawn or received before.
// Close waits for no call of another rank, except that rank 0 of a job without a launcher serves
// the others until they have left. Every wait under way ends with ErrClosed. Processes of the same host that have
// mapped memory of this rank may read what is there until they end. It is idempotent.
func (p *Proc) Close() error {
	if !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	p.peers.Stop()
	p.wakeAll()
	p.passive.end()
	p.telling.wait(closingMost)
	p.peers.Report()
	err := p.boot.Close() // ends the failure watch
	p.done.Wait()
	if p.teller != nil {
		p.teller.Close()
	}
	if p.sampler != nil {
		p.sampler.Close()
	}
	if werr := p.wire.Close(); err == nil { // before the segments go: a peer that misses one hears that this rank has left
		err = werr
	}
	p.releaseSegments()
	_ = p.system.Leave()
	_ = p.news.Leave()
	return err
}

// releaseSegments gives up all segments, which the transport has withdrawn. Others may still read there: a member of a
// team that has ended a call, or has got an error in it, leaves while slower ones fold what lies in its memory.
func (p *Proc) releaseSegments() {
	for _, s := range p.segments.All() {
		if s.leaving.CompareAndSwap(false, true) {
			p.segments.Remove(int(s.id))
			_ = s.mem.Leave() // whoever has begun to write there goes on
		}
	}
}

// Rank is this rank's number.
func (p *Proc) Rank() Rank { return p.rank }

// Size is the number of ranks of the job.
func (p *Proc) Size() int { return p.size }

// LocalRank is this rank's number among those of its host, from 0.
func (p *Proc) LocalRank() int { return p.info.LocalRank }

// LocalSize is the number of ranks of the job on this host.
func (p *Proc) LocalSize() int { return p.info.LocalSize }

// LocalCores is how many cores the ranks of this host share.
func (p *Proc) LocalCores() int { return wireup.LocalCores() }

// Job is the name of the job, different for every start of gaspi-run.
func (p *Proc) Job() string { return p.info.Job }

// World is the group of all ranks. It is committed.
func (p *Proc) World() *Group { return p.world }

// Config is the configuration in force, with defaults filled in.
func (p *Proc) Config() Config { return p.cfg }

// Transport is the name of the transport that connects this rank with r.
func (p *Proc) Transport(r Rank) (string, error) {
	_, err := p.link(r)
	if err == nil {
		var name string
		if name, err = p.wire.Via(r); err == nil {
			return name, nil
		}
	}
	return "", &OpError{Op: "transport", Err: err}
}

// Emulation returns what is known of the network that is emulated between the ranks, if one is: see
// Config.Emulate.
func (p *Proc) Emulation() emulation.Status { return p.wire.Emulation() }

// wakeAll makes every wait of this rank look again.
func (p *Proc) wakeAll() {
	p.system.Notifications().Wake()
	p.news.Notifications().Wake()
	for _, s := range p.segments.All() {
		s.mem.Notifications().Wake()
	}
}

// log returns the logger of a part of this rank.
func (p *Proc) log(part string) *slog.Logger {
	return p.cfg.Log.With(logging.Part, part, "rank", p.rank)
}

// logJoined says on each host, and at the level of debugging on each rank, what job this is.
func (p *Proc) logJoined() {
	level := slog.LevelDebug
	if p.info.LocalRank == 0 {
		level = slog.LevelInfo
	}
	build := Version
	if info, ok := debug.ReadBuildInfo(); ok {
		build += " " + info.GoVersion
	}
	p.log(logging.Job).Log(p.attached, level, "gaspi: joined", "job", p.info.Job, "size", p.size, "host", p.info.Host,
		"ranks of this host", p.info.LocalSize, "transport", p.wire.Name(), "version", build)
}

// logRoute says how this rank reaches another one, on first use: the first of each host for each
// transport, and at the level of debugging for each pair.
func (p *Proc) logRoute(r Rank) {
	name, err := p.wire.Via(r)
	if err != nil {
		return // which the operation says
	}
	level := slog.LevelDebug
	if _, told := p.reached.LoadOrStore(name, true); !told && p.info.LocalRank == 0 {
		level = slog.LevelInfo
	}
	p.log(logging.Boot).Log(p.attached, level, "gaspi: reaches", "peer", r, "transport", name)
}
