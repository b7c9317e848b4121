package core

import (
	"maps"
	"slices"
)

// A shard is a part of the directory: all ids with the same hash. Shard s is owned
// by the first live rank at or after s, around the end; the next live one is its
// replica. So a death moves a shard to the rank that has its records already, and
// nobody else is asked. The number of steps from s to its owner is the shard's
// epoch: it grows with every take-over, and generations begin with it.
type shard struct {
	num     int
	owner   bool // this rank serves it, or is about to
	pending bool // not all ranks have registered what they hold
	counter uint64
	entries map[string]*entry
	markers []Rank   // who has registered everything
	queue   []queued // requests that came while pending
}

type queued struct {
	from Rank
	msg  Message
}

// ShardOf is the shard of an id among size of them: FNV-1a, finished so that ids
// which differ in their last letter only are spread too.
func ShardOf(id string, size int) int {
	h := uint64(14695981039346656037)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return int((h >> 33) % uint64(size))
}

// live is the i-th live rank at or after shard s.
func (c *Core) live(s, i int) Rank {
	for k := range c.cfg.Size {
		r := Rank((s + k) % c.cfg.Size)
		if c.dead[r] {
			continue
		}
		if i == 0 {
			return r
		}
		i--
	}
	return NoRank
}

func (c *Core) ownerOf(s int) Rank   { return c.live(s, 0) }
func (c *Core) replicaOf(s int) Rank { return c.live(s, 1) }

func (c *Core) directoryOf(id string) Rank { return c.ownerOf(ShardOf(id, c.cfg.Size)) }

// ask sends a request to the owner of its object's shard.
func (c *Core) ask(id string, m Message) { c.send(c.directoryOf(id), m) }

func (c *Core) shardAt(num int) *shard {
	if c.shards[num] == nil {
		c.shards[num] = &shard{num: num, entries: map[string]*entry{}}
	}
	return c.shards[num]
}

// epoch of a shard while this rank owns it.
func (c *Core) epoch(s *shard) uint64 {
	return uint64((int(c.cfg.Rank) - s.num + c.cfg.Size) % c.cfg.Size)
}

// nextGen is a generation that no object of the shard ever had.
func (c *Core) nextGen(s *shard) uint64 {
	s.counter++
	return c.epoch(s)<<40 | s.counter
}

// at is the entry of an id, made if need be.
func (s *shard) at(id string) *entry {
	e := s.entries[id]
	if e == nil {
		e = &entry{id: id}
		s.entries[id] = e
	}
	return e
}

// tidy forgets an entry that says nothing.
func (s *shard) tidy(e *entry) {
	if e.gen == 0 && len(e.waiters) == 0 && len(e.watches) == 0 && e.deleting == nil {
		delete(s.entries, e.id)
	}
}

// sorted is the entries by id: whatever goes through all of them must not depend on
// the order of a map.
func (s *shard) sorted() []*entry {
	list := make([]*entry, 0, len(s.entries))
	for _, id := range slices.Sorted(maps.Keys(s.entries)) {
		list = append(list, s.entries[id])
	}
	return list
}
