package core

import "slices"

// onRequest handles a request to the directory. The sender believes that this rank owns the shard.
// Only dead ranks owned it earlier, so the request is valid even if this rank has not yet heard
// of those deaths.
func (c *Core) onRequest(from Rank, m *Message) {
	num := ShardOf(m.ID, c.cfg.Size)
	if m.Kind() == KindMarker {
		num = int(m.marker().Shard)
	}
	s := c.shardAt(num)
	if !s.owner {
		s.owner, s.pending = true, true
	}
	switch {
	case m.Kind() == KindRegister:
		c.onRegister(s, from, m.register())
	case m.Kind() == KindMarker:
		s.markers = append(s.markers, from)
		c.finishTakeover(s)
	case s.pending && !c.cfg.has(MutantServeEarly):
		s.queue = append(s.queue, queued{from, *m})
	default:
		c.request(s, from, m)
	}
}

// request handles a request to a shard that is served.
func (c *Core) request(s *shard, from Rank, m *Message) {
	e := s.at(m.ID)
	if d := e.deleting; d != nil {
		switch m.Kind() {
		case KindPutReq, KindGetReq, KindUnwait, KindWatch, KindUnwatch, KindWithdraw:
			d.parked = append(d.parked, queued{from, *m})
			return
		}
	}
	switch m.Kind() {
	case KindPutReq:
		c.onPutReq(s, e, from, m.putReq())
	case KindGetReq:
		c.onGetReq(s, e, from, m.getReq())
	case KindUnwait:
		e.waiters = slices.DeleteFunc(e.waiters, func(w waiter) bool { return w.rank == from })
	case KindDelReq:
		c.onDelReq(s, e, from, m.delReq())
	case KindDropAck:
		c.onDropAck(s, e, from)
	case KindRepAck:
		c.onRepAck(s, e, from)
	case KindWatch:
		c.onWatch(e, from, m.watch())
	case KindUnwatch:
		e.unwatch(from, m.unwatch().Ref)
	case KindWithdraw:
		c.onWithdraw(s, e, from, m.withdraw())
	case KindEvict:
		c.onEvict(s, e, from, m.evict())
	case KindDone:
		c.onDone(s, e, from, m.done())
	case KindOrphan:
		c.onOrphan(s, e, from, m.orphan())
	case KindForget:
		c.onForget(s, e, from, m.forget())
	}
	if s.entries[m.ID] == e {
		s.tidy(e)
	}
}

func (c *Core) onWatch(e *entry, from Rank, m Watch) {
	w := watch{rank: from, ref: m.Ref, once: m.Once, whole: m.Complete, room: m.Room}
	e.unwatch(from, m.Ref)
	if !c.tell(e, w) || !w.once {
		e.watches = append(e.watches, w)
	}
}

// unwatch ends a watch of a rank.
func (e *entry) unwatch(from Rank, ref uint64) {
	e.watches = slices.DeleteFunc(e.watches, func(o watch) bool { return o.rank == from && o.ref == ref })
}

// copyOf returns the copy of a rank about which it says something. A word about another
// generation than the one that exists is late, and means nothing: there is no such copy.
func (e *entry) copyOf(from Rank, gen uint64) *copyAt {
	if gen != e.gen {
		return nil
	}
	return e.find(from)
}

func (c *Core) onDone(s *shard, e *entry, from Rank, m Done) {
	if cp := e.copyOf(from, m.Gen); cp != nil {
		e.detach(cp)
		cp.complete = true
		c.copyChanged(s, e)
	}
}

func (c *Core) onForget(s *shard, e *entry, from Rank, m Forget) {
	if cp := e.copyOf(from, m.Gen); cp != nil {
		if cp.ref == m.Ref {
			e.remove(from)
		}
		c.copyChanged(s, e)
	}
}

func (c *Core) onOrphan(s *shard, e *entry, from Rank, m Orphan) {
	if cp := e.copyOf(from, m.Gen); cp != nil {
		c.orphaned(e, cp, m)
		c.copyChanged(s, e)
	}
}

// copyChanged follows from what a holder has said about its copy.
func (c *Core) copyChanged(s *shard, e *entry) {
	c.settle(s, e)
	if !e.lost {
		c.tellWatches(e)
	}
}

// orphaned notes that a copy has lost its source, and does not give it the same again;
// what that rank may have got since is another copy. A source that is dead, of which this
// directory may not have heard yet, is offered to nobody.
func (c *Core) orphaned(e *entry, cp *copyAt, m Orphan) {
	if cp.parent == NoRank {
		if c.cfg.has(MutantNoAlternative) {
			return
		}
		if c.cfg.has(MutantTwiceRecovered) {
			e.copies = append(e.copies, newCopy(cp.rank, m.Ref))
		}
	}
	if bad := e.find(m.Rank); bad != nil && m.Dead && !c.cfg.has(MutantOfferDead) {
		bad.leaving = true
	}
	e.detach(cp)
	cp.orphan, cp.ref, cp.avoid = true, m.Ref, copyName{m.Rank, m.Copy}
}

func (c *Core) onWithdraw(s *shard, e *entry, from Rank, m Withdraw) {
	cp := e.find(from)
	mine := cp != nil && cp.origin && cp.token == m.Token
	if e.gen != 0 && (mine || e.token == m.Token) && !e.lost {
		c.withdraw(s, e, from, m.Token)
	}
}

