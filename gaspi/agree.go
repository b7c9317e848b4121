package gaspi

import (
	"context"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/consent"
	"github.com/gaspi-go/gaspi-go/internal/peerstate"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// agreement is the agreement of those members of a group that are alive: see package consent. Each
// notification is taken off the array by its reader before that tells the poster
// anything more, so that none is overwritten by the next agreement.
//
// A member that has lost another one which nobody says has ended tells so in place of
// flags, and so do those that hear of it: the agreement then ends with an error, and there is
// no further one.
type agreement struct {
	g    *Group
	busy exclusive

	consent.Agreement
	broken error
}

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
	if flags >= consent.Flagged {
		return 0, g.error("group_agree", fmt.Errorf("%w: flags %#x; want less than 1<<31", ErrOutOfRange, flags))
	}
	if !g.consent.busy.enter() {
		return 0, g.error("group_agree", fmt.Errorf("%w: Agree or Shrink of the group is under way in another goroutine", ErrInUse))
	}
	defer g.consent.busy.leave()
	defer g.p.recordNamed("Group.Agree", g.p.timeline.Begin())
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
func (c *agreement) run(ctx context.Context, flags uint32) (uint32, error) {
	if c.broken != nil {
		return 0, c.broken
	}
	c.Begin(c.g.me, len(c.g.ranks), flags)
	for step, more := c.Next(); more; step, more = c.Next() {
		if step.Tell != 0 {
			c.tell(step.Tell, step.Part)
		}
		var v notify.Value
		if step.From != c.g.me {
			var err error
			if v, err = c.await(ctx, step.Part, step.From); err != nil {
				return 0, err
			}
			if v != 0 && v&consent.Flagged == 0 {
				return 0, c.give(c.toldBy(step.From, v))
			}
		}
		c.Take(v)
	}
	return c.Flags(), nil
}

// tell posts v at all other members that have not ended, in some parts. A first contact may
// take long, so those are made at the same time.
func (c *agreement) tell(v notify.Value, in ...int) {
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

func (c *agreement) post(part, m int, v notify.Value) {
	p := c.g.p
	p.tell(c.g.ranks[m], transport.Flag{Segment: p.lay.ID, ID: p.lay.ConsentSlot(c.g.indexOf[m], part, c.g.me), Value: v})
}

// ended reports whether nothing of member m arrives any more.
func (c *agreement) ended(m int) bool {
	return c.g.p.peers.At(c.g.ranks[m]).Quiet
}

// await returns what member m tells in a part, 0 if it has ended instead.
func (c *agreement) await(ctx context.Context, part, m int) (notify.Value, error) {
	p, array := c.g.p, c.g.p.system.Notifications()
	id := p.lay.ConsentSlot(c.g.index, part, m)
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
func (c *agreement) apart() (consent.Split, bool) {
	p := c.g.p
	if p.peers.AnyParted() {
		for m, r := range c.g.ranks {
			if p.peers.At(r).State == peerstate.Parted {
				return consent.SplitOf(m, c.g.me), true
			}
		}
	}
	for m := range c.g.ranks {
		for part := range consent.Parts {
			if v := p.system.Notifications().Load(p.lay.ConsentSlot(c.g.index, part, m)); v != 0 && v&consent.Flagged == 0 {
				return c.toldBy(m, v), true
			}
		}
	}
	return consent.Split{}, false
}

// toldBy is the split that member m tells of. One of members that there are not is its own.
func (c *agreement) toldBy(m int, v notify.Value) consent.Split {
	if x := consent.ReadSplit(v); x.B < len(c.g.ranks) {
		return x
	}
	return consent.SplitOf(m, c.g.me)
}

// why is the error of an agreement because of a split. It names one of the two, and never
// this rank; if it can, one that this rank has lost, too.
func (c *agreement) why(x consent.Split) error {
	p, a, b := c.g.p, c.g.ranks[x.A], c.g.ranks[x.B]
	switch {
	case a == p.rank || b != p.rank && p.peers.Absence(a) == nil && p.peers.Absence(b) != nil:
		return p.parted(b)
	case b == p.rank || p.peers.Absence(a) != nil:
		return p.parted(a)
	}
	return &RankError{Rank: a, Reason: fmt.Sprintf("it and rank %d have lost each other, and both are alive", b)}
}

// give ends the agreement, and all further ones, because of a split, and tells all others.
func (c *agreement) give(x consent.Split) error {
	c.broken = c.why(x)
	c.tell(x.Value(), consent.Telling, consent.Adopting)
	return c.broken
}

// parted is the error of this rank and rank r, which have lost each other and are both alive.
func (p *Proc) parted(r Rank) error {
	if err := p.Failure(r); err != nil {
		return err
	}
	return &RankError{Rank: r, Reason: "it has lost this rank, and both are alive"}
}

// shrinking is how far a Shrink of a group has come. The members agree on who is alive,
// make a group of those, and agree on whether all could; if not, they begin again. The
// state belongs to the holder of consent.busy.
type shrinking struct {
	active bool
	stage  shrinkStage
	next   *Group // reserved, and nil if this member got no group number
	able   error  // why it got none
	window int    // the first member of those that are being agreed on
	alive  []Rank // of those before
	wrong  error  // why next was not committed
}

type shrinkStage int

const (
	counting   shrinkStage = iota // who is alive
	committing                    // the group of these
	concluding                    // whether all could
)

// windowBits is how many members one agreement tells of. The flag above says that a member
// has a number for the new group.
const (
	windowBits = 30
	ableFlag   = 1 << windowBits
)

// Shrink makes a group of the members that are alive, committed and ready for use, as
// MPI_Comm_shrink does. All that return a group have one of the same ranks. It goes on when
// the group is revoked, which makes sure that all members come here: revoke it first. One
// that dies late may still be in the new group.
//
// It is collective over the members that are alive, and blocks. It takes some agreements;
// see Agree, also for members that have lost each other. When ctx ends first, the same call
// again goes on. If a member has no group number left, all get ErrTooMany.
func (g *Group) Shrink(ctx context.Context) (*Group, error) {
	if err := g.made("group_shrink"); err != nil {
		return nil, err
	}
	if !g.consent.busy.enter() {
		return nil, g.error("group_shrink", fmt.Errorf("%w: Agree or Shrink of the group is under way in another goroutine", ErrInUse))
	}
	defer g.consent.busy.leave()
	defer g.p.recordNamed("Group.Shrink", g.p.timeline.Begin())
	s := &g.shrink
	if !s.active && g.consent.Active() && g.consent.broken == nil {
		return nil, g.error("group_shrink", fmt.Errorf("%w: an Agree of the group ended early and is to be finished first", ErrInUse))
	}
	for {
		done, err := s.step(ctx, g)
		if err != nil {
			if !isTimeLimit(err) {
				s.drop()
			}
			return nil, g.wrap("group_shrink", err)
		}
		if done {
			next := s.next
			*s = shrinking{}
			return next, nil
		}
	}
}

// step does one stage, or a part of it.
func (s *shrinking) step(ctx context.Context, g *Group) (done bool, err error) {
	switch s.stage {
	case counting:
		return false, s.count(ctx, g)
	case committing:
		err := s.next.Commit(ctx)
		if isTimeLimit(err) {
			return false, err
		}
		s.wrong, s.stage = err, concluding
		return false, nil
	}
	flags := uint32(0)
	if s.wrong == nil {
		flags = 1
	}
	flags, err = g.consent.run(ctx, flags)
	if err != nil || flags == 1 {
		s.next.also = nil
		return err == nil, err
	}
	s.drop()
	return false, nil
}

// count agrees on who of the next members is alive, and makes a group when all were asked.
func (s *shrinking) count(ctx context.Context, g *Group) error {
	if !s.active {
		*s = shrinking{active: true}
		s.next, s.able = g.p.NewGroup()
		if s.able == nil {
			s.next.scope = g.scopeOf(shrinkCall, 0)
		}
	}
	members := g.ranks[s.window:]
	members = members[:min(len(members), windowBits)]
	flags := uint32(0)
	for i, r := range members {
		if !g.p.peers.At(r).HasEnded() {
			flags |= 1 << i
		}
	}
	if s.able == nil {
		flags |= ableFlag
	}
	flags, err := g.consent.run(ctx, flags)
	switch {
	case err != nil:
		return err
	case s.able != nil:
		return s.able
	case flags&ableFlag == 0:
		return fmt.Errorf("%w: another member has no group number left", ErrTooMany)
	}
	for i, r := range members {
		if flags&(1<<i) != 0 {
			s.alive = append(s.alive, r)
		} else if r == g.p.rank {
			return &RankError{Rank: r, Reason: "it is this rank, and the launcher has told the other members that it ended"}
		}
	}
	if s.window += len(members); s.window < len(g.ranks) {
		return nil
	}
	for _, r := range s.alive {
		if err := s.next.Add(r); err != nil {
			return err
		}
	}
	s.next.also = func() error { return g.thinner(s.alive) }
	s.stage = committing
	return nil
}

// thinner is why a group of ranks that is being made cannot be: one of them has ended,
// or the members cannot agree any more.
func (g *Group) thinner(ranks []Rank) error {
	if err := g.p.peers.FirstLeft(ranks); err != nil {
		return err
	}
	if x, is := g.consent.apart(); is {
		return g.consent.why(x)
	}
	return nil
}

// drop gives up what was made, so that the next step begins anew.
func (s *shrinking) drop() {
	if s.next != nil {
		_ = s.next.Delete() // made here
	}
	*s = shrinking{}
}
