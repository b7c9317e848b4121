package gaspi

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Barrier blocks until all members of g have called it. A barrier orders nothing but itself:
// writes and notifications that a rank posted before it are not complete because of it. When
// ctx ends first, calling Barrier again goes on with the same barrier and sends nothing twice.
//
// It is a dissemination barrier with radix 16: in round k each rank signals up
// to 15 ranks at distances j x 16^k, and waits for as many. It takes
// ceil(log16 size) rounds and no memory beyond its notifications.
func (p *Proc) Barrier(ctx context.Context, g *Group) error {
	if err := g.ready("barrier"); err != nil {
		return err
	}
	p.stats.barriers.Add(1)
	return g.barrier.run(ctx, "barrier")
}

// barrier is one barrier of a group and how far it has come. All its state but
// busy belongs to the caller who holds busy.
type barrier struct {
	g      *Group
	slot   notify.ID // its first notification within the group's
	busy   atomic.Bool
	rounds []barrierRound // made by the first run, which knows where the group lies at its members

	epoch  notify.Value // number of the barrier under way or of the last one; never 0
	active bool         // a barrier is under way
	round  int
	sent   bool // the signals of this round are sent

	stop  func() error
	spent *atomic.Int64
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

// plan makes the rounds: in the one with a given stride, signals go to the members
// at distances stride, 2 x stride ... below the size.
func (b *barrier) plan() {
	g, n := b.g, len(b.g.ranks)
	b.rounds = []barrierRound{}
	for stride := 1; stride < n; stride *= fanout {
		slot := b.slot + notify.ID(len(b.rounds)*(fanout-1))
		round := barrierRound{first: g.p.lay.groupSlot(g.index) + slot}
		for j := range inRound(stride, n) {
			distance := (j + 1) * stride
			to := (g.me + distance) % n
			round.to = append(round.to, barrierSignal{
				rank: g.ranks[to],
				id:   g.p.lay.groupSlot(g.indexOf[to]) + slot + notify.ID(j),
			})
			round.from = append(round.from, g.ranks[(g.me-distance+n)%n])
		}
		b.rounds = append(b.rounds, round)
	}
}

// inRound is how many members, of n, a member signals in the round with a stride.
func inRound(stride, n int) int { return min(fanout-1, (n-1)/stride) }

// distances are how far away those are that a member signals in a barrier of n.
func distances(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for stride := 1; stride < n; stride *= fanout {
			for j := range inRound(stride, n) {
				if !yield((j + 1) * stride) {
					return
				}
			}
		}
	}
}

// run does one barrier, or goes on with the one that ended early. op is the name
// of the call in errors.
func (b *barrier) run(ctx context.Context, op string) error {
	if !b.busy.CompareAndSwap(false, true) {
		return b.g.error(op, fmt.Errorf("%w: a barrier of the group is under way in another goroutine; use a group for each, made by Dup", ErrInUse))
	}
	defer b.busy.Store(false)
	if !b.active {
		b.epoch = nextEpoch(b.epoch)
		b.active, b.round, b.sent = true, 0, false
	}
	if b.rounds == nil {
		b.plan()
	}
	for ; b.round < len(b.rounds); b.round++ {
		round := &b.rounds[b.round]
		if !b.sent {
			if err := b.signal(ctx, round); err != nil {
				return b.g.error(op, err)
			}
			b.sent = true
		}
		if err := b.wait(ctx, round); err != nil {
			return b.fail(op, err)
		}
		b.sent = false
	}
	b.active = false
	return nil
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
			err = way.Notify(p.internal, transport.Flag{Segment: p.lay.id, ID: to.id, Value: b.epoch})
		}
		if err != nil {
			return b.g.fault(ctx, to.rank, err)
		}
	}
	return nil
}

func (b *barrier) wait(ctx context.Context, round *barrierRound) error {
	want := notify.EveryUntil(round.first, uint32(len(round.from)), notify.Reached, b.epoch)
	_, err := b.g.p.system.Notifications().Wait(ctx, want, b.stop, b.spent)
	return err
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
// only if its own signal is missing, for it may have left after its part was done.
func (b *barrier) why() error {
	return b.g.overWithout(b.missing)
}

func (b *barrier) fail(op string, err error) error {
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
