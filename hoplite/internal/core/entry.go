package core

import "slices"

// An entry is what the directory knows of an id.
type entry struct {
	id              string
	gen, token, sum uint64 // gen is 0 while no object exists
	size            int64
	lost            bool   // it existed, and no copy is left
	inline          bool   // data is the object
	data            []byte // counted against the quota of inline objects
	copies          []copyAt
	waiters         []waiter
	watches         []watch
	deleting        *deletion
}

// A copyAt is a copy, complete or not. A copy has at most one parent, from which it
// comes, and at most one child, which it is sent to: the copies of an object are
// chains whose heads are complete or are being made.
type copyAt struct {
	rank                     Rank
	born                     uint64 // its name: Register.Own
	token                    uint64 // of the put that made it, if it is an origin
	ref                      uint64 // of the question that the last Assign answered
	parent, child            Rank
	from                     uint64   // which of the parent's copies
	avoid                    copyName // a source that has failed it
	complete, origin, pinned bool
	made                     bool // an origin: a Reduce makes it
	leaving                  bool // the holder wants to give it up
	severed                  bool // the parent is gone, and the holder has not yet said what it has
	orphan                   bool // the holder has said that bytes are missing and nobody sends them
}

// A copyName tells a copy from an earlier one of the same rank.
type copyName struct {
	rank Rank
	born uint64
}

func (cp *copyAt) name() copyName { return copyName{cp.rank, cp.born} }

// newCopy is a copy that is linked with no other.
func newCopy(r Rank, born uint64) copyAt {
	return copyAt{rank: r, born: born, ref: born, parent: NoRank, child: NoRank, avoid: copyName{rank: NoRank}}
}

// A waiter has asked for an object; ref goes into the answer.
type waiter struct {
	rank Rank
	ref  uint64
}

type watch struct {
	rank  Rank
	ref   uint64
	once  bool  // one answer is enough
	whole bool  // only a complete object counts
	room  int64 // inline bytes that the watcher wants in the answer
}

// A deletion waits until nobody can find the object any more.
type deletion struct {
	holders []Rank
	replica Rank // NoRank once it has acknowledged
	clients []waiter
	parked  []queued // requests that came meanwhile
}

func (e *entry) find(r Rank) *copyAt {
	for i := range e.copies {
		if e.copies[i].rank == r {
			return &e.copies[i]
		}
	}
	return nil
}

// root is the head of a copy's chain, and how far away it is.
func (e *entry) root(cp *copyAt) (*copyAt, int) {
	depth := 0
	for cp.parent != NoRank && !cp.severed && depth <= len(e.copies) {
		up := e.find(cp.parent)
		if up == nil {
			break
		}
		cp = up
		depth++
	}
	return cp, depth
}

// pick chooses who sends the object next: a complete copy that sends to nobody, else
// the end of the shortest chain whose bytes will come. It does not choose what
// depends on the rank that asks.
func (c *Core) pick(e *entry, asks Rank) *copyAt {
	avoid := copyName{rank: NoRank}
	if cp := e.find(asks); cp != nil {
		avoid = cp.avoid
	}
	var best *copyAt
	bestDepth := 0
	for i := range e.copies {
		cp := &e.copies[i]
		if cp.rank == asks || cp.name() == avoid || cp.leaving || cp.child != NoRank && !c.cfg.has(MutantTwoChildren) {
			continue
		}
		if cp.complete {
			return cp
		}
		root, depth := e.root(cp)
		if !c.cfg.has(MutantAnySource) && (root.rank == asks || !root.complete && !root.origin) {
			continue
		}
		if best == nil || depth < bestDepth {
			best, bestDepth = cp, depth
		}
	}
	return best
}

// assign makes src the sender to rank to, which has a record already or gets one.
func (c *Core) assign(e *entry, to Rank, ref uint64, src Rank) {
	if e.find(to) == nil {
		e.copies = append(e.copies, newCopy(to, ref))
	}
	cp, up := e.find(to), e.find(src)
	cp.ref, cp.parent, cp.from, cp.orphan, cp.severed = ref, src, up.born, false, false
	cp.avoid = copyName{rank: NoRank}
	up.child = to
	head, _ := e.root(up)
	m := Assign{
		ID: e.id, Gen: e.gen, Token: e.token, Sum: e.sum, Size: e.size, Rank: src, Copy: up.born, Ref: ref,
		Making: head.made && !head.complete,
	}
	c.send(to, m.message())
}

