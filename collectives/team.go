package collectives

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gaspi-go/gaspi-go/collectives/internal/agreement"
	"github.com/gaspi-go/gaspi-go/collectives/internal/choice"
	"github.com/gaspi-go/gaspi-go/collectives/internal/executor"
	"github.com/gaspi-go/gaspi-go/collectives/internal/loss"
	"github.com/gaspi-go/gaspi-go/collectives/internal/memory"
	"github.com/gaspi-go/gaspi-go/collectives/internal/progress"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/agree"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// Config holds the parameters of a team, the same on all members. The zero value
// of a field means its default.
type Config struct {
	// Order gives the members other numbers than the group does: Order[i] is the
	// rank of the job that is number i of the team. It names each member once.
	Order []gaspi.Rank
	// Scratch is how many bytes of memory for operations under way a rank keeps
	// before it gives up plans that were made for single calls. Default 256 MiB;
	// memory costs nothing until it is used. An operation that needs more gets it.
	Scratch uint64
	// Slots is how many notifications the plans of the team share. Default 65536.
	// Each takes 4 bytes.
	Slots uint32
	// Machine is what algorithms are chosen by. Nil means the file that
	// GASPI_MACHINE names, written by gaspi-bench tune, or built-in figures.
	Machine *Machine
	// Tag tells NewTeam from other calls of it over the same group that other
	// goroutines make at the same time; see gaspi.Tag. Default 0, at most 65535.
	// Without it such calls match by their order, which then has to be the same on all
	// members.
	Tag gaspi.Tag
	// Algorithms forces algorithms, by names as the option Algorithm takes them:
	// "allreduce:ring/4096x4,alltoall:pairwise". Empty means the environment variable
	// GASPI_COLL.
	Algorithms string
	// RevokeWith is a group that this team ends with: when it is revoked, so is the team, and
	// when the team fails at a member, that revokes the group. The members of the team are
	// members of it. So teams that share it end together. Nil, the default, means that the team
	// ends alone; Split sets it.
	RevokeWith *gaspi.Group
	// Independent makes teams that are split from this one end each alone; see Split.
	Independent bool
	// Progress says who carries on operations that Start has begun. It need not be the same on all
	// members.
	Progress Progress
}

const (
	defaultScratch = 256 << 20
	defaultSlots   = 65536
	// firstSlab is how many bytes of scratch are there from the start. They take memory when plans use them, or at once
	// where a network card has them registered. With 1 MiB more calls of large teams had to agree on more scratch, of
	// which each rank maps a window of each other.
	firstSlab = 8 << 20
)

// A Team is a group of ranks that run collective operations together.
type Team struct {
	group  *gaspi.Group // that the team was made of
	own    *gaspi.Group // of the same ranks, for this team alone
	engine progress.Engine
	proc   *gaspi.Proc
	queue  *gaspi.Queue
	cfg    Config
	ranks  []gaspi.Rank // of the job, by number in the team
	me     int
	nodes  []int // host of each member; members of one share memory

	chooser choice.Chooser
	want    choice.Settings // of the present call
	others  [][]byte        // memory of doMany

	control *gaspi.Segment     // notifications of all calls, notes of members, and the first scratch
	arena   *memory.Arena      // of the plans
	heap    memory.Heap        // that buffers of callers lie in
	mail    *agreement.Mailbox // by which members that wait in vain find out why
	member  executor.Member    // by which operations are carried out
	members loss.Members       // whose ends are looked for

	maker      schedule.Maker // of the schedules of plans
	plans      planCache
	ops        operations
	early      interrupted
	background background
	recycling  recycling // of a call that ended early
	resetting  resetting
	ready      func() bool    // look, made once, so that waiting allocates nothing
	seen       []trace.Record // memory of recordAwait
	idle       time.Time      // when cut was first called; zero if something was done since
	scopes     scopes
	shrinking  shrinking // a Shrink that ended early
	broken     error     // why the team is unusable, nil if it is not
	closed     bool
	revocable  atomic.Bool // not closed; for Revoke, which does not enter the engine
}

// NewTeam makes a team of the members of group, which is committed. It is
// collective over them, with the same cfg, and blocks. A team takes a queue, a group
// of its own (Config.Groups of package gaspi) and some segments, with the highest ids
// that are free on all members.
//
// Several goroutines of a rank may make teams at a time, of the same group with
// different tags. Calls of different teams never touch each other, nor what the program
// calls over group. When ctx ends first, and the team has no group yet, the others go on waiting;
// later, their calls of NewTeam end with gaspi.ErrRevoked, or those of the team if they
// have it. In both cases the same call again is right, at this member and at those that got
// gaspi.ErrRevoked: it goes on with the first call, or begins a new one. To give up, revoke group: that ends
// NewTeam at all members that are still in it. After an error of ctx or the loss of a member a group number stays
// taken, because others may still write to it.
func NewTeam(ctx context.Context, group *gaspi.Group, cfg Config) (*Team, error) {
	t, err := newTeam(ctx, group, cfg)
	if err != nil {
		return nil, teamError("team", err)
	}
	return t, nil
}

