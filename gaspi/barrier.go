package gaspi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/layout"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/internal/trace"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Barrier blocks until all members of g have called it. A barrier orders nothing but itself:
// writes and notifications that a rank posted before it are not complete because of it. When
// ctx ends first, calling Barrier again goes on with the same barrier and sends nothing twice;
// the error names members that this one waits for, which may wait for others themselves.
//
// The members of one host signal up a tree with 16 children each, or 256 where ranks share memory and cores,
// the first members of the hosts each other in a dissemination barrier with radix 4, and then the tree
// downwards: each member sends at most a signal to its parent, one to each child, and 3 for each factor 4 of the
// number of hosts. Few members of one host signal each other at once: up to 4 that share memory, and up to 16 if
// each has a core; through sockets 2, and 4. A barrier takes no memory beyond its notifications.
func (p *Proc) Barrier(ctx context.Context, g *Group) error {
	if !g.usable() {
		if err := g.ready("barrier"); err != nil {
			return err
		}
	}
	p.stats.barriers.Add(1)
	begun := p.timeline.Begin()
	number, err := g.barrier.run(ctx, "barrier")
	if p.timeline != nil {
		g.recordMeeting(trace.Barrier, begun, number)
	}
	return err
}

// barrier is one barrier of a group and how far it has come. All its state but
// busy belongs to the caller who holds busy.
type barrier struct {
	g      *Group
	slot   notify.ID // its first notification within the group's
	busy   exclusive
	rounds []barrierRound // made by the first run, which knows where the group lies at its members

	epoch  notify.Value // number of the barrier under way or of the last one; never 0
	active bool         // a barrier is under way
	round  int
	sent   bool // the signals of this round are sent
	passed bool // the hearers know who has left without its part in this barrier

	stop  func() error
	spent *atomic.Int64 // nanoseconds of all barriers that are counted; nil if this one is not
	waits atomic.Int64  // nanoseconds of the round that is waited for
}

// A barrierRound says whom to signal and whose signals to wait for. The j-th
// signal of each has the j-th notification of the round.
type barrierRound struct {
	first notify.ID // of this rank
	to    []barrierSignal
	from  []Rank
}

type barrierSignal struct {
	rank Rank
	id   notify.ID // at that rank
}

func newBarrier(g *Group, slot notify.ID, spent *atomic.Int64) *barrier {
	b := &barrier{g: g, slot: slot, spent: spent}
	b.stop = b.why
	return b
}

// plan makes the rounds. In a round a member sends all its signals and then waits.
func (b *barrier) plan() {
	g := b.g
	b.rounds = []barrierRound{}
	for _, planned := range g.p.hosts.Barrier(g.ranks, g.me) {
		round := barrierRound{first: b.slotAt(g.me) + layout.Signals + notify.ID(planned.First)}
		for _, to := range planned.To {
			round.to = append(round.to, barrierSignal{rank: g.ranks[to.Member], id: b.slotAt(to.Member) + layout.Signals + notify.ID(to.Slot)})
		}
		for _, m := range planned.From {
			round.from = append(round.from, g.ranks[m])
		}
		b.rounds = append(b.rounds, round)
	}
}

// contact makes connections with the successors on other hosts that nothing was sent to yet, which a
// barrier alone may not need: a rank notices the silence of another one, or that the network between
// the two is cut, by its connection. It does not block.
func (g *Group) contact() {
	p := g.p
	for m := range topology.Successors(g.me, len(g.ranks)) {
		r := g.ranks[m]
		if p.hosts.On(r) != p.hosts.On(p.rank) && p.links[r].Load() == nil {
			p.tellLater(r, transport.Flag{Segment: p.lay.ID, ID: p.lay.ContactSlot(), Value: 1})
		}
	}
}

// connect blocks until all members have connected with those with which they signal in barriers. It is the last part of
// Init. A member that has ended is no error: the first call that needs it tells of that.
func (g *Group) connect(ctx context.Context) error {
	_, err := g.internal.run(ctx, "init")
	if isTimeLimit(err) {
		return err
	}
	return nil
}

// slotAt is the first notification of the barrier at a member.
func (b *barrier) slotAt(member int) notify.ID {
	return b.g.p.lay.GroupSlot(b.g.indexOf[member]) + b.slot
}

// run does one barrier, or goes on with the one that ended early. op is the name
// of the call in errors. It returns the number of the barrier, 0 if another goroutine is in one.
func (b *barrier) run(ctx context.Context, op string) (notify.Value, error) {
	if !b.busy.enter() {
		return 0, b.g.error(op, fmt.Errorf("%w: a barrier of the group is under way in another goroutine; use a group for each, made by Dup", ErrInUse))
	}
	defer b.busy.leave()
	if !b.active {
		b.epoch = nextEpoch(b.epoch)
		b.active, b.round, b.sent, b.passed = true, 0, false, false
	}
	if b.rounds == nil {
		b.plan()
		b.g.contact()
	}
	for ; b.round < len(b.rounds); b.round++ {
		round := &b.rounds[b.round]
		if !b.sent {
			if err := b.signal(ctx, round); err != nil {
				b.passOn(err)
				return b.epoch, b.g.error(op, err)
			}
			b.sent = true
		}
		if err := b.wait(ctx, round); err != nil {
			b.passOn(err)
			return b.epoch, b.fail(op, err)
		}
		b.sent = false
	}
	b.active = false
	return b.epoch, nil
}

