package gaspi

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/peerstate"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A consent is an agreement of those members of a group that are alive. It consists of
// notifications alone, of each member at all others, in two parts:
//
//   - Each member tells all others its flags, and waits for those of all others that have
//     not ended.
//   - In the order of the members, each tells all others the flags that it has so far, and
//     the others take these over, unless it has ended.
//
// Members that have ended are known by what the launcher announced, which is always true,
// and only when nothing of theirs arrives any more. So all that are alive learn the same
// flags from the first one that is alive until the end, and keep these. It tolerates any
// number of deaths, at any moment, and takes as many messages as there are members, at
// each of them: see Chandra and Toueg, "Unreliable failure detectors for reliable
// distributed systems", J. ACM 43 (1996), section 6, of which this is the form for a
// perfect detector.
//
// Each notification is taken off the array by its reader before that tells the poster
// anything more, so that none is overwritten by the next agreement.
//
// A member that has lost another one which nobody says has ended tells so in place of
// flags, and so do those that hear of it: the agreement then ends with an error, and there is
// no further one.
type consent struct {
	g    *Group
	busy atomic.Bool

	active bool
	part   int // of the two
	at     int // the next member in the part
	told   bool
	flags  uint32
	broken error
}

// The parts of an agreement.
const (
	telling = iota
	adopting
	parts
)

// flagged is set in notifications that carry flags. The others say which two members have
// lost each other: see split.
const flagged = 1 << 31

// A split is two members that have lost each other, the one with the lower index first.
type split struct{ a, b int }

// value is the split in a notification: 1 more than its number among all splits in the order
// of b, and then of a. The numbers for 65536 members, the most of a job, are below flagged.
func (x split) value() notify.Value { return notify.Value(x.b*(x.b-1)/2 + x.a + 1) }

// splitOf is the split with a value.
func splitOf(v notify.Value) split {
	n := int(v) - 1
	b := int(math.Sqrt(float64(2*n))) + 1 // at most 1 too large
	if b*(b-1)/2 > n {
		b--
	}
	return split{n - b*(b-1)/2, b}
}

func newConsent(g *Group) *consent { return &consent{g: g} }

// Agree returns the flags that all members have set that call it, combined by a
// bitwise and, as MPI_Comm_agree does: the same on all members that are alive, whoever dies
// meanwhile. A member that is dead, or dies before it has told its flags to any other, has
// all of them set; so has one that left the job. Flags are below 1<<31. It goes on when the
// group is revoked.
//
// It is collective over the members that are alive, and blocks. Each sends two messages to
// all others. When ctx ends first, the same call again goes on, with the flags of the first
// one; Shrink waits for its end. If two members have lost each other and both live, no
// agreement is possible: it ends with a *RankError that names one of them, on all members
// that have not ended before, and so does each further Agree and Shrink of the group. That is
// so once whoever started the job would have told of an end: docs/HOSTS.md says when.
func (g *Group) Agree(ctx context.Context, flags uint32) (uint32, error) {
	if err := g.made("group_agree"); err != nil {
		return 0, err
	}
	if flags >= flagged {
		return 0, g.error("group_agree", fmt.Errorf("%w: flags %#x; want less than 1<<31", ErrOutOfRange, flags))
	}
	if !g.consent.busy.CompareAndSwap(false, true) {
		return 0, g.error("group_agree", fmt.Errorf("%w: Agree or Shrink of the group is under way in another goroutine", ErrInUse))
	}
	defer g.consent.busy.Store(false)
	if g.shrink.active {
		return 0, g.error("group_agree", fmt.Errorf("%w: a Shrink of the group ended early and is to be finished first", ErrInUse))
	}
	flags, err := g.consent.run(ctx, flags)
	if err != nil {
		return 0, g.wrap("group_agree", err)
	}
	return flags, nil
}

// run makes an agreement, or goes on with the one that ended early. The caller holds busy.
func (c *consent) run(ctx context.Context, flags uint32) (uint32, error) {
	if c.broken != nil {
		return 0, c.broken
	}
	if !c.active {
		c.active, c.part, c.at, c.told, c.flags = true, telling, 0, false, flags
	}
	for ; c.part < parts; c.part++ {
		for ; c.at < len(c.g.ranks); c.at++ {
			if err := c.step(ctx); err != nil {
				return 0, err
			}
		}
		c.at, c.told = 0, false
	}
	c.active = false
	return c.flags, nil
}

