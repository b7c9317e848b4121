package core

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/arena"
)

// Expects reports whether a slot is receiving transfer seq. A runner that reads the word
// of a slot needs not ask: what Arrived is told of another transfer cannot happen.
func (c *Core) Expects(slot uint32, seq uint64) bool {
	o := c.slots[slot]
	return o != nil && o.recv.seq == seq && o.recv.from != NoRank
}

// Copies calls f with every complete copy of this rank's store, by id.
func (c *Core) Copies(f func(id string, off, size int64)) {
	for _, id := range sortedKeys(c.objects) {
		if o := c.objects[id]; o.complete() {
			f(id, o.mem.off, o.size)
		}
	}
}

// Keeps reports whether all of [off, off+size) of this rank's store is in use.
func (c *Core) Keeps(off, size int64) bool {
	return !slices.ContainsFunc(c.arena.Free(), func(f arena.Extent) bool { return f.Off < off+size && off < f.Off+f.N })
}

// Known reports whether the directory of an id, at rest, knows of a complete object, or
// that it was lost. A Get that waits for another has reason to.
func Known(cores []*Core, dead []bool, id string) (there, lost bool) {
	for r, c := range cores {
		s := c.shards[ShardOf(id, c.cfg.Size)]
		if dead[r] || s == nil || !s.owner || s.entries[id] == nil {
			continue
		}
		e := s.entries[id]
		return !e.lost && (e.inline || slices.ContainsFunc(e.copies, func(cp copyAt) bool { return cp.complete })), e.lost
	}
	return false, false
}

// Chosen reports whether the reduction that a rank has called has chosen a source, and the
// bytes of it are there, whatever has become of the object since.
func Chosen(cores []*Core, dead []bool, caller Rank, id CallID, name string) bool {
	c := cores[caller]
	for _, r := range c.reduces {
		i := slices.IndexFunc(r.sources, func(s source) bool { return s.id == name })
		if r.call != id || i < 0 || r.sources[i].state != used {
			continue
		}
		s := &r.sources[i]
		if s.rank == caller {
			return s.data != nil || r.size == 0 || c.stored(s.id, s.gen, s.token) != nil
		}
		pos := slices.IndexFunc(r.places, func(p place) bool { return p.source == i })
		return pos >= 0 && !dead[s.rank] && cores[s.rank].streams[Stream{Owner: caller, Reduce: r.number, Position: uint32(pos)}] != nil
	}
	return false
}

