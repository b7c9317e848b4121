package gaspi

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/numbers"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/gaspi/internal/turns"
	"github.com/gaspi-go/gaspi-go/internal/sys/cpu"
	"github.com/gaspi-go/gaspi-go/notify"
)

// The keys of turns: the kind of the call, and behind it the id of a segment or a tag.
const (
	turnSegment turns.CallKey = (iota + 1) << tagBits // CreateSegment and UseSegment of an id
	turnAny                                           // the same of AnySegment
	turnDup
)

// A Tag tells calls apart that are made over one group in several goroutines at a
// time and have nothing else that does: Group.Dup, and creations of AnySegment. It is
// below 1<<28, and those from 1<<16 on are for libraries. Calls with one tag match by
// their order, which is then to be the same on all members.
type Tag uint32

const tagBits = 28

// check returns an error for a tag that is too large.
func (t Tag) check() error {
	if t >= 1<<tagBits {
		return fmt.Errorf("%w: tag %d; want less than %d", ErrOutOfRange, t, 1<<tagBits)
	}
	return nil
}

// groupTurns are the turns of a group. Keys are notifications of the system segment.
type groupTurns struct {
	g *Group
	*turns.Turns
	stop func() error
}

func newTurns(g *Group) *groupTurns {
	t := &groupTurns{g: g}
	t.Turns = turns.New(g.me == 0, len(g.near.Children), turnLine{g})
	// A caller that waits here has not begun, so no member that has left can have done its part.
	t.stop = func() error { return g.overWithout(func() []Rank { return g.ranks }) }
	return t
}

// turnLine carries keys down the tree of a group.
type turnLine struct{ *Group }

func (l turnLine) slot() notify.ID { return l.p.lay.GroupSlot(l.index) + l.p.lay.Group.Turn }

// Arrived implements turns.Line.
func (l turnLine) Arrived() bool { return l.p.system.Notifications().Load(l.slot()) != 0 }

// Take implements turns.Line.
func (l turnLine) Take() turns.CallKey {
	v, _ := l.p.system.Notifications().Reset(l.slot()) // after Close it is 0, and the caller's wait ends
	return turns.CallKey(v)
}

// Forward implements turns.Line.
func (l turnLine) Forward(child int, key turns.CallKey) error {
	m := l.near.Children[child]
	return l.tell(m, l.p.lay.GroupSlot(l.indexOf[m])+l.p.lay.Group.Turn, notify.Value(key))
}

// enter blocks until it is the turn of the call with a key, or of the same call that
// ended early. what is the call as messages show it.
func (t *groupTurns) enter(ctx context.Context, key turns.CallKey, what string) error {
	array := t.g.p.system.Notifications()
	ready := func() bool { return t.Ready(key) }
	for {
		if err := array.WaitFunc(ctx, ready, t.stop, nil); err != nil {
			return t.fail(err)
		}
		mine, child, err := t.Advance(key, what)
		if err != nil {
			return t.g.fault(ctx, t.g.ranks[t.g.near.Children[child]], err)
		}
		if mine {
			return nil
		}
		array.WakeSleepers() // the others look at the new key
	}
}

// leave gives the turn to the next call, unless this one is to be finished first.
func (t *groupTurns) leave(done bool) {
	t.Leave(done)
	t.g.p.system.Notifications().WakeSleepers()
}

// giveUp gives back what an unfinished call has taken: the group is deleted.
func (t *groupTurns) giveUp() {
	if work, there := t.Abandon().(interface{ giveUp() }); there {
		work.giveUp()
	}
}

// fail is the error of a call whose turn has not come.
func (t *groupTurns) fail(err error) error {
	e := &OpError{At: t.g.String(), Err: err}
	if !isTimeLimit(err) {
		return e
	}
	switch key, what, held := t.UnderWay(); {
	case key == 0 && t.g.me == 0: // the call that had the turn ended after the caller's last look
		e.Wait = "its turn, which another goroutine had"
	case key == 0:
		e.Wait = fmt.Sprintf("rank %d, to begin the call", t.g.ranks[t.g.near.Parent])
	case what == "":
		e.Wait = fmt.Sprintf("its turn: rank %d has begun %s over the group, which no goroutine here has called", t.g.ranks[0], callOf(key))
	case !held:
		e.Wait = what + ", which ended early on this group and is to be finished first, by the same call again"
		e.Err = fmt.Errorf("%w: %w", ErrInUse, err)
	default:
		e.Wait = what + " in another goroutine"
	}
	return e
}

// callOf is the call that a key stands for.
func callOf(k turns.CallKey) string {
	value := k & (1<<tagBits - 1)
	switch k &^ (1<<tagBits - 1) {
	case turnSegment:
		return fmt.Sprintf("the creation of segment %d", value)
	case turnAny:
		return fmt.Sprintf("a creation of AnySegment with tag %d", value)
	}
	return fmt.Sprintf("a Dup with tag %d", value)
}

// A draw is a numbers.Draw of the members of a group. It belongs to the caller whose turn it is.
type draw struct {
	*numbers.Draw
	noun string // what is drawn, for errors
}

// newDraw returns a draw of the numbers below count.
func (p *Proc) newDraw(from numbers.Pool, count int, noun string) *draw {
	return &draw{numbers.NewDraw(from, count, numbers.Votes{Rank: p.rank, Size: p.size}), noun}
}

