package gaspi

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// Barrier blocks until all members of g have called it. What a rank wrote and
// notified before it is not thereby complete: a barrier orders nothing but
// itself. When ctx ends first, calling Barrier again goes on with the same
// barrier and sends nothing twice.
//
// It is a dissemination barrier with radix 16: in round k each rank signals up
// to 15 ranks at distances j x 16^k, and waits for as many. It takes
// ceil(log16 size) rounds and no memory beyond its notifications.
func (p *Proc) Barrier(ctx context.Context, g *Group) error {
	if err := g.ready("barrier"); err != nil {
		return err
	}
	p.stats.barriers.Add(1)
	return g.barrier.run(ctx, "barrier", "barrier")
}

// barrier is one barrier of a group and how far it has come. All its state but
// busy belongs to the caller who holds busy.
type barrier struct {
	g    *Group
	slot notify.ID // its first notification within the group's
	busy atomic.Bool

	epoch  notify.Value // number of the barrier under way or of the last one; never 0
	active bool         // a barrier is under way
	what   string       // the call that it is part of
	round  int
	sent   bool // the signals of this round are sent

	stop  func() error
	spent *atomic.Int64
}

func newBarrier(g *Group, slot notify.ID, spent *atomic.Int64) *barrier {
	b := &barrier{g: g, slot: slot, spent: spent}
	b.stop = b.why
	return b
}

// run does one barrier, or goes on with the one that ended early, which must have
// been part of the same call: what says which, and op is its name in errors.
func (b *barrier) run(ctx context.Context, op, what string) error {
	if !b.busy.CompareAndSwap(false, true) {
		return b.g.error(op, fmt.Errorf("%w: the same call is under way in another goroutine", ErrInUse))
	}
	defer b.busy.Store(false)
	if !b.active {
		b.epoch = nextEpoch(b.epoch)
		b.active, b.what, b.round, b.sent = true, what, 0, false
	}
	if b.what != what {
		return b.g.error(op, fmt.Errorf("%w: %s ended early on this group and is to be finished first, by the same call again", ErrInUse, b.what))
	}
	n := len(b.g.ranks)
	for ; b.stride() < n; b.round++ {
		if !b.sent {
			if err := b.signal(); err != nil {
				return b.g.error(op, err)
			}
			b.sent = true
		}
		if err := b.wait(ctx); err != nil {
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

// stride is fanout^round.
func (b *barrier) stride() int {
	s := 1
	for range b.round {
		s *= fanout
	}
	return s
}

// partners is how many ranks this one signals in this round: those at
// distances stride, 2 x stride ... below the size.
func (b *barrier) partners() int {
	return min(fanout-1, (len(b.g.ranks)-1)/b.stride())
}

// first is the first notification of this round, relative to the group's.
func (b *barrier) first() notify.ID { return b.slot + notify.ID(b.round*(fanout-1)) }

// signal tells the partners of this round. Doing it again after an error does
// no harm: the same number is posted.
func (b *barrier) signal() error {
	g, p, n := b.g, b.g.p, len(b.g.ranks)
	for j := range b.partners() {
		to := (b.g.me + (j+1)*b.stride()) % n
		link, err := p.link(g.ranks[to])
		if err != nil {
			return err
		}
		id := p.lay.groupSlot(g.indexOf[to]) + b.first() + notify.ID(j)
		if err := link.Notify(p.internal, transport.Flag{Segment: p.lay.id, ID: id, Value: b.epoch}); err != nil {
			return p.fault(g.ranks[to], err)
		}
	}
	return nil
}

func (b *barrier) wait(ctx context.Context) error {
	p := b.g.p
	first := p.lay.groupSlot(b.g.index) + b.first()
	_, err := p.system.Board().Wait(ctx, notify.EveryUntil(first, uint32(b.partners()), notify.Reached, b.epoch), b.stop, b.spent)
	return err
}

// from is the member that signals this one as its j-th partner.
func (b *barrier) from(j int) int {
	n := len(b.g.ranks)
	return ((b.g.me-(j+1)*b.stride())%n + n) % n
}

// missing reports whether the j-th signal of this round has not come.
func (b *barrier) missing(j int) bool {
	p := b.g.p
	id := p.lay.groupSlot(b.g.index) + b.first() + notify.ID(j)
	_, there, _ := p.system.Board().Try(notify.Until(id, notify.Reached, b.epoch))
	return !there
}

// why is asked by waits whether they should end: when a member has died, since
// the signal may depend on it through others; when one has left, only if its
// own signal is missing, for it may have left after its part was done.
func (b *barrier) why() error {
	p := b.g.p
	if err := p.ended(); err != nil {
		return err
	}
	if p.gone.Load() == 0 {
		return nil
	}
	if err := p.diedAmong(b.g.ranks); err != nil {
		return err
	}
	for j := range b.partners() {
		if err := p.left(b.g.ranks[b.from(j)]); err != nil && b.missing(j) {
			return err
		}
	}
	return nil
}

func (b *barrier) fail(op string, err error) error {
	e := &OpError{Op: op, At: b.g.String(), Err: err}
	if !isTimeLimit(err) {
		return e
	}
	var missing []Rank
	for j := range b.partners() {
		if b.missing(j) {
			missing = append(missing, b.g.ranks[b.from(j)])
		}
	}
	e.Wait = rankList(missing)
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
