package gaspi

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/transport"
	"github.com/gaspi-go/gaspi-go/segment"
)

// commitState is how far a commit has come.
type commitState struct {
	hash record
	sent []bool // index is the member; true also of those who need no record
	got  []bool // true also of those whose record is not needed

	places []uint64 // as placeOf has them; nil until all records were taken
	shared int      // how many words of places all members have
}

// Commit makes the group ready for use. It is collective over its members, which
// must all have the same ranks in it, and blocks. When ctx ends first, calling
// Commit again goes on. Groups may be committed in several goroutines at a time, in
// any order at each member. Commits of equal ranks match by their order, and wait for
// each other: for several of these in several goroutines, use Dup or Subgroup.
func (g *Group) Commit(ctx context.Context) error {
	if !g.commits.CompareAndSwap(false, true) {
		return g.error("group_commit", fmt.Errorf("%w: Commit is under way in another goroutine", ErrInUse))
	}
	defer g.commits.Store(false)
	defer g.p.recordNamed("Group.Commit", g.p.timeline.Begin())
	if g.deleted.Load() || g.p.closed.Load() {
		return g.error("group_commit", ErrClosed)
	}
	if g.committed.Load() {
		return nil
	}
	if err := g.Revoked(); err != nil {
		return g.error("group_commit", err)
	}
	if err := g.beginCommit(ctx); err != nil {
		return g.wrap("group_commit", err)
	}
	if err := g.exchange(ctx); err != nil {
		return err
	}
	if err := g.sharePlaces(ctx); err != nil {
		return err
	}
	// When the barrier of the new group is done, every member has taken every
	// record, so the places of the records are free for the next group of the number.
	if _, err := g.internal.run(ctx, "group_commit"); err != nil {
		return err
	}
	g.p.committed(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commit = nil
	g.committed.Store(true)
	return nil
}

// beginCommit freezes the ranks, unless a commit that ended early did so before.
func (g *Group) beginCommit(ctx context.Context) error {
	ranks := g.Ranks()
	me, member := slices.BinarySearch(ranks, g.p.rank)
	if !member {
		return fmt.Errorf("%w: this rank, %d, is not in the group", ErrBadRank, g.p.rank)
	}
	hash := g.scope.record(ranks)
	if err := g.p.queueCommit(ctx, g, ranks, hash); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.commit != nil {
		return nil
	}
	n := len(ranks)
	g.p.clearGroup(g.index)
	g.ranks = ranks
	g.open(me, make([]int, n), make([]uint32, n))
	g.indexOf[me] = g.index
	g.commit = &commitState{hash: hash, sent: slices.Repeat([]bool{true}, n), got: slices.Repeat([]bool{true}, n)}
	for _, m := range g.near.Partners {
		g.commit.got[m], g.commit.sent[m] = false, false
	}
	return nil
}

// A commitQueue lets commits of equal ranks wait for each other: their records could not be told
// apart.
type commitQueue struct {
	mu         sync.Mutex
	committing map[record]*Group // guarded by mu; by what its members say of it
}

// queueCommit blocks until no other group of equal ranks is being committed.
func (p *Proc) queueCommit(ctx context.Context, g *Group, ranks []Rank, hash record) error {
	q := &p.commits
	mine := func() bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.committing == nil {
			q.committing = make(map[record]*Group)
		}
		if q.committing[hash] == nil {
			q.committing[hash] = g
		}
		return q.committing[hash] == g
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
func (p *Proc) committed(g *Group) {
	p.commits.mu.Lock()
	maps.DeleteFunc(p.commits.committing, func(_ record, other *Group) bool { return other == g })
	p.commits.mu.Unlock()
	p.system.Notifications().WakeSleepers()
}

// exchange tells the partners of this member where the group lies, and learns where it lies at
// them.
func (g *Group) exchange(ctx context.Context) error {
	for m := range g.ranks {
		if g.commit.sent[m] {
			continue
		}
		_, err := g.sendRecord(ctx, m, g.commit.hash)
		if err := g.fault(ctx, g.ranks[m], err); err != nil {
			return g.error("group_commit", err)
		}
		g.commit.sent[m] = true
	}
	for m := range g.ranks {
		for !g.commit.got[m] {
			if err := g.takeRecord(ctx, m); err != nil {
				return g.commitError(m, err)
			}
		}
	}
	return nil
}

// A scope tells Commits of equal ranks apart. The zero scope is that of groups that are made
// from no other one.
type scope struct {
	call  scopeCall
	tag   Tag
	first Rank   // first member of the group that the new one is made from
	place uint64 // of that group at this member; see placeOf
}

// A scopeCall is the call that makes a group from another one.
type scopeCall uint32

const (
	subgroupCall scopeCall = iota + 1
	shrinkCall
)

// scopeOf returns the scope of a group that a call makes from g, alike on all members of g.
// Places of groups are used again with another tag, so that it is not the scope of an earlier
// group's.
func (g *Group) scopeOf(call scopeCall, tag Tag) scope {
	return scope{call: call, tag: tag, first: g.ranks[0], place: placeOf(g.indexOf[0], g.tagOf[0])}
}

// record returns the record of a group of ranks.
func (s scope) record(ranks []Rank) record {
	b := binary.LittleEndian.AppendUint32(nil, uint32(s.call))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.tag))
	b = binary.LittleEndian.AppendUint32(b, uint32(s.first))
	b = binary.LittleEndian.AppendUint64(b, s.place)
	for _, r := range ranks {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	h := fnv.New64a()
	h.Write(b)
	return record(h.Sum64() | 1)
}

// A record is what a member says of a group that it commits: the hash of its scope and its
// ranks, which is not 0. Its place at the other member says where the group lies at the
// first one; see layout.commitIn. The member that takes it sets it to 0.
type record uint64

// withdrawn is the record that takes the one before it back.
const withdrawn record = 0

// sendRecord tells member m, and returns what it had been told before and has not taken. An exchange
// that is on its way is waited for: none may come after a later one. A rank that has lost the launcher
// makes no later one.
func (g *Group) sendRecord(ctx context.Context, m int, r record) (before record, err error) {
	p, to := g.p, g.ranks[m]
	link, err := p.link(to)
	if err != nil {
		return 0, err
	}
	at := transport.Addr{Segment: p.lay.ID, Offset: p.lay.CommitIn(p.rank, g.index)}
	old, err := p.whileAttached(ctx, link, at, transport.Swap, uint64(r), 0)
	if err != nil {
		return 0, err
	}
	return record(old), link.Notify(p.internal, transport.Flag{Segment: p.lay.ID, ID: p.lay.CommitSlot(p.rank), Value: 1})
}

// withdraw takes back what was said of a commit that is given up, so that no
// member takes it for a later commit of the same ranks. It reports whether a member has
// taken it before, and may write to the group's slots.
func (g *Group) withdraw() (taken bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.commit == nil {
		return false
	}
	for _, m := range g.near.Partners {
		if g.commit.sent[m] {
			// A member that is gone needs none, and writes nothing.
			before, err := g.sendRecord(context.Background(), m, withdrawn)
			taken = taken || err == nil && before != g.commit.hash
		}
	}
	return taken
}

// takeRecord waits for the record of member m and takes it. Others stay for their
// groups: the member may already be committing what this rank will commit when it has
// given this group up, as after a death that not all have learned of at the same time.
// The notification that comes with a record only wakes who waits.
func (g *Group) takeRecord(ctx context.Context, m int) error {
	p, from := g.p, g.ranks[m]
	words := p.records(from)
	find := func() bool { return slices.ContainsFunc(words, g.commit.hash.is) }
	stop := func() error {
		// A member that has lost another never commits this group, nor does one that has left.
		return cmp.Or(g.over(), p.awaits(from))
	}
	if err := p.system.Notifications().WaitFunc(ctx, find, stop, nil); err != nil {
		return err
	}
	i := slices.IndexFunc(words, g.commit.hash.is)
	if i < 0 || !words[i].CompareAndSwap(uint64(g.commit.hash), uint64(withdrawn)) {
		return nil // it was withdrawn meanwhile
	}
	g.indexOf[m], g.commit.got[m] = i, true
	return nil
}

// is reports whether a word holds r.
func (r record) is(word *atomic.Uint64) bool { return word.Load() == uint64(r) }

// records are the words that rank from writes its records to; the index is the number
// of the group there.
func (p *Proc) records(from Rank) []*atomic.Uint64 {
	words := make([]*atomic.Uint64, p.cfg.Groups)
	for i := range words {
		word, err := p.system.Word(p.lay.CommitIn(from, i))
		if err != nil {
			panic(err) // the layout places every word in the segment
		}
		words[i] = word
	}
	return words
}

func (g *Group) commitError(m int, err error) error {
	e := &OpError{Op: "group_commit", At: g.String(), Err: err}
	if isTimeLimit(err) {
		e.Wait = fmt.Sprintf("rank %d to commit the same ranks %v", g.ranks[m], g.ranks)
		other := func(word *atomic.Uint64) bool { r := record(word.Load()); return r != withdrawn && r != g.commit.hash }
		if slices.ContainsFunc(g.p.records(g.ranks[m]), other) {
			e.Wait += " (it is committing a group of other ranks)"
		}
	}
	return e
}

// When the members of a group have found those that they signal, they tell all others by a
// reduction over these where the group lies: in words of 64 bits, each with the index and
// the tag of two members.
const (
	indexBits     = 16 // Config.Groups is less
	placeBits     = 32
	placesPerWord = 64 / placeBits
)

// placeOf returns the half of a word that says where a group lies at a member.
func placeOf(index int, tag uint32) uint64 { return uint64(tag)<<indexBits | uint64(index) }

// sharePlaces tells all members where the group lies here, and learns where it lies at
// them. When ctx ends first, calling it again goes on.
func (g *Group) sharePlaces(ctx context.Context) error {
	c, n := g.commit, len(g.ranks)
	if c.places == nil {
		c.places = make([]uint64, (n+placesPerWord-1)/placesPerWord)
		c.places[g.me/placesPerWord] = placeOf(g.index, g.tag) << (g.me % placesPerWord * placeBits)
	}
	for c.shared < len(c.places) {
		part := c.places[c.shared:]
		part = part[:min(len(part), g.p.cfg.AllReduceElements)]
		combine := func(acc, in []byte) {
			a := segment.Of[uint64](acc)
			reduce.Into(Or, a, a, segment.Of[uint64](in))
		}
		sig := signature{op: uint8(Or), kind: uint8(reflect.Uint64), count: uint32(len(part))}
		if _, err := g.vector.run(ctx, segment.BytesOf(part), segment.BytesOf(part), sig, combine); err != nil {
			return g.wrap("group_commit", err)
		}
		c.shared += len(part)
	}
	for m := range n {
		at := c.places[m/placesPerWord] >> (m % placesPerWord * placeBits)
		g.indexOf[m] = int(at & (1<<indexBits - 1))
		g.tagOf[m] = uint32(at>>indexBits) & lastTag
	}
	return nil
}
