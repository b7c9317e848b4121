package core

import "slices"

// An outgoing is a transfer at its sender.
type outgoing struct {
	id       uint64
	obj      *object
	to       Rank
	slot     uint32
	seq      uint64
	next     int64 // the first byte that was not put yet
	off      int64 // where the object begins in the receiver's store
	inFlight int
	stream   bool  // of a reduction
	lend     bool  // the receiver reads here
	borrow   bool  // and has no copy: its program reads until it gives back
	said     bool  // it was told where
	written  int64 // how many bytes at the end are written to the receiver's store when they are folded
	stopping bool  // the receiver, or the end of the object here, has stopped it
}

// pump puts what is there and not yet on its way, as far as the window allows.
func (c *Core) pump(out *outgoing) {
	if out.lend {
		c.lend(out)
		return
	}
	o := out.obj
	for !out.stopping && out.inFlight < c.cfg.Window && out.next < o.ready() {
		n := min(c.cfg.Chunk, o.ready()-out.next)
		mark := out.next + n
		if c.cfg.has(MutantTailOmitted) && o.size-mark < c.cfg.Chunk {
			mark = o.size
		}
		c.command(Command{
			Op: OpPut, Src: o.mem.off + out.next, Off: out.off + out.next, Len: n,
			Peer: out.to, Slot: out.slot, Seq: out.seq, Watermark: mark, Transfer: out.id,
		})
		out.next += n
		out.inFlight++
	}
}

// Sent reports that one put of a transfer has landed, or that it never will because its
// peer is gone; or that all commands before an OpReport were done. An unknown transfer is ignored.
func (c *Core) Sent(transfer uint64) {
	if c.hasFolded(transfer) || c.hasCopied(transfer) || c.hasShared(transfer) {
		c.makeRoom()
		return
	}
	out := c.transfers[transfer]
	if out == nil {
		return
	}
	out.inFlight--
	if out.inFlight == 0 && (out.stopping || out.next == out.obj.size) {
		c.endSending(out)
	} else {
		c.pump(out)
	}
	c.makeRoom()
}

// stopSending ends a transfer and reports whether it has ended at once. Else it ends
// with the last Sent, or when the receiver has given back what it was lent.
func (c *Core) stopSending(out *outgoing) bool {
	if out.lend && out.said && !c.cfg.has(MutantFreeLent) {
		c.recall(out)
		return false
	}
	out.stopping = true
	if out.inFlight > 0 {
		return false
	}
	c.endSending(out)
	return true
}

func (c *Core) endSending(out *outgoing) {
	o := out.obj
	delete(c.transfers, out.id)
	o.serve.outs = slices.DeleteFunc(o.serve.outs, func(x *outgoing) bool { return x == out })
	if out.stopping {
		c.send(out.to, Stopped{Slot: out.slot, Seq: out.seq}.message())
	}
	c.freeIdle(o)
}

// An earlyPull came before what it asks for.
type earlyPull struct {
	from Rank
	pull Pull
}

// onPull begins to send an object, or the stream of a job.
func (c *Core) onPull(from Rank, m Pull) {
	o := c.source(m)
	if o == nil {
		// The caller of a reduction may have told others of this position before it told
		// this rank. So may the directory of a copy.
		if !m.Stream.none() {
			if j := c.streams[m.Stream.place()]; !c.dead[m.Stream.Owner] && (j == nil || j.key.Attempt < m.Stream.Attempt) {
				c.early = append(c.early, earlyPull{from, m})
				return
			}
		} else if o := c.objects[m.ID]; o != nil && c.mayBecome(o, m) {
			o.serve.early = append(o.serve.early, earlyPull{from, m})
			return
		}
	}
	if o == nil || o.size != m.Size || o.state == wanted {
		c.refuse(from, m)
		return
	}
	out := &outgoing{id: c.next(), obj: o, to: from, slot: m.Slot, seq: m.Seq, next: m.From, off: m.Off, stream: !m.Stream.none(), lend: m.Lend, borrow: m.Borrow}
	if c.cfg.has(MutantResumeZero) && m.From > 0 {
		out.off += m.From
		out.next = 0
	}
	c.transfers[out.id] = out
	o.serve.outs = append(o.serve.outs, out)
	c.touch(o)
	c.pump(out)
	if o.folds != nil {
		c.step(o.folds) // it may share with who waits
	}
}