// step is what there is to do with the next member of a part.
func (c *consent) step(ctx context.Context) error {
	if !c.told && (c.part == telling || c.at == c.g.me) {
		c.tell(notify.Value(c.flags|flagged), c.part)
		c.told = true
	}
	if c.at == c.g.me {
		return nil
	}
	v, err := c.await(ctx, c.at)
	switch {
	case err != nil:
		return err
	case v == 0:
	case v&flagged == 0:
		return c.give(c.toldBy(c.at, v))
	case c.part == telling:
		c.flags &= uint32(v)
	default:
		c.flags = uint32(v) &^ flagged
	}
	return nil
}

// tell posts v at all other members that have not ended, in some parts. A first contact may
// take long, so those are made at the same time.
func (c *consent) tell(v notify.Value, in ...int) {
	var contacts sync.WaitGroup
	for m, r := range c.g.ranks {
		if m == c.g.me || c.ended(m) {
			continue
		}
		post := func() {
			for _, part := range in {
				c.post(part, m, v)
			}
		}
		if c.g.p.links[r].Load() == nil {
			contacts.Go(post)
		} else {
			post()
		}
	}
	contacts.Wait()
}

func (c *consent) post(part, m int, v notify.Value) {
	p := c.g.p
	flag := transport.Flag{Segment: p.lay.id, ID: p.lay.consentSlot(c.g.indexOf[m], part, c.g.me), Value: v}
	way, err := p.route(c.g.ranks[m])
	if err == nil {
		err = way.Notify(p.internal, flag)
	}
	p.peers.Doubt(err)
}

// ended reports whether nothing of member m arrives any more.
func (c *consent) ended(m int) bool {
	return c.g.p.peers.At(c.g.ranks[m]).Quiet
}

// await returns what member m tells in this part, 0 if it has ended instead.
func (c *consent) await(ctx context.Context, m int) (notify.Value, error) {
	p, array := c.g.p, c.g.p.system.Notifications()
	id := p.lay.consentSlot(c.g.index, c.part, m)
	there := func() bool {
		ended := c.ended(m) // before the look, since nothing arrives after the end
		return array.Load(id) != 0 || ended
	}
	lost := func() error {
		if err := p.ended(); err != nil {
			return err
		}
		if x, is := c.apart(); is {
			return c.why(x)
		}
		return nil
	}
	if err := array.WaitFunc(ctx, there, lost, nil); err != nil {
		if isTimeLimit(err) {
			return 0, &OpError{At: c.g.String(), Err: err, Wait: rankList([]Rank{c.g.ranks[m]})}
		}
		if x, is := c.apart(); is && p.ended() == nil {
			err = c.give(x)
		}
		return 0, err
	}
	return array.Reset(id)
}

// apart returns two members that have lost each other, if this one has lost another or some
// member says so.
func (c *consent) apart() (split, bool) {
	p := c.g.p
	if p.peers.AnyParted() {
		for m, r := range c.g.ranks {
			if p.peers.At(r).State == peerstate.Parted {
				return c.with(m), true
			}
		}
	}
	for m := range c.g.ranks {
		for part := range parts {
			if v := p.system.Notifications().Load(p.lay.consentSlot(c.g.index, part, m)); v != 0 && v&flagged == 0 {
				return c.toldBy(m, v), true
			}
		}
	}
	return split{}, false
}

// with is the split of this member and another one.
func (c *consent) with(m int) split { return split{min(m, c.g.me), max(m, c.g.me)} }

// toldBy is the split that member m tells of. One of members that there are not is its own.
func (c *consent) toldBy(m int, v notify.Value) split {
	if x := splitOf(v); x.b < len(c.g.ranks) {
		return x
	}
	return c.with(m)
}

// why is the error of an agreement because of a split. It names one of the two, and never
// this rank; if it can, one that this rank has lost, too.
func (c *consent) why(x split) error {
	p, a, b := c.g.p, c.g.ranks[x.a], c.g.ranks[x.b]
	switch {
	case a == p.rank || b != p.rank && p.peers.Absence(a) == nil && p.peers.Absence(b) != nil:
		return p.parted(b)
	case b == p.rank || p.peers.Absence(a) != nil:
		return p.parted(a)
	}
	return &RankError{Rank: a, Reason: fmt.Sprintf("it and rank %d have lost each other, and both are alive", b)}
}

// give ends the agreement, and all further ones, because of a split, and tells all others.
func (c *consent) give(x split) error {
	c.broken = c.why(x)
	c.tell(x.value(), telling, adopting)
	return c.broken
}

// parted is the error of this rank and rank r, which have lost each other and are both alive.
func (p *Proc) parted(r Rank) error {
	if err := p.Failure(r); err != nil {
		return err
	}
	return &RankError{Rank: r, Reason: "it has lost this rank, and both are alive"}
}