func newTeam(ctx context.Context, group *gaspi.Group, cfg Config) (*Team, error) {
	if _, member := group.Rank(); !member {
		return nil, fmt.Errorf("%w: this rank, %d, is not in the group", gaspi.ErrBadRank, group.Proc().Rank())
	}
	own, err := agree.Provisional(ctx, group, agree.Teams, cfg.Tag)
	if err != nil {
		spread(cfg.RevokeWith, err)
		return nil, err
	}
	t := &Team{
		group: group, own: own, proc: group.Proc(), cfg: cfg, ranks: group.Ranks(),
		plans: planCache{byKey: make(map[key]*Plan)},
	}
	t.ready = t.look
	t.revocable.Store(true)
	if err := t.build(ctx); err != nil {
		spread(cfg.RevokeWith, err)
		agree.GiveUp(own, err)
		if t.queue != nil {
			_ = t.queue.Delete() // it was not used
		}
		if t.arena != nil {
			_ = t.arena.Close() // err says more
		}
		return nil, err
	}
	return t, nil
}

// build makes what the team has.
func (t *Team) build(ctx context.Context) error {
	if err := endWith(t.own, t.cfg.RevokeWith); err != nil {
		return err
	}
	err := t.configure()
	if err == nil {
		t.queue, err = t.proc.CreateQueue(gaspi.Serialized()) // by the engine
	}
	if err := agree.Unanimous(ctx, t.own, err); err != nil {
		return err
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	t.own.RevokeAlone()
	return endWith(t.own, t.cfg.RevokeWith)
}

// configure checks the configuration and fills in defaults.
func (t *Team) configure() error {
	c := &t.cfg
	if c.Order != nil {
		sorted := slices.Sorted(slices.Values(c.Order))
		if !slices.Equal(sorted, t.ranks) {
			return fmt.Errorf("%w: Config.Order %v does not name each of the ranks %v once", gaspi.ErrBadRank, c.Order, t.ranks)
		}
		t.ranks = slices.Clone(c.Order)
	}
	t.me = slices.Index(t.ranks, t.proc.Rank())
	if c.Scratch == 0 {
		c.Scratch = defaultScratch
	}
	if c.Slots == 0 {
		c.Slots = defaultSlots
	}
	return t.prepareChoice()
}

// open makes the team's memory.
func (t *Team) open(ctx context.Context) error {
	if err := t.agreeOnMachine(ctx); err != nil {
		return err
	}
	if err := t.openMemory(ctx); err != nil {
		return err
	}
	return t.findNodes(ctx)
}

// Rank is this rank's number in the team.
func (t *Team) Rank() int { return t.me }

// Size is the number of members.
func (t *Team) Size() int { return len(t.ranks) }

// Ranks are the members, by number in the team. The caller owns the slice.
func (t *Team) Ranks() []gaspi.Rank { return slices.Clone(t.ranks) }

// Group is the group that the team was made of.
func (t *Team) Group() *gaspi.Group { return t.group }

// Close gives the team's memory and queue back. Operations under way are given
// up. It is local: make sure, by a barrier for instance, that all members have
// finished with it; after the loss of a rank by Agree, since members may still read from the
// memory of one that has got an error already.
func (t *Team) Close() error {
	if !t.engine.Enter() {
		return refused("close")
	}
	defer t.engine.Leave()
	if t.closed {
		return nil
	}
	t.closed = true
	t.revocable.Store(false)
	t.abandon()
	t.shrinking.giveUp()
	t.member.Close()
	t.plans.counters.close()
	t.queue.Purge()
	err := cmp.Or(t.queue.Delete(), t.heap.Close(), t.arena.Close())
	if t.broken == nil { // else members that have not learned of it may still write to its slots
		err = cmp.Or(err, t.own.Delete())
	}
	if t.scopes.ownsGroup {
		err = cmp.Or(err, t.group.Delete())
	}
	return cmp.Or(err, t.scopes.member.leave(), t.scopes.family.leave())
}

// abandon forgets the operations under way.
func (t *Team) abandon() {
	t.ops.end(errAbandoned)
	t.early = interrupted{}
}

// findNodes finds out which members share memory, and which share cores without it. A
// member's node is the first member whose memory it can address.
func (t *Team) findNodes(ctx context.Context) error {
	first := make([]int64, len(t.ranks))
	for i, r := range t.ranks {
		if _, ok := t.control.Mapped(r, 0, 1); ok {
			first[t.me] = int64(i)
			break
		}
	}
	if err := agree.AllReduce(ctx, t.own, first, gaspi.Sum); err != nil {
		return err
	}
	t.chooser.OneNode = true
	t.nodes = make([]int, len(t.ranks))
	for i, n := range first {
		t.nodes[i] = int(n)
		t.chooser.OneNode = t.chooser.OneNode && n == 0
	}
	sockets := !t.chooser.OneNode && t.proc.LocalSize() == t.proc.Size()
	if sockets && len(t.ranks) <= mostOnOneHost {
		t.chooser.Hosts = make([]int, len(t.ranks))
	}
	if !t.measured() {
		choice.Crowd(&t.chooser.Machine, mostAlike(t.nodes))
		if sockets {
			choice.OnSockets(&t.chooser.Machine, len(t.ranks))
		}
	}
	return nil
}

// mostOnOneHost is how many ranks of one host that meet in sockets are priced as
// sharing its cores: all of them would have to be simulated, however many.
const mostOnOneHost = 32
