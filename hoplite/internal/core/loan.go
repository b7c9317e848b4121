package core

import "slices"

// Between ranks that share memory a sender lends its copy. It tells the watermark of the copy, and keeps the memory
// until the receiver gives it back by a Cancel. A job folds an input where it lies, and takes no memory for it. A Get
// copies from there, a chunk at a time: its copy is to outlive its source.

// lends reports whether a Get of o copies from rank r by itself.
func (c *Core) lends(o *object, r Rank) bool {
	return c.near(r) && (o.recv.made || c.cfg.LendFrom > 0 && o.size >= c.cfg.LendFrom)
}

// near reports whether this rank can read the store of r.
func (c *Core) near(r Rank) bool { return r >= 0 && int(r) < len(c.cfg.Near) && c.cfg.Near[r] }

// lend tells how much of a copy that is lent is there.
func (c *Core) lend(out *outgoing) {
	o := out.obj
	ready := o.ready()
	if out.stopping || out.next >= ready {
		return
	}
	if !out.said {
		c.say(out)
	}
	c.command(Command{Op: OpTell, Off: out.next, Peer: out.to, Slot: out.slot, Seq: out.seq, Watermark: ready, Transfer: out.id})
	out.next = ready
}

// say tells where a copy is that is lent.
func (c *Core) say(out *outgoing) {
	out.said = true
	c.send(out.to, Lent{Slot: out.slot, Seq: out.seq, Off: out.obj.mem.off, Written: out.written}.message())
}

// recall asks the receiver for what it was lent: the object will not be complete. The memory stays
// until the receiver answers.
func (c *Core) recall(out *outgoing) {
	if !out.stopping {
		out.stopping = true
		c.send(out.to, Stopped{Slot: out.slot, Seq: out.seq}.message())
	}
}

// endLoan ends a loan that the receiver has given back. The receiver waits for a word if it may
// still be told of more.
func (c *Core) endLoan(out *outgoing) {
	out.stopping = !out.stopping && out.next < out.obj.size
	c.endSending(out)
}

// onLent notes where the sender has what it lends.
func (c *Core) onLent(from Rank, m Lent) {
	o := c.slots[m.Slot]
	if o == nil || o.recv.seq != m.Seq || o.recv.from != from {
		return
	}
	o.recv.known, o.recv.src, o.recv.after = true, m.Off, o.size-m.Written
	c.lentMore(o)
}

// lentMore follows from what the sender has told of a copy that it lends.
func (c *Core) lentMore(o *object) {
	switch {
	case o.recv.stopping && o.recv.told == o.size:
		o.recv.from, o.recv.stopping = NoRank, false // nothing more comes
		c.freeIdle(o)
	case o.recv.stopping || !o.recv.known || o.state == dropped:
	case o.recv.borrower != nil:
		if o.recv.told == o.size {
			c.borrowed(o)
		}
	case o.id != "":
		c.copyMore(o)
	default:
		o.mem.have = o.recv.told
		c.progress(o)
	}
}

// hasFolded goes on with a job that reads what is lent, and reports whether number is that of its fold.
func (c *Core) hasFolded(number uint64) bool {
	j := c.folds[number]
	if j == nil {
		return false
	}
	delete(c.folds, number)
	j.folding = 0
	c.folded(j, j.part)
	return true
}

// folded goes on with a job of which a chunk was folded. Others may have folded later ones before.
func (c *Core) folded(j *reductionNode, p chunk) {
	j.parts = append(j.parts, p)
	for i := 0; i < len(j.parts); i++ {
		if p := j.parts[i]; p.at == j.done {
			j.done += p.n
			j.parts = slices.Delete(j.parts, i, i+1)
			i = -1
		}
	}
	if j.done == j.size {
		for _, b := range j.bufs[:len(j.ins)] {
			if b.recv.lent {
				c.giveBack(b)
			}
		}
	}
	c.step(j)
}

// giveBack ends the reading of what is lent, all of which was told of.
func (c *Core) giveBack(o *object) {
	c.send(o.recv.from, Cancel{Slot: uint32(o.recv.slot), Seq: o.recv.seq}.message())
	o.recv.from = NoRank
	c.slots[o.recv.slot] = nil
	o.recv.slot = -1
}

// copyMore copies the next chunk of an object that a Get is lent, if it was not written here.
func (c *Core) copyMore(o *object) {
	if o.recv.copying != 0 || o.recv.told <= o.mem.have {
		return
	}
	if o.mem.have >= o.recv.after {
		c.copied(o, o.recv.told)
		return
	}
	n := min(c.cfg.Chunk, min(o.recv.told, o.recv.after)-o.mem.have)
	o.recv.copying, o.recv.upTo = c.next(), o.mem.have+n
	c.copies[o.recv.copying] = o
	c.command(Command{Op: OpCopy, Off: o.mem.off + o.mem.have, Len: n, Peer: o.recv.from, Src: o.recv.src + o.mem.have, Whole: o.size})
	c.command(Command{Op: OpReport, Transfer: o.recv.copying})
}

// hasCopied goes on with an object that a Get is lent, and reports whether number is that of its copy.
func (c *Core) hasCopied(number uint64) bool {
	o := c.copies[number]
	if o == nil {
		return false
	}
	c.stopCopying(o)
	c.copied(o, o.recv.upTo)
	c.copyMore(o)
	return true
}

// copied goes on with an object of which all bytes before the watermark are here.
func (c *Core) copied(o *object, watermark int64) {
	if o.mem.have = watermark; o.mem.have == o.size {
		c.giveBack(o)
		c.fetched(o)
	}
	c.progress(o)
}

// stopCopying has the report of a copy not counted.
func (c *Core) stopCopying(o *object) {
	delete(c.copies, o.recv.copying)
	o.recv.copying = 0
}