// run goes on until a number is found and reserved, or nobody finds one. After an
// error that ends the call for all members, ended is true and nothing is reserved.
func (d *draw) run(ctx context.Context, g *Group) (ended bool, err error) {
	for !d.Found() {
		least, err := g.castBallot(ctx, d.Vote())
		if err != nil {
			return false, err
		}
		if !d.Count(least) {
			return true, d.refused(d.None())
		}
	}
	return false, nil
}

// verdict ends the call: it returns nil if wrong is nil on all members, and otherwise
// an error on all of them. ended is false if it is to be called again, and if this rank has
// closed: it casts no vote then, and the next call, whose ballot would take those of the others for
// its own, gets no turn. The others hear of the end.
func (d *draw) verdict(ctx context.Context, g *Group, wrong error) (ended bool, err error) {
	if wrong != nil && g.p.closed.Load() {
		return false, wrong
	}
	vote := d.For(0)
	if wrong != nil {
		vote = d.Veto()
	}
	least, err := g.castBallot(ctx, vote)
	if err != nil {
		return false, err
	}
	if wrong != nil {
		return true, wrong
	}
	return true, d.refused(least)
}

// refused is the error that the least vote of a ballot stands for, or nil.
func (d *draw) refused(least notify.Value) error {
	switch none := d.None(); {
	case least < none:
		return fmt.Errorf("%w: rank %d cannot take part, and says why", ErrMismatch, least-1)
	case least == none:
		return fmt.Errorf("%w: no %s is free on all members", ErrTooMany, d.noun)
	}
	return nil
}

// castBallot returns the least vote of all members. It is the caller's turn; when the ballot ends
// early, the next one goes on with it.
func (g *Group) castBallot(ctx context.Context, vote notify.Value) (notify.Value, error) {
	least, err := g.ballot.run(ctx, vote)
	if err == nil {
		return least, nil
	}
	e := &OpError{At: g.String(), Err: err}
	if isTimeLimit(err) {
		e.Wait = g.ballot.waitingFor()
	}
	return 0, e
}

// exclusive admits one caller of an operation at a time, and refuses others. The zero value admits.
type exclusive struct{ taken atomic.Uint64 }

// enter reports whether the caller is admitted. It does not block. A caller that is admitted sees all that
// earlier ones did before they left.
func (e *exclusive) enter() bool { return e.taken.CompareAndSwap(0, 1) }

// leave ends what enter began.
func (e *exclusive) leave() { cpu.StoreRelease64(&e.taken, 0) }

// A ballot finds the least vote of all members of a group, and is a barrier. It is
// the runtime's own: it consists of notifications alone, up the tree and back down,
// and has slots that nothing else uses. All state belongs to the caller whose turn
// it is; see turns.
//
// Each slot is taken off the array by its reader before the reader sends what
// follows from it, and written again only after that. So no vote is overwritten.
type ballot struct {
	tree
	active bool
	stage  treeStage
	least  notify.Value
	told   int // children that have the result
}

func newBallot(g *Group) *ballot {
	b := &ballot{}
	b.plant(g, func(slot int) bool { return g.p.system.Notifications().Load(b.id(g.index, slot)) != 0 })
	return b
}

// id is the notification of a slot at a member whose index of the group is given.
func (b *ballot) id(index, slot int) notify.ID {
	return b.g.p.lay.GroupSlot(index) + b.g.p.lay.Group.Ballot + notify.ID(slot)
}

// run casts vote, which is not 0, and returns the least of all. When it ends early,
// calling it again goes on, with the vote of the first call.
func (b *ballot) run(ctx context.Context, vote notify.Value) (notify.Value, error) {
	if !b.active {
		b.active, b.stage, b.least, b.told = true, gathering, vote, 0
	}
	for b.active {
		if err := b.step(ctx); err != nil {
			return 0, err
		}
	}
	return b.least, nil
}

// step does one stage; an error leaves the rest of the stage to be done again.
func (b *ballot) step(ctx context.Context) error {
	array := b.g.p.system.Notifications()
	switch b.stage {
	case gathering:
		first := b.id(b.g.index, 0)
		if _, err := array.Wait(ctx, notify.Every(first, uint32(len(b.children()))), b.upStop, nil); err != nil {
			return err
		}
		for c := range b.children() {
			v, err := array.Reset(first + notify.ID(c))
			if err != nil { // the Proc was closed meanwhile
				return err
			}
			b.least = min(b.least, v)
		}
		b.stage = delivering
		if b.g.me == 0 {
			b.stage = spreading
		}
	case delivering:
		if err := b.send(ctx, b.parent(), b.g.near.Slot); err != nil {
			return err
		}
		b.stage = awaiting
	case awaiting:
		id := b.id(b.g.index, topology.ParentSlot)
		if _, err := array.Wait(ctx, notify.Some(id, 1), b.downStop, nil); err != nil {
			return err
		}
		v, err := array.Reset(id)
		if err != nil { // the Proc was closed meanwhile
			return err
		}
		b.least, b.stage = v, spreading
	case spreading:
		for ; b.told < len(b.children()); b.told++ {
			if err := b.send(ctx, b.children()[b.told], topology.ParentSlot); err != nil {
				return err
			}
		}
		b.active = false
	}
	return nil
}

func (b *ballot) send(ctx context.Context, member, slot int) error {
	return b.g.fault(ctx, b.g.ranks[member], b.g.tell(member, b.id(b.g.indexOf[member], slot), b.least))
}

// waitingFor is whom a ballot that ended early was waiting for.
func (b *ballot) waitingFor() string {
	if b.stage == awaiting {
		return rankList([]Rank{b.g.ranks[b.parent()]})
	}
	return rankList(b.missing())
}