// refuse answers a Pull that will not be served.
func (c *Core) refuse(from Rank, m Pull) {
	c.send(from, Stopped{Slot: m.Slot, Seq: m.Seq}.message())
}

// source finds what a Pull asks for: this very copy. The directory has noted that the
// copy which it named is gone, if this rank gave it up, and that who would have received
// from it will say so; what came here since is another link of the chains.
func (c *Core) source(m Pull) *object {
	if !m.Stream.none() {
		if j := c.streams[m.Stream.place()]; j != nil && j.key == m.Stream {
			return j.out
		}
		return nil
	}
	o := c.stored(m.ID, m.Gen, m.Token)
	if o != nil && o.born != m.Copy && !c.cfg.has(MutantAnyCopy) && !c.cfg.has(MutantNoGeneration) {
		return nil
	}
	return o
}

// stored finds a copy by id and generation, or by id and token while its maker has not
// been told the generation.
func (c *Core) stored(id string, gen, token uint64) *object {
	o := c.objects[id]
	if o == nil || o.state == wanted {
		return nil
	}
	if o.gen != gen && (o.gen != 0 || o.token != token) && !c.cfg.has(MutantNoGeneration) {
		return nil
	}
	return o
}

// mayBecome reports whether the answer that o waits for may make it the copy that a Pull
// asks for. A Put of this rank will be answered in any case. A Get will not if its directory
// has died: the next directory may wait for the very rank that pulls to say what it has.
func (c *Core) mayBecome(o *object, m Pull) bool {
	if o.gen != 0 || !o.dir.asked {
		return false
	}
	if o.state == wanted {
		return o.dir.ask == m.Copy && m.Directory == c.directoryOf(m.ID)
	}
	return m.Copy == 0
}

// serveEarly looks again at requests for a copy that came before its generation.
func (c *Core) serveEarly(o *object) {
	early := o.serve.early
	o.serve.early = nil
	for _, q := range early {
		if !c.dead[q.from] {
			c.onPull(q.from, q.pull)
		}
	}
}

// serveStreams looks again at requests for streams, some of which may be known now.
func (c *Core) serveStreams(which func(earlyPull) bool) {
	early := c.early
	c.early = nil
	for _, q := range early {
		if which(q) {
			c.onPull(q.from, q.pull)
		} else {
			c.early = append(c.early, q)
		}
	}
}

func (c *Core) onCancel(from Rank, m Cancel) {
	mine := func(q earlyPull) bool { return q.from == from && q.pull.Slot == m.Slot && q.pull.Seq == m.Seq }
	c.early = slices.DeleteFunc(c.early, mine)
	for _, o := range c.objects {
		o.serve.early = slices.DeleteFunc(o.serve.early, mine)
	}
	for _, out := range c.transfers {
		if out.to == from && out.slot == m.Slot && out.seq == m.Seq {
			if out.lend {
				c.endLoan(out)
			} else {
				c.stopSending(out)
			}
			return
		}
	}
	c.send(from, Stopped(m).message())
}

// pull asks a source for what is missing of o, which has room and a slot.
func (c *Core) pull(o *object, from Rank, stream Stream) {
	o.recv.seq = c.next()
	o.recv.from = from
	o.recv.known, o.recv.told, o.recv.after = false, 0, o.size
	id := o.id
	switch {
	case o.recv.borrower != nil:
		id = o.recv.borrower.name
	case stream.none():
		o.recv.lent = c.lends(o, from)
	}
	m := Pull{
		ID: id, Gen: o.gen, Token: o.token, Stream: stream, Slot: uint32(o.recv.slot), Seq: o.recv.seq,
		Size: o.size, From: o.mem.have, Off: o.mem.off, Directory: c.directoryOf(id), Copy: o.recv.fromCopy,
		Lend: o.recv.lent, Borrow: o.recv.borrower != nil,
	}
	c.send(from, m.message())
}

