package gaspi

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/numbers"
	"github.com/gaspi-go/gaspi-go/notify"
)

// turns orders the collective calls that package gaspi itself makes over a group:
// creations of segments, and Dup. Several goroutines of a rank may make them at a
// time, in another order at each member. The first member decides: it begins one
// call at a time and sends its key down the tree; at the others, the call with that
// key goes on, and the rest wait. The key of the next call is sent when the one
// before has ended, which takes all members, so no key is overwritten.
//
// A goroutine that waits for its turn also forwards keys that are not its own.
type turns struct {
	g    *Group
	stop func() error

	mu   sync.Mutex
	key  turnKey // guarded by mu; of the call under way, 0 if none is known here
	told int     // guarded by mu; children that the key was forwarded to
	what string  // guarded by mu; the call under way if it has begun here, else empty
	held bool    // guarded by mu; a goroutine is in it; false if what is set: it ended early
	work any     // of the caller whose turn it is: how far the call has come
}

// A turnKey tells calls over one group apart, alike on all members: the kind of the
// call, and behind it the id of a segment or a tag.
type turnKey uint32

const (
	turnSegment turnKey = (iota + 1) << tagBits // CreateSegment and UseSegment of an id
	turnAny                                     // the same of AnySegment
	turnDup
)

// A Tag tells calls apart that are made over one group in several goroutines at a
// time and have nothing else that does: Group.Dup, and creations of AnySegment. It is
// below 1<<28, and those from 1<<16 on are for libraries. Calls with one tag match by
// their order, which is then to be the same on all members.
type Tag uint32

const tagBits = 28

func newTurns(g *Group) *turns {
	t := &turns{g: g}
	t.stop = t.why
	return t
}

func (t *turns) slot() notify.ID { return t.g.p.lay.groupSlot(t.g.index) + slotTurn }

// enter blocks until it is the turn of the call with a key, or of the same call that
// ended early. what is the call as messages show it.
func (t *turns) enter(ctx context.Context, key turnKey, what string) error {
	array := t.g.p.system.Notifications()
	ready := func() bool { return t.ready(key) }
	for {
		if err := array.WaitFunc(ctx, ready, t.stop, nil); err != nil {
			return t.fail(err)
		}
		mine, child, err := t.advance(key, what)
		if mine || err != nil {
			return t.g.fault(ctx, t.g.ranks[child], err)
		}
		array.WakeSleepers() // the others look at the new key
	}
}

// ready reports whether advance has something to do.
func (t *turns) ready(key turnKey) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.key == 0:
		return t.g.me == 0 || t.g.p.system.Notifications().Load(t.slot()) != 0
	case t.told < childrenOf(t.g.me, len(t.g.ranks)):
		return true
	}
	return t.key == key && !t.held
}

// advance takes a key off the array, or decides on one, forwards it, and reports
// whether it is the caller's turn. Its error is that of telling a child. It does not block.
func (t *turns) advance(key turnKey, what string) (mine bool, child int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.key == 0 {
		next := key
		if t.g.me != 0 {
			v, _ := t.g.p.system.Notifications().Reset(t.slot()) // after Close it is 0, and the caller's wait ends
			next = turnKey(v)
		}
		t.key, t.told = next, 0
	}
	if t.key == 0 {
		return false, 0, nil
	}
	for ; t.told < childrenOf(t.g.me, len(t.g.ranks)); t.told++ {
		child = firstChildOf(t.g.me) + t.told
		slot := t.g.p.lay.groupSlot(t.g.indexOf[child]) + slotTurn
		if err := t.g.tell(child, slot, notify.Value(t.key)); err != nil {
			return false, child, err
		}
	}
	if t.key != key || t.held {
		return false, 0, nil
	}
	t.held, t.what = true, what
	return true, 0, nil
}

// leave gives the turn to the next call, unless this one is to be finished first.
func (t *turns) leave(done bool) {
	t.mu.Lock()
	t.held = false
	if done {
		t.key, t.what, t.work = 0, "", nil
	}
	t.mu.Unlock()
	t.g.p.system.Notifications().WakeSleepers()
}

// begun reports whether a call has begun here and not ended.
func (t *turns) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.what != ""
}

// giveUp gives back what an unfinished call has taken: the group is deleted.
func (t *turns) giveUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if work, there := t.work.(interface{ giveUp() }); there && !t.held {
		work.giveUp()
		t.work = nil
	}
}

// why is asked by waits whether they should end. A caller that waits here has not begun, so no
// member that has left can have done its part.
func (t *turns) why() error {
	return t.g.overWithout(func() []Rank { return t.g.ranks })
}

// fail is the error of a call whose turn has not come.
func (t *turns) fail(err error) error {
	e := &OpError{At: t.g.String(), Err: err}
	if !isTimeLimit(err) {
		return e
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.key == 0:
		e.Wait = fmt.Sprintf("rank %d, to begin the call", t.g.ranks[parentOf(t.g.me)])
	case t.what == "":
		e.Wait = fmt.Sprintf("its turn: rank %d has begun %v over the group, which no goroutine here has called", t.g.ranks[0], t.key)
	case !t.held:
		e.Wait = t.what + ", which ended early on this group and is to be finished first, by the same call again"
		e.Err = fmt.Errorf("%w: %w", ErrInUse, err)
	default:
		e.Wait = t.what + " in another goroutine"
	}
	return e
}

// String is the call that a key stands for.
func (k turnKey) String() string {
	value := k & (1<<tagBits - 1)
	switch k &^ (1<<tagBits - 1) {
	case turnSegment:
		return fmt.Sprintf("the creation of segment %d", value)
	case turnAny:
		return fmt.Sprintf("a creation of AnySegment with tag %d", value)
	}
	return fmt.Sprintf("a Dup with tag %d", value)
}

// check returns an error for a tag that is too large.
func (t Tag) check() error {
	if t >= 1<<tagBits {
		return fmt.Errorf("%w: tag %d; want less than %d", ErrOutOfRange, t, 1<<tagBits)
	}
	return nil
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
// an error on all of them. ended is false if it is to be called again.
func (d *draw) verdict(ctx context.Context, g *Group, wrong error) (ended bool, err error) {
	if errors.Is(wrong, ErrClosed) { // the others hear of that
		return true, wrong
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