// nextEpoch is the number after e; 0 is skipped, because it means "not set".
func nextEpoch(e notify.Value) notify.Value {
	if e++; e == 0 {
		e = 1
	}
	return e
}

// signal tells the members of this round. Doing it again after an error does no
// harm: the same number is posted.
func (b *barrier) signal(ctx context.Context, round *barrierRound) error {
	p := b.g.p
	for _, to := range round.to {
		way, err := p.route(to.rank)
		if err == nil {
			err = way.Notify(p.internal, transport.Flag{Segment: p.lay.ID, ID: to.id, Value: b.epoch})
		}
		if err == nil {
			continue
		}
		if err = b.g.fault(ctx, to.rank, err); !b.ended(round, to.rank, err) {
			return err
		}
	}
	return nil
}

// ended reports whether err says that a rank has left the job, and its signal of the round is there. It had that of this
// rank, then, from code in another language, for which the barrier goes on.
func (b *barrier) ended(round *barrierRound, r Rank, err error) bool {
	gone, ok := errors.AsType[*RankError](err)
	return ok && gone.Left && !errors.Is(err, ErrRevoked) && slices.Contains(round.from, r) && !slices.Contains(b.missing(), r)
}

func (b *barrier) wait(ctx context.Context, round *barrierRound) error {
	want := notify.EveryUntil(round.first, uint32(len(round.from)), notify.Reached, b.epoch)
	_, err := b.g.p.system.Notifications().Wait(ctx, want, b.stop, &b.waits)
	if b.waits.Load() > 0 {
		b.account(round)
	}
	return err
}

// account accounts for the time that a round was waited for: also to a peer, if it alone was waited for.
func (b *barrier) account(round *barrierRound) {
	d := b.waits.Swap(0)
	if b.spent == nil {
		return
	}
	b.spent.Add(d)
	if len(round.from) == 1 {
		b.g.p.stats.peers.at(round.from[0]).groupWait.Add(d)
	}
}

// missing are the ranks whose signals of this round have not come.
func (b *barrier) missing() []Rank {
	round := &b.rounds[b.round]
	var ranks []Rank
	for j, r := range round.from {
		want := notify.Until(round.first+notify.ID(j), notify.Reached, b.epoch)
		if _, there, _ := b.g.p.system.Notifications().Try(want); !there {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// why is asked by waits whether they should end: when a member has died or is lost
// to this rank, since the signal may depend on it through others; when one has left,
// only if its own signal is missing, or another member says that its part is, for it may have
// left after its part was done.
func (b *barrier) why() error {
	return cmp.Or(b.g.overWithout(b.missing), b.withoutLeft())
}

// The notification at layout.Left says which barrier it is of, since the one before may not have
// ended at the member that gets it.
//
//	| number of the barrier: its low 15 bits | rank that has left + 1: 17 bits |
const leftBits = 17

// leftNews is the notification for rank r.
func (b *barrier) leftNews(r Rank) notify.Value { return b.epoch<<leftBits | notify.Value(r+1) }

// passOn tells the hearers if the barrier ends with err because a rank has left the job without its
// part: they may wait for others alone. They pass it on. A revocation is told by itself, also one
// because of a rank that has left by now. It does not block.
func (b *barrier) passOn(err error) {
	gone, ok := errors.AsType[*RankError](err)
	if !ok || !gone.Left || b.passed || errors.Is(err, ErrRevoked) {
		return
	}
	b.passed = true
	p := b.g.p
	for _, m := range b.g.near.Hearers {
		p.tellLater(b.g.ranks[m], transport.Flag{Segment: p.lay.ID, ID: b.slotAt(m) + layout.Left, Value: b.leftNews(gone.Rank)})
	}
}

// withoutLeft returns the end of the rank that another member says has left without its part.
func (b *barrier) withoutLeft() error {
	p := b.g.p
	v := p.system.Notifications().Load(b.slotAt(b.g.me) + layout.Left)
	r := Rank(v&(1<<leftBits-1)) - 1
	if r < 0 || int(r) >= p.size || v != b.leftNews(r) {
		return nil
	}
	return cmp.Or(p.peers.FirstLeft([]Rank{r}), error(&RankError{Rank: r, Reason: "it has left the job", Left: true}))
}

func (b *barrier) fail(op string, err error) error {
	if isBare(err) {
		return err
	}
	e := &OpError{Op: op, At: b.g.String(), Err: err}
	if isTimeLimit(err) {
		e.Wait = rankList(b.missing())
	}
	return e
}

// rankList is "rank 3" or "ranks 3, 5".
func rankList(ranks []Rank) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	s := "ranks "
	for i, r := range ranks {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(int(r))
	}
	return s
}