// serve gives sources to those that wait, orphans first: they hold up their chains.
func (c *Core) serve(e *entry) {
	if e.gen == 0 || e.lost || e.deleting != nil {
		return
	}
	for i := range e.copies {
		if cp := &e.copies[i]; cp.orphan {
			if src := c.pick(e, cp.rank); src != nil {
				c.assign(e, cp.rank, cp.ref, src.rank)
			}
		}
	}
	for len(e.waiters) > 0 {
		to := e.waiters[0]
		if e.inline {
			c.send(to.rank, Data{ID: e.id, Gen: e.gen, Sum: e.sum, Size: e.size, Data: e.data, Ref: to.ref}.message())
		} else {
			src := c.pick(e, to.rank)
			if src == nil {
				return
			}
			c.assign(e, to.rank, to.ref, src.rank)
		}
		e.waiters = slices.Delete(e.waiters, 0, 1)
	}
}

// detach ends what cp receives.
func (e *entry) detach(cp *copyAt) {
	if cp.parent != NoRank {
		if up := e.find(cp.parent); up != nil && up.child == cp.rank {
			up.child = NoRank
		}
	}
	cp.parent, cp.severed, cp.orphan = NoRank, false, false
}

// remove forgets the copy of a rank. The copies that the rank was sending to must report how
// much they have.
func (e *entry) remove(r Rank) {
	cp := e.find(r)
	if cp == nil {
		return
	}
	e.detach(cp)
	e.sever(cp)
	e.copies = slices.DeleteFunc(e.copies, func(cp copyAt) bool { return cp.rank == r })
}

// sever cuts off what cp sends to: it will get nothing from this copy, and must say what it has.
func (e *entry) sever(cp *copyAt) {
	if down := e.find(cp.child); down != nil && down.parent == cp.rank {
		down.parent, down.severed = NoRank, true
	}
	cp.child = NoRank
}

// settle looks after an entry whose copies have changed: it gives out sources, or
// finds that the object is lost.
func (c *Core) settle(s *shard, e *entry) {
	if e.gen == 0 || e.lost || e.deleting != nil {
		s.tidy(e)
		return
	}
	c.letGo(e)
	c.serve(e)
	if e.inline || c.cfg.has(MutantNeverLost) {
		return
	}
	for i := range e.copies {
		cp := &e.copies[i]
		if cp.complete || cp.origin || cp.severed && !c.cfg.has(MutantLostTooEarly) {
			return
		}
	}
	e.lost = true
	c.release(e, Lost)
	c.tellWatches(e)
}

// release tells all that hold or want the object that it will not come.
func (c *Core) release(e *entry, why Code) {
	for _, cp := range e.copies {
		c.send(cp.rank, Drop{Code: why, ID: e.id, Gen: e.gen}.message())
	}
	e.copies = nil
	for _, w := range e.waiters {
		c.send(w.rank, Fail{Code: why, ID: e.id, Gen: e.gen, Ref: w.ref}.message())
	}
	e.waiters = nil
}

// locations fills in where the object is: complete copies, then the chains.
func (e *entry) locations(m *Located, asks Rank) {
	add := func(cp *copyAt) {
		if m.NumRanks < MaxRanks {
			m.Ranks[m.NumRanks] = cp.rank
			m.NumRanks++
		}
	}
	for _, complete := range []bool{true, false} {
		if cp := e.find(asks); cp != nil && cp.complete == complete && !cp.orphan && !cp.leaving {
			add(cp)
		}
		for i := range e.copies {
			cp := &e.copies[i]
			if root, _ := e.root(cp); cp.complete == complete && cp.rank != asks && !cp.leaving && (root.complete || root.origin) {
				add(cp)
			}
		}
		if complete {
			m.NumComplete = m.NumRanks
		}
	}
}

// tellWatches tells those that watch an entry what has become of it. It also ends
// the watches that wanted to hear once.
func (c *Core) tellWatches(e *entry) {
	e.watches = slices.DeleteFunc(e.watches, func(w watch) bool { return c.tell(e, w) && w.once })
}

// tell reports whether there was something to say.
func (c *Core) tell(e *entry, w watch) bool {
	if e.gen == 0 || e.deleting != nil {
		return false
	}
	m := Located{ID: e.id, Gen: e.gen, Token: e.token, Size: e.size, Ref: w.ref, Lost: e.lost}
	if e.lost {
		c.send(w.rank, m.message())
		return true
	}
	e.locations(&m, w.rank)
	m.Complete = e.inline || m.NumComplete > 0
	if e.inline && (e.size <= w.room || m.NumRanks == 0) {
		m.Inline, m.Data = true, e.data
	}
	if m.NumRanks == 0 && !e.inline || w.whole && !m.Complete {
		return false
	}
	c.send(w.rank, m.message())
	return true
}
