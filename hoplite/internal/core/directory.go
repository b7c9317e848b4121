package core

import "slices"

// direct handles a request to the directory. The sender believes that this rank owns the shard.
// Only dead ranks owned it earlier, so the request is valid even if this rank has not yet heard
// of those deaths.
func (c *Core) direct(from Rank, m Message) {
	num := ShardOf(m.ID, c.cfg.Size)
	if m.Kind == Marker {
		num = int(m.Ref)
	}
	s := c.shardAt(num)
	if !s.owner {
		s.owner, s.pending = true, true
	}
	switch {
	case m.Kind == Register:
		c.register(s, from, m)
	case m.Kind == Marker:
		s.markers = append(s.markers, from)
		c.finishTakeover(s)
	case s.pending && !c.cfg.has(MutantServeEarly):
		s.queue = append(s.queue, queued{from, m})
	default:
		c.request(s, from, m)
	}
}

// request handles a request to a shard that is served.
func (c *Core) request(s *shard, from Rank, m Message) {
	e := s.at(m.ID)
	if d := e.deleting; d != nil {
		switch m.Kind {
		case PutReq, GetReq, Unwait, Watch, Unwatch, Withdraw:
			d.parked = append(d.parked, queued{from, m})
			return
		}
	}
	switch m.Kind {
	case PutReq:
		c.putRequest(s, e, from, m)
	case GetReq:
		c.getRequest(s, e, from, m)
	case Unwait:
		e.waiters = slices.DeleteFunc(e.waiters, func(w waiter) bool { return w.rank == from })
	case DelReq:
		c.deleteRequest(s, e, from, m)
	case DropAck:
		c.dropped(s, e, from)
	case RepAck:
		if d := e.deleting; d != nil && d.replica == from {
			d.replica = NoRank
			c.finishDelete(s, e)
		}
	case Watch:
		w := watch{rank: from, ref: m.Ref, flags: m.Flags, room: m.Size}
		e.watches = slices.DeleteFunc(e.watches, func(o watch) bool { return o.rank == from && o.ref == m.Ref })
		if !c.tell(e, w) || w.flags&FlagOnce == 0 {
			e.watches = append(e.watches, w)
		}
	case Unwatch:
		e.watches = slices.DeleteFunc(e.watches, func(o watch) bool { return o.rank == from && o.ref == m.Ref })
	case Withdraw:
		cp := e.find(from)
		mine := cp != nil && cp.origin && cp.token == m.Token
		if e.gen != 0 && (mine || e.token == m.Token) && !e.lost {
			c.withdraw(s, e, from, m.Token)
			return
		}
	case Evict:
		c.evictRequest(s, e, from, m)
	default:
		c.copyChanged(s, e, from, m)
	}
	if s.entries[m.ID] == e {
		s.tidy(e)
	}
}

// copyChanged handles what a holder says about its copy. A word about another
// generation than the one that exists is late, and means nothing.
func (c *Core) copyChanged(s *shard, e *entry, from Rank, m Message) {
	cp := e.find(from)
	if cp == nil || m.Gen != e.gen {
		return
	}
	switch m.Kind {
	case Done:
		e.detach(cp)
		cp.complete = true
	case Orphan:
		c.orphaned(e, cp, m)
	case Forget:
		if cp.ref == m.Ref {
			e.remove(from)
		}
	}
	c.settle(s, e)
	if !e.lost {
		c.tellWatches(e)
	}
}

// orphaned notes that a copy has lost its source, and does not give it the same again;
// what that rank may have got since is another copy. A source that is dead, of which this
// directory may not have heard yet, is offered to nobody.
func (c *Core) orphaned(e *entry, cp *copyAt, m Message) {
	if cp.parent == NoRank {
		if c.cfg.has(MutantNoAlternative) {
			return
		}
		if c.cfg.has(MutantTwiceRecovered) {
			e.copies = append(e.copies, newCopy(cp.rank, m.Ref))
		}
	}
	if bad := e.find(m.Rank); bad != nil && m.Flags&FlagStale != 0 && !c.cfg.has(MutantOfferDead) {
		bad.leaving = true
	}
	e.detach(cp)
	cp.orphan, cp.ref, cp.avoid = true, m.Ref, copyName{m.Rank, m.Copy}
}