// withdraw ends an object that was being made. Calls that wait for the object go on waiting. If
// another rank has put the same meanwhile, only the maker's copy goes.
func (c *Core) withdraw(s *shard, e *entry, from Rank, token uint64) {
	if e.token != token || slices.ContainsFunc(e.copies, func(cp copyAt) bool { return cp.origin && cp.rank != from }) {
		e.remove(from)
		if e.token == token {
			e.token = 0 // should this be said again
		}
		c.record(s, e)
		c.settle(s, e)
		c.tellWatches(e)
		return
	}
	gen := e.gen
	c.recordRemoved(s, e)
	for _, cp := range e.copies {
		if !cp.origin {
			c.send(cp.rank, Drop{Code: Restart, ID: e.id, Gen: gen}.message())
		}
	}
	e.copies = nil
	for _, w := range e.waiters {
		c.send(w.rank, Fail{Code: Restart, ID: e.id, Gen: gen, Ref: w.ref}.message())
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

func (c *Core) onPutReq(s *shard, e *entry, from Rank, m PutReq) {
	ack := PutAck{ID: m.ID, Token: m.Token}
	mine := newCopy(from, 0)
	mine.origin, mine.pinned, mine.complete, mine.token = true, true, m.Complete, m.Token
	mine.made = m.Making
	switch {
	case e.gen == 0 || e.lost:
		c.clear(e)
		e.gen, e.token, e.sum, e.size = c.nextGen(s), m.Token, m.Sum, m.Size
		if e.inline = m.Size == 0 || m.Data != nil && c.inlined+m.Size <= c.cfg.InlineQuota; e.inline {
			e.data = m.Data
			c.inlined += m.Size
		}
		e.copies = append(e.copies[:0], mine)
		c.record(s, e)
	case e.token == m.Token || !m.Making && e.size == m.Size && (e.sum == 0 || m.Sum == 0 || e.sum == m.Sum):
		c.join(e, mine)
	default:
		ack.Code = Exists
		c.send(from, ack.message())
		return
	}
	ack.Gen = e.gen
	c.send(from, ack.message())
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

func (c *Core) onGetReq(s *shard, e *entry, from Rank, m GetReq) {
	switch {
	case e.lost:
		c.send(from, Fail{Code: Lost, ID: e.id, Gen: e.gen, Ref: m.Ref}.message())
		return
	case e.gen == 0 && m.Keep:
		// It holds room for an object that is not there any more.
		c.send(from, Fail{Code: Restart, ID: e.id, Ref: m.Ref}.message())
		return
	}
	if e.gen != 0 {
		e.remove(from) // it would not ask if it had a copy
	}
	e.waiters = slices.DeleteFunc(e.waiters, func(w waiter) bool { return w.rank == from })
	e.waiters = append(e.waiters, waiter{from, m.Ref})
	c.settle(s, e) // what it had may have been the last that could be complete
}

// onEvict marks a copy that its holder wants to give up. It is offered to nobody
// from now on; letGo answers.
func (c *Core) onEvict(s *shard, e *entry, from Rank, m Evict) {
	if e.deleting != nil {
		return // a Drop is on its way, and ends it too
	}
	cp := e.find(from)
	if cp == nil || e.gen != m.Gen {
		c.send(from, EvictAck{ID: m.ID, Gen: m.Gen}.message())
		return
	}
	cp.leaving = true
	c.copyChanged(s, e)
}

// letGo answers those that want to give up their copies: yes, once nobody receives from
// it; no, if it is the last one, as that of an object whose maker died may be.
func (c *Core) letGo(e *entry) {
	for i := 0; i < len(e.copies); i++ {
		cp := &e.copies[i]
		if !cp.leaving || cp.child != NoRank {
			continue
		}
		ack := EvictAck{ID: e.id, Gen: e.gen}
		rank := cp.rank
		if e.inline || slices.ContainsFunc(e.copies, func(o copyAt) bool { return o.rank != rank && o.complete }) {
			e.remove(rank)
			i--
		} else {
			ack.Code = Exists
			cp.leaving, cp.pinned = false, true
		}
		c.send(rank, ack.message())
	}
}

func (c *Core) onDelReq(s *shard, e *entry, from Rank, m DelReq) {
	if d := e.deleting; d != nil {
		d.clients = append(d.clients, waiter{from, m.Ref})
		return
	}
	if e.gen == 0 {
		c.send(from, DelAck(m).message())
		return
	}
	d := &deletion{clients: []waiter{{from, m.Ref}}, replica: c.recordRemoved(s, e)}
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

// onDropAck notes that a rank has no copy any more.
func (c *Core) onDropAck(s *shard, e *entry, from Rank) {
	if d := e.deleting; d != nil {
		d.holders = slices.DeleteFunc(d.holders, func(r Rank) bool { return r == from })
		c.finishDelete(s, e)
	}
}

// onRepAck notes that the replica has no record of the object any more.
func (c *Core) onRepAck(s *shard, e *entry, from Rank) {
	if d := e.deleting; d != nil && d.replica == from {
		d.replica = NoRank
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
	for _, w := range d.clients {
		c.send(w.rank, DelAck{ID: e.id, Ref: w.ref}.message())
	}
	for i := range d.parked {
		c.request(s, d.parked[i].from, &d.parked[i].msg)
	}
	if s.entries[e.id] == e {
		s.tidy(e)
	}
}
