package gaspi

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// groupTable holds the places of groups.
type groupTable struct {
	mu         sync.Mutex
	place      []*Group          // guarded by mu; nil where free
	tags       []uint32          // guarded by mu; of the groups in the places, or the last ones
	committing map[record]*Group // guarded by mu; by what its members say of it
}

// take takes the lowest free place.
func (t *groupTable) take(p *Proc) (*Group, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(t.place, nil)
	if i < 0 {
		return nil, fmt.Errorf("%w: Config.Groups is %d", ErrTooMany, len(t.place))
	}
	t.putLocked(p, i)
	return t.place[i], nil
}

// reserve takes the highest free place up to limit, or returns -1; see pool.
func (t *groupTable) reserve(p *Proc, limit int, hop func() int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := limit; i >= 0; {
		switch g := t.place[i]; {
		case g == nil:
			t.putLocked(p, i).drawn = true
			return i
		case g.drawn:
			i -= hop()
		default:
			i--
		}
	}
	return -1
}

// putLocked makes a group in a free place. The caller holds mu.
func (t *groupTable) putLocked(p *Proc, i int) *Group {
	t.tags[i] = nextTag(t.tags[i])
	t.place[i] = &Group{p: p, index: i, tag: t.tags[i]}
	return t.place[i]
}

// tagged is the group in a place with its tag, or nil if there is none or it is being
// drawn.
func (t *groupTable) tagged(i int) (*Group, uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.place[i]; g != nil && !g.drawn {
		return g, g.tag
	}
	return nil, 0
}

// drawn is the group in a place whose number was found. It gets a tag that is the same on
// all members.
func (t *groupTable) drawn(i int, tag uint32) *Group {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tags[i] = tag
	t.place[i].drawn, t.place[i].tag = false, tag
	return t.place[i]
}

// at is the group in a place.
func (t *groupTable) at(i int) *Group {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.place[i]
}

func (t *groupTable) give(g *Group) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.place[g.index] = nil
}

// queue blocks until no other group of equal ranks is being committed: their records
// could not be told apart.
func (t *groupTable) queue(ctx context.Context, g *Group, ranks []Rank, hash record) error {
	p := g.p
	mine := func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.committing == nil {
			t.committing = make(map[record]*Group)
		}
		if t.committing[hash] == nil {
			t.committing[hash] = g
		}
		return t.committing[hash] == g
	}
	stop := func() error {
		if err := p.ended(); err != nil {
			return err
		}
		return g.because(p.peers.Lost(ranks))
	}
	err := p.system.Notifications().WaitFunc(ctx, mine, stop, nil)
	if err == nil {
		return nil
	}
	e := &OpError{At: g.String(), Err: err}
	if isTimeLimit(err) {
		e.Wait = "another group of the same ranks, whose Commit is to be finished first, or the group deleted"
	}
	return e
}

// committed lets the next group of equal ranks be committed.
func (t *groupTable) committed(g *Group) {
	t.mu.Lock()
	for hash, other := range t.committing {
		if other == g {
			delete(t.committing, hash)
		}
	}
	t.mu.Unlock()
	g.p.system.Notifications().WakeSleepers()
}

// Groups are the groups that exist on this rank, committed or not, the world
// first. Those that libraries have made for themselves are among them.
func (p *Proc) Groups() []*Group {
	p.groups.mu.Lock()
	defer p.groups.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.groups.place), func(g *Group) bool { return g == nil || g.drawn })
}