// withdraw ends an object that was being made. Calls that wait for the object go on waiting. If
// another rank has put the same meanwhile, only the maker's copy goes.
func (c *Core) withdraw(s *shard, e *entry, from Rank, token uint64) {
	if e.token != token || slices.ContainsFunc(e.copies, func(cp copyAt) bool { return cp.origin && cp.rank != from }) {
		e.remove(from)
		if e.token == token {
			e.token = 0 // should this be said again
		}
		c.record(s, e, 0)
		c.settle(s, e)
		c.tellWatches(e)
		return
	}
	gen := e.gen
	c.record(s, e, FlagRemove)
	for _, cp := range e.copies {
		if !cp.origin {
			c.send(cp.rank, Message{Kind: Drop, Code: Restart, ID: e.id, Gen: gen})
		}
	}
	e.copies = nil
	for _, w := range e.waiters {
		c.send(w.rank, Message{Kind: Fail, Code: Restart, ID: e.id, Gen: gen, Ref: w.ref})
	}
	e.waiters = nil
	c.clear(e)
	s.tidy(e)
}

// clear makes an entry one of an object that does not exist.
func (c *Core) clear(e *entry) {
	c.inlined -= int64(len(e.data))
	e.gen, e.token, e.sum, e.size, e.lost, e.inline, e.data = 0, 0, 0, 0, false, false, nil
}

func (c *Core) putRequest(s *shard, e *entry, from Rank, m Message) {
	ack := Message{Kind: PutAck, ID: m.ID, Token: m.Token}
	mine := newCopy(from, 0)
	mine.origin, mine.pinned, mine.complete, mine.token = true, true, m.Flags&FlagComplete != 0, m.Token
	mine.made = m.Flags&FlagOnce != 0
	switch {
	case e.gen == 0 || e.lost:
		c.clear(e)
		e.gen, e.token, e.sum, e.size = c.nextGen(s), m.Token, m.Sum, m.Size
		if e.inline = m.Size == 0 || m.Data != nil && c.inlined+m.Size <= c.cfg.InlineQuota; e.inline {
			e.data = m.Data
			c.inlined += m.Size
		}
		e.copies = append(e.copies[:0], mine)
		c.record(s, e, 0)
	case e.token == m.Token || m.Flags&FlagOnce == 0 && e.size == m.Size && (e.sum == 0 || m.Sum == 0 || e.sum == m.Sum):
		c.join(e, mine)
	default:
		ack.Code = Exists
		c.send(from, ack)
		return
	}
	ack.Gen = e.gen
	c.send(from, ack)
	c.settle(s, e)
	c.tellWatches(e)
}

// join adds a copy that does not come from another: the same put again, or one of the
// same content. The rank may be listed as a receiver, if its Get and its Put crossed.
func (c *Core) join(e *entry, mine copyAt) {
	if cp := e.find(mine.rank); cp != nil {
		e.detach(cp)
		if cp.born != 0 {
			e.sever(cp) // what it was to receive it makes itself, and who knows it by another name is refused
			cp.born = 0
		}
		cp.ref, cp.origin, cp.pinned, cp.token, cp.made = 0, true, true, mine.token, mine.made
		cp.complete = cp.complete || mine.complete
		return
	}
	e.copies = append(e.copies, mine)
	for i := range e.copies {
		// Known from a receiver that registered before the maker's put was repeated.
		if cp := &e.copies[i]; cp.parent == mine.rank && cp.from == 0 && e.find(mine.rank).child == NoRank {
			e.find(mine.rank).child, cp.severed = cp.rank, false
		}
	}
}