// Left says what a core holds although nothing exists: "" is nothing.
func (c *Core) Left() string {
	var left []string
	add := func(n int, what string) {
		if n != 0 {
			left = append(left, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(len(c.objects), "objects")
	add(len(c.passing), "objects out of sight")
	add(len(c.streams), "jobs")
	add(len(c.reduces), "reductions")
	add(len(c.transfers), "transfers")
	add(len(c.folds), "folds")
	add(len(c.copies), "copies")
	add(len(c.tasks), "folds for others")
	add(len(c.lent), "chunks that others fold")
	add(len(c.needs), "needs of room")
	add(len(c.refs)+len(c.loans)+len(c.follows), "references")
	add(len(c.calls), "calls")
	add(len(c.watched), "watches")
	add(len(c.fills), "puts")
	add(len(c.early), "early requests")
	add(int(c.arena.Used()), "bytes of the store")
	add(int(c.inlined), "bytes in its directory")
	add(len(c.slots)-count(c.slots, nil), "slots")
	for _, s := range c.shards {
		if s != nil {
			for _, e := range s.sorted() {
				left = append(left, fmt.Sprintf("%q in shard %d (gen %d, %d copies, %d waiters, %d watches)",
					e.id, s.num, e.gen, len(e.copies), len(e.waiters), len(e.watches)))
			}
			add(len(s.queue), "requests that wait")
		}
	}
	return strings.Join(left, ", ")
}

func count[T comparable](s []T, v T) int {
	n := 0
	for _, x := range s {
		if x == v {
			n++
		}
	}
	return n
}

// Check says which invariant of the protocol does not hold among the cores of a job. Some
// hold only at rest, when nothing is under way.
func Check(cores []*Core, dead []bool, rest bool) error {
	for r, c := range cores {
		if dead[r] {
			continue
		}
		if err := c.checkStore(); err != nil {
			return fmt.Errorf("rank %d: %w", r, err)
		}
		for _, s := range c.shards {
			if s == nil || !s.owner || s.pending {
				if s != nil && s.owner && rest {
					return fmt.Errorf("rank %d never began to serve shard %d: registered are %v", r, s.num, s.markers)
				}
				continue
			}
			for _, e := range s.entries {
				if err := c.checkEntry(e); err != nil {
					return fmt.Errorf("rank %d: %w", r, err)
				}
				if rest {
					if err := checkRest(cores, dead, e); err != nil {
						return fmt.Errorf("rank %d: %w", r, err)
					}
				}
			}
		}
	}
	return nil
}

// checkStore: what is stored lies within the store and nothing overlaps.
func (c *Core) checkStore() error {
	extents := c.extents[:0]
	put := func(o *object) {
		if o.mem.stored {
			extents = append(extents, arena.Extent{Off: o.mem.off, N: c.arena.Round(o.size)})
		}
	}
	for _, o := range c.objects {
		put(o)
	}
	for o := range c.passing {
		put(o)
	}
	c.jobMemory(put)
	extents = append(extents, c.arena.Free()...)
	c.extents = extents
	slices.SortFunc(extents, func(a, b arena.Extent) int { return int(a.Off - b.Off) })
	end := int64(0)
	for _, s := range extents {
		if s.Off != end {
			return fmt.Errorf("the store has a gap or an overlap at %d: the next range begins at %d", end, s.Off)
		}
		end += s.N
	}
	if want := c.cfg.Capacity / c.cfg.Align * c.cfg.Align; end != want {
		return fmt.Errorf("the store ends at %d and not at %d", end, want)
	}
	return nil
}

// checkEntry: copies form chains, none twice, and no rank that is known to be dead.
func (c *Core) checkEntry(e *entry) error {
	for i := range e.copies {
		cp := &e.copies[i]
		up, down := e.find(cp.parent), e.find(cp.child)
		_, depth := e.root(cp)
		switch {
		case e.find(cp.rank) != cp:
			return fmt.Errorf("%s: rank %d is listed twice", e.id, cp.rank)
		case c.dead[cp.rank]:
			return fmt.Errorf("%s: the dead rank %d is listed", e.id, cp.rank)
		case cp.parent != NoRank && !cp.severed && (up == nil || up.child != cp.rank):
			return fmt.Errorf("%s: rank %d receives from %d, which does not send to it", e.id, cp.rank, cp.parent)
		case cp.child != NoRank && (down == nil || down.parent != cp.rank):
			return fmt.Errorf("%s: rank %d sends to %d, which does not receive from it", e.id, cp.rank, cp.child)
		case cp.complete && cp.parent != NoRank:
			return fmt.Errorf("%s: rank %d is complete and receives from %d", e.id, cp.rank, cp.parent)
		case depth > len(e.copies):
			return fmt.Errorf("%s: rank %d is in a circle", e.id, cp.rank)
		}
	}
	return nil
}

// checkRest: with nothing under way, the directory lists exactly what stores have, and
// nobody waits for what is there.
func checkRest(cores []*Core, dead []bool, e *entry) error {
	for _, cp := range e.copies {
		o := cores[cp.rank].objects[e.id]
		if dead[cp.rank] || o == nil || o.gen != e.gen || cp.complete != o.complete() {
			return fmt.Errorf("%s at rest: the directory lists rank %d (complete: %v), whose store has another", e.id, cp.rank, cp.complete)
		}
		if cp.orphan || cp.severed {
			return fmt.Errorf("%s at rest: rank %d has no source", e.id, cp.rank)
		}
	}
	for r, c := range cores {
		if o := c.objects[e.id]; !dead[r] && o != nil && o.complete() && e.find(Rank(r)) == nil {
			return fmt.Errorf("%s at rest: rank %d has a copy, and the directory does not list it", e.id, r)
		}
	}
	if e.gen != 0 && !e.lost && len(e.waiters) > 0 {
		return fmt.Errorf("%s at rest: it exists, and ranks wait for it", e.id)
	}
	if e.deleting != nil {
		return fmt.Errorf("%s at rest: its deletion waits for ranks %v, replica %d", e.id, e.deleting.holders, e.deleting.replica)
	}
	return nil
}
