package gaspi

import (
	"context"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/topology"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A tree is how something goes up from the members of a group to the first one and comes back
// down: see topology.Tree. A member has a slot for each of its children, and one for its parent.
type tree struct {
	g        *Group
	has      func(slot int) bool // something has come into a slot
	upStop   func() error        // asked by waits for the children whether they should end
	downStop func() error        // likewise for the parent
}

// A treeStage is how far a member has come.
type treeStage int

const (
	gathering  treeStage = iota // waiting for the children
	delivering                  // to the parent
	awaiting                    // the result
	spreading                   // the result to the children
)

func (t *tree) plant(g *Group, has func(slot int) bool) {
	t.g, t.has = g, has
	t.upStop, t.downStop = t.whyUp, t.whyDown
}

func (t *tree) parent() int     { return t.g.near.Parent }
func (t *tree) children() []int { return t.g.near.Children }

// missing are the children from which nothing has come.
func (t *tree) missing() []Rank {
	var ranks []Rank
	for slot, child := range t.children() {
		if !t.has(slot) {
			ranks = append(ranks, t.g.ranks[child])
		}
	}
	return ranks
}

// whyUp and whyDown are like barrier.why.
func (t *tree) whyUp() error {
	return t.g.overWithout(t.missing)
}

func (t *tree) whyDown() error {
	return t.g.overWithout(func() []Rank {
		if t.has(topology.ParentSlot) {
			return nil
		}
		return []Rank{t.g.ranks[t.parent()]}
	})
}

// awaits returns the ranks that a member waits for in a stage, in the order of their notifications.
func (t *tree) awaits(stage treeStage) (ranks []Rank) {
	if stage == awaiting {
		return []Rank{t.g.ranks[t.parent()]}
	}
	for _, child := range t.children() {
		ranks = append(ranks, t.g.ranks[child])
	}
	return ranks
}

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
	return b.g.p.lay.groupSlot(index) + slotBallot + notify.ID(slot)
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

// tell posts a notification in the system segment of a member. Its error is for fault.
func (g *Group) tell(member int, id notify.ID, v notify.Value) error {
	way, err := g.p.route(g.ranks[member])
	if err != nil {
		return err
	}
	return way.Notify(g.p.internal, transport.Flag{Segment: g.p.lay.id, ID: id, Value: v})
}

// waitingFor is whom a ballot that ended early was waiting for.
func (b *ballot) waitingFor() string {
	if b.stage == awaiting {
		return rankList([]Rank{b.g.ranks[b.parent()]})
	}
	return rankList(b.missing())
}