// stopReceiving cancels what o receives. Its memory is not ours again until the sender
// has confirmed, or is dead.
func (c *Core) stopReceiving(o *object) {
	c.stopCopying(o)
	if o.recv.lent && o.recv.from != NoRank && !o.recv.stopping {
		c.send(o.recv.from, Cancel{Slot: uint32(o.recv.slot), Seq: o.recv.seq}.message())
		if o.recv.stopping = o.recv.told < o.size; !o.recv.stopping {
			o.recv.from = NoRank
		}
		return
	}
	if o.recv.from != NoRank && !o.recv.stopping && o.mem.have < o.size {
		o.recv.stopping = true
		c.send(o.recv.from, Cancel{Slot: uint32(o.recv.slot), Seq: o.recv.seq}.message())
	}
}

// onStopped handles the word of a sender that it sends nothing into a slot any more.
func (c *Core) onStopped(from Rank, m Stopped) {
	o := c.slots[m.Slot]
	if o == nil || o.recv.seq != m.Seq || o.recv.from != from {
		return
	}
	if o.recv.lent && o.recv.known && !o.recv.stopping {
		c.send(from, Cancel(m).message())
	}
	o.recv.stopping = false
	if o.mem.have < o.size || o.recv.lent {
		c.sourceGone(o, true)
	}
	c.freeIdle(o)
}

// sourceGone goes on without the source of o. Inputs of jobs are the business of the
// reduction's caller, who knows what else has changed.
func (c *Core) sourceGone(o *object, ask bool) {
	bad := o.recv.from
	o.recv.from = NoRank
	c.stopCopying(o)
	if o.recv.borrower != nil && o.state == fetching {
		c.getInstead(o)
	}
	if o.state != fetching || o.id == "" {
		return
	}
	o.dir.asked, o.dir.ask = true, c.next()
	if ask {
		m := Orphan{ID: o.id, Gen: o.gen, Rank: bad, Copy: o.recv.fromCopy, Dead: c.dead[bad], From: o.mem.have, Ref: o.dir.ask}
		c.ask(o.id, m.message())
	}
}

// Arrived reports the watermark in the word of a slot: all bytes of the object before it
// are in the store. It may be reported late, or more than once.
func (c *Core) Arrived(slot uint32, watermark int64) {
	o := c.slots[slot]
	if o == nil || o.recv.from == NoRank {
		return
	}
	if o.recv.lent {
		if watermark > o.recv.told {
			o.recv.told = min(watermark, o.size)
			c.lentMore(o)
			c.makeRoom()
		}
		return
	}
	if watermark <= o.mem.have {
		return
	}
	o.mem.have = min(watermark, o.size)
	c.received(o)
	if o.state != dropped {
		c.progress(o)
	} else {
		c.freeIdle(o)
	}
	c.makeRoom()
}

// received ends a transfer with the arrival of its last byte.
func (c *Core) received(o *object) {
	if o.mem.have < o.size {
		return
	}
	// Nothing is under way into the slot, whatever its sender still has to say.
	o.recv.from, o.recv.stopping = NoRank, false
	c.slots[o.recv.slot] = nil
	o.recv.slot = -1
	c.fetched(o)
}

// fetched tells of an object all of which is here.
func (c *Core) fetched(o *object) {
	if o.state == fetching && o.id != "" {
		c.ask(o.id, Done{ID: o.id, Gen: o.gen}.message())
		c.completed(o)
	}
}

// transfersAfter ends all transfers with a dead rank. If the directory of an object died
// too, registering with the next says all there is to say.
func (c *Core) transfersAfter(d Rank, owners []Rank) {
	for _, id := range sortedKeys(c.transfers) {
		if out := c.transfers[id]; out.to == d {
			delete(c.transfers, id)
			o := out.obj
			o.serve.outs = slices.DeleteFunc(o.serve.outs, func(x *outgoing) bool { return x == out })
			c.freeIdle(o)
		}
	}
	for slot, o := range c.slots {
		if o == nil || o.recv.from != d || o.recv.borrower != nil {
			continue
		}
		o.recv.stopping = false
		c.sourceGone(o, o.id != "" && owners[ShardOf(o.id, c.cfg.Size)] != d)
		c.freeIdle(c.slots[slot])
	}
}
