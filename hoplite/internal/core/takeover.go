package core

import "slices"

// record tells the replica about an entry. A Put does not wait for it: until it has arrived,
// its maker's own copy stands in for it.
func (c *Core) record(s *shard, e *entry) {
	c.toReplica(s, Rep{ID: e.id, Gen: e.gen, Token: e.token, Sum: e.sum, Size: e.size, Inline: e.inline, Data: e.data})
}

// recordRemoved tells the replica that an entry is gone, and returns the replica: a Delete waits
// for its answer.
func (c *Core) recordRemoved(s *shard, e *entry) Rank {
	return c.toReplica(s, Rep{ID: e.id, Gen: e.gen, Token: e.token, Sum: e.sum, Size: e.size, Removed: true})
}

// toReplica sends m to the replica of a shard and returns its rank, NoRank if there is none.
func (c *Core) toReplica(s *shard, m Rep) Rank {
	to := c.replicaOf(s.num)
	if to == NoRank || c.cfg.has(MutantNoReplica) {
		return NoRank
	}
	c.send(to, m.message())
	return to
}

// onRep handles a Rep at the replica. It comes late if this rank has begun to take
// the shard over: a removal then leaves alone what a holder has registered.
func (c *Core) onRep(from Rank, m Rep) {
	s := c.shardAt(ShardOf(m.ID, c.cfg.Size))
	if s.owner && !s.pending {
		return
	}
	e := s.at(m.ID)
	switch {
	case m.Removed:
		if e.gen == m.Gen {
			c.inlined -= int64(len(e.data))
			e.inline, e.data = false, nil
			if len(e.copies) == 0 {
				c.clear(e)
			}
		}
		s.tidy(e)
		c.send(from, RepAck{ID: m.ID, Gen: m.Gen}.message())
	case m.Gen >= e.gen:
		if m.Gen > e.gen {
			c.supersede(e)
		}
		c.inlined += int64(len(m.Data)) - int64(len(e.data))
		e.gen, e.token, e.sum, e.size = m.Gen, m.Token, m.Sum, m.Size
		e.inline, e.data = m.Inline, m.Data
	}
}

// replicate sends all records of a shard, to a rank that has become its replica.
func (c *Core) replicate(s *shard) {
	for _, e := range s.sorted() {
		if e.gen != 0 && e.deleting == nil {
			c.record(s, e)
		}
	}
}

// onRegister handles what a rank holds of a shard whose owner died.
func (c *Core) onRegister(s *shard, from Rank, m Register) {
	e := s.at(m.ID)
	switch {
	case m.Gen < e.gen:
		c.send(from, Drop{Code: Restart, ID: m.ID, Gen: m.Gen}.message())
		return
	case m.Gen > e.gen:
		c.supersede(e)
		c.clear(e)
		e.gen, e.token, e.sum, e.size, e.inline = m.Gen, m.Token, m.Sum, m.Size, m.Size == 0
	}
	if e.find(from) != nil {
		return
	}
	e.copies = append(e.copies, copyAt{
		rank: from, born: m.Own, token: m.Token, ref: m.Ref, parent: m.Rank, from: m.Copy, child: NoRank, avoid: copyName{rank: NoRank},
		complete: m.Complete, origin: m.Origin, pinned: m.Pinned, orphan: m.Orphan, made: m.Making,
	})
}

// supersede gives up copies that ranks have registered of an older generation.
func (c *Core) supersede(e *entry) {
	for _, cp := range e.copies {
		c.send(cp.rank, Drop{Code: Restart, ID: e.id, Gen: e.gen}.message())
	}
	e.copies = e.copies[:0]
}

// finishTakeover begins to serve a shard once every live rank has registered.
func (c *Core) finishTakeover(s *shard) {
	if !s.owner || !s.pending {
		return
	}
	for r := range Rank(c.cfg.Size) {
		if !c.dead[r] && !slices.Contains(s.markers, r) {
			return
		}
	}
	s.pending = false
	s.markers = nil
	queue := s.queue
	s.queue = nil
	for _, e := range s.sorted() {
		e.link()
	}
	// Puts that the old owner had accepted, and objects taken back, before anything is
	// declared lost.
	rest := queue[:0]
	for _, q := range queue {
		e := s.at(q.msg.ID)
		if token, ok := q.msg.put(); ok && e.gen != 0 && e.token == token {
			c.request(s, q.from, &q.msg)
		} else {
			rest = append(rest, q)
		}
		if s.entries[e.id] == e {
			s.tidy(e)
		}
	}
	for _, e := range s.sorted() {
		c.settle(s, e)
	}
	c.replicate(s)
	for i := range rest {
		c.request(s, rest[i].from, &rest[i].msg)
	}
}

// put returns the token of the put that a message begins or takes back, and false for others.
func (m *Message) put() (token uint64, ok bool) {
	switch m.Kind() {
	case KindPutReq:
		return m.putReq().Token, true
	case KindWithdraw:
		return m.withdraw().Token, true
	}
	return 0, false
}

// link sets the children of registered copies from their parents.
func (e *entry) link() {
	for i := range e.copies {
		cp := &e.copies[i]
		if cp.parent == NoRank {
			continue
		}
		up := e.find(cp.parent)
		switch {
		case up != nil && up.born == cp.from && up.child == NoRank:
			up.child = cp.rank
		default:
			// It will say that its source is gone, or that it is complete.
			cp.severed = true
			if up == nil {
				continue
			}
			cp.parent = NoRank
		}
	}
}

// shardsAfter brings the shards in order after the death of d. Ranks that took part in
// its copies and calls are handled entry by entry.
func (c *Core) shardsAfter(d Rank, owners, replicas []Rank) {
	for num := range c.cfg.Size {
		s := c.shards[num]
		if s != nil && s.owner {
			c.purge(s, d)
		}
		if owners[num] == d {
			c.shardMoved(num)
		} else if owners[num] == c.cfg.Rank && replicas[num] == d && s != nil && !s.pending {
			c.replicate(s)
		}
		if s := c.shards[num]; s != nil {
			c.finishTakeover(s)
		}
	}
}

// purge removes a dead rank from all entries of a shard.
func (c *Core) purge(s *shard, d Rank) {
	s.queue = slices.DeleteFunc(s.queue, func(q queued) bool { return q.from == d })
	for _, e := range s.sorted() {
		e.waiters = slices.DeleteFunc(e.waiters, func(w waiter) bool { return w.rank == d })
		e.watches = slices.DeleteFunc(e.watches, func(w watch) bool { return w.rank == d })
		if s.pending {
			// Links are not made yet: a receiver from d will say what it has.
			e.copies = slices.DeleteFunc(e.copies, func(cp copyAt) bool { return cp.rank == d })
			continue
		}
		if x := e.deleting; x != nil {
			x.parked = slices.DeleteFunc(x.parked, func(q queued) bool { return q.from == d })
			x.holders = slices.DeleteFunc(x.holders, func(r Rank) bool { return r == d })
			if x.replica == d {
				x.replica = NoRank
			}
			c.finishDelete(s, e)
			continue
		}
		had := e.find(d) != nil
		if !c.cfg.has(MutantOfferDead) {
			e.remove(d)
		}
		c.settle(s, e)
		if had && !e.lost {
			c.tellWatches(e)
		}
	}
}
