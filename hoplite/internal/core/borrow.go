package core

import "slices"

// A Get that only reads takes no copy of an object that lies in memory which this rank can read, too: it borrows what
// another rank has put or made. The directory does not hear of it. The call ends when the owner has all bytes, with a
// reference to them in the owner's store, and the owner keeps them until Release. If nobody near has put or made the
// object, or the owner gives it up before, the call goes on as a Get.

// GetNear is Get, but the bytes may lie in the store of a rank near, which the result names.
func (c *Core) GetNear(id CallID, name string) {
	x := &call{id: id, name: name}
	c.calls[id] = x
	if c.objects[name] != nil || !c.shares {
		c.get(id, name)
	} else {
		x.watches = append(x.watches, c.watch(&watching{id: name, once: true, room: max(c.cfg.Inline, 0), call: x, near: true}))
	}
	c.makeRoom()
}

// shares reports whether a rank can read the store of another.
func (c Config) shares() bool {
	for r, near := range c.Near {
		if near && Rank(r) != c.Rank {
			return true
		}
	}
	return false
}

// borrow asks a rank near that has the object to lend it until the program has read it.
func (c *Core) borrow(x *call, m Located) {
	x.watches = nil
	if m.Inline {
		c.result(CallResult{Call: x.id, ID: x.name, Size: m.Size, Data: m.Data})
		return
	}
	ranks := m.Ranks[:m.NumRanks]
	i := slices.IndexFunc(ranks, func(r Rank) bool { return r != c.cfg.Rank && c.near(r) && !c.dead[r] })
	if i < 0 || c.objects[x.name] != nil {
		c.get(x.id, x.name)
		return
	}
	o := c.newObject("", fetching)
	o.size, o.gen, o.token = m.Size, m.Gen, m.Token
	o.recv.lent, o.recv.borrower = true, x
	if c.reserveReceived(o) != nothing {
		c.get(x.id, x.name)
		return
	}
	x.borrowed = o
	c.pull(o, ranks[i], Stream{})
}

// A loan is an object that the program reads in the store of another rank.
type loan struct {
	from Rank
	back Cancel
}

// borrowed ends the call for an object of which the owner has all bytes.
func (c *Core) borrowed(o *object) {
	x := o.recv.borrower
	x.borrowed = nil
	res := CallResult{Call: x.id, ID: x.name, Size: o.size, Off: o.recv.src, Held: true, At: o.recv.from, Ref: c.next()}
	back := Cancel{Slot: uint32(o.recv.slot), Seq: o.recv.seq}
	c.loans[res.Ref] = loan{o.recv.from, back}
	if c.cfg.has(MutantReturnEarly) {
		c.send(o.recv.from, back.message())
	}
	c.slots[o.recv.slot] = nil
	c.result(res)
}

// getInstead goes on with a call whose object the owner does not lend.
func (c *Core) getInstead(o *object) {
	x := o.recv.borrower
	c.stopBorrowing(x)
	c.get(x.id, x.name)
}

// stopBorrowing gives back what a call borrows and has not got yet.
func (c *Core) stopBorrowing(x *call) {
	if x.borrowed != nil {
		c.forget(x.borrowed)
		x.borrowed = nil
	}
}

// loansAfter goes on with calls that borrow from a dead rank. Those that have got their object keep it. It comes after
// the shards have moved: the Gets that it begins ask the new owners, whom nobody asks for them again.
func (c *Core) loansAfter(d Rank) {
	for _, o := range slices.Clone(c.slots) {
		if o != nil && o.recv.borrower != nil && o.recv.from == d {
			o.recv.stopping = false
			c.sourceGone(o, false)
			c.freeIdle(o)
		}
	}
}

// isBorrowed reports whether the program of another rank may be reading an object.
func (o *object) isBorrowed() bool {
	return slices.ContainsFunc(o.serve.outs, func(out *outgoing) bool { return out.borrow })
}