func (c *Core) getRequest(s *shard, e *entry, from Rank, m Message) {
	switch {
	case e.lost:
		c.send(from, Message{Kind: Fail, Code: Lost, ID: e.id, Gen: e.gen, Ref: m.Ref})
		return
	case e.gen == 0 && m.Flags&FlagKeep != 0:
		// It holds room for an object that is not there any more.
		c.send(from, Message{Kind: Fail, Code: Restart, ID: e.id, Ref: m.Ref})
		return
	}
	if e.gen != 0 {
		e.remove(from) // it would not ask if it had a copy
	}
	e.waiters = slices.DeleteFunc(e.waiters, func(w waiter) bool { return w.rank == from })
	e.waiters = append(e.waiters, waiter{from, m.Ref})
	c.settle(s, e) // what it had may have been the last that could be complete
}

// evictRequest marks a copy that its holder wants to give up. It is offered to nobody
// from now on; letGo answers.
func (c *Core) evictRequest(s *shard, e *entry, from Rank, m Message) {
	if e.deleting != nil {
		return // a Drop is on its way, and ends it too
	}
	cp := e.find(from)
	if cp == nil || e.gen != m.Gen {
		c.send(from, Message{Kind: EvictAck, ID: m.ID, Gen: m.Gen})
		return
	}
	cp.leaving = true
	c.settle(s, e)
	if !e.lost {
		c.tellWatches(e)
	}
}

// letGo answers those that want to give up their copies: yes, once nobody receives from
// it; no, if it is the last one, as that of an object whose maker died may be.
func (c *Core) letGo(e *entry) {
	for i := 0; i < len(e.copies); i++ {
		cp := &e.copies[i]
		if !cp.leaving || cp.child != NoRank {
			continue
		}
		ack := Message{Kind: EvictAck, ID: e.id, Gen: e.gen}
		rank := cp.rank
		if e.inline || slices.ContainsFunc(e.copies, func(o copyAt) bool { return o.rank != rank && o.complete }) {
			e.remove(rank)
			i--
		} else {
			ack.Code = Exists
			cp.leaving, cp.pinned = false, true
		}
		c.send(rank, ack)
	}
}

func (c *Core) deleteRequest(s *shard, e *entry, from Rank, m Message) {
	if d := e.deleting; d != nil {
		d.clients = append(d.clients, queued{from, m})
		return
	}
	if e.gen == 0 {
		c.send(from, Message{Kind: DelAck, ID: m.ID, Ref: m.Ref})
		return
	}
	d := &deletion{clients: []queued{{from, m}}, replica: c.record(s, e, FlagRemove)}
	c.mutantDeletes(e, from)
	for _, cp := range e.copies {
		d.holders = append(d.holders, cp.rank)
	}
	c.release(e, Deleted)
	e.deleting = d
	if c.cfg.has(MutantDeleteEarly) {
		d.holders = nil
	}
	c.finishDelete(s, e)
}

// dropped notes that a rank has no copy any more.
func (c *Core) dropped(s *shard, e *entry, from Rank) {
	if d := e.deleting; d != nil {
		d.holders = slices.DeleteFunc(d.holders, func(r Rank) bool { return r == from })
		c.finishDelete(s, e)
	}
}

// finishDelete answers, and turns to what came meanwhile, once nobody has a copy or a
// record of the object.
func (c *Core) finishDelete(s *shard, e *entry) {
	d := e.deleting
	if len(d.holders) > 0 || d.replica != NoRank {
		return
	}
	e.deleting = nil
	c.clear(e)
	for _, q := range d.clients {
		c.send(q.from, Message{Kind: DelAck, ID: e.id, Ref: q.msg.Ref})
	}
	for _, q := range d.parked {
		c.request(s, q.from, q.msg)
	}
	if s.entries[e.id] == e {
		s.tidy(e)
	}
}
