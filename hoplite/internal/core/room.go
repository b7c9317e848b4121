package core

import "slices"

// A need is an object or a job that waits for room in the store. Objects get room in
// the order in which they asked. A job does not wait for what a program holds, nor for
// another job: two reductions that wait for each other would wait for ever.
type need struct {
	obj  *object
	job  *reductionNode
	slot bool // of a job: it waits for a slot
}

// A lack is what there is none of.
type lack uint8

const (
	nothing lack = iota
	slot
	memory
)

func (c *Core) wantRoom(n *need) {
	c.needs = append(c.needs, n)
}

func (c *Core) unneed(n *need) {
	c.needs = slices.DeleteFunc(c.needs, func(o *need) bool { return o == n })
}

// makeRoom gives room to those who wait, as far as there is some, and asks for the
// eviction of what was not used for longest if there is too little. Every call and event
// ends with it.
func (c *Core) makeRoom() {
	for again := true; again; {
		again = false
		blocked := false
		for _, n := range slices.Clone(c.needs) {
			if !slices.Contains(c.needs, n) || n.job == nil && blocked {
				continue
			}
			switch {
			case n.job != nil && c.roomForJob(n), n.job == nil && c.roomForObject(n):
				again = true
			case n.job == nil:
				blocked = true
			}
		}
	}
}

// reserve takes memory for o, and a slot if it will be received, or says what is lacking.
func (c *Core) reserve(o *object, receive bool) lack {
	at := o.recv.slot
	if receive && at < 0 {
		if at = slices.Index(c.slots, nil); at < 0 {
			return slot
		}
	}
	if !o.mem.stored && !o.recv.lent {
		off, ok := c.arena.Alloc(o.size)
		if !ok {
			return memory
		}
		o.mem.off, o.mem.stored = off, true
	}
	if receive {
		o.recv.slot = at
		c.slots[at] = o
	}
	return nothing
}

// reserveReceived is reserve of an object that is asked for. It leaves slots that become
// free to a job that waits for them: Gets would take them one by one, and the job wants all
// of its at once.
func (c *Core) reserveReceived(o *object) lack {
	promised := slices.ContainsFunc(c.needs, func(n *need) bool { return n.slot })
	if o.recv.slot < 0 && promised {
		return slot
	}
	return c.reserve(o, true)
}

// slotWillFree reports whether a slot that is in use is going to be free whatever the
// reductions wait for. A job's slot is not sure to be: the job may wait for a source that
// nobody puts, or for another rank's job that waits for a slot of a third reduction. Nor is a
// Get's slot, if the Get waits for the target of a reduction that has made nothing yet.
func (c *Core) slotWillFree() bool {
	return slices.ContainsFunc(c.slots, func(o *object) bool {
		switch {
		case o == nil:
			return false
		case o.recv.stopping:
			return true
		case o.id == "" || o.state == making:
			return false
		}
		return o.state != fetching || !o.recv.made || o.mem.have > 0
	})
}

// unreserve gives back what reserve took for an object that received nothing.
func (c *Core) unreserve(o *object) {
	if o.recv.slot >= 0 {
		c.slots[o.recv.slot] = nil
		o.recv.slot = -1
	}
	if o.mem.stored {
		o.mem.stored = false
		c.arena.Release(o.mem.off, o.size)
	}
}

// roomForObject reports whether it has dealt with n.
func (c *Core) roomForObject(n *need) bool {
	o := n.obj
	var lacks lack
	if o.state == wanted {
		lacks = c.reserveReceived(o)
	} else {
		lacks = c.reserve(o, false)
	}
	if lacks != nothing {
		if lacks == slot && c.slotWillFree() ||
			lacks == memory && (c.evictFor(o.size) || c.willFree(func(*object) bool { return true })) {
			return false
		}
		c.unneed(n)
		o.need = nil
		c.noRoom(o)
		return true
	}
	c.unneed(n)
	o.need = nil
	if o.state == wanted {
		o.dir.asked, o.dir.ask = true, c.next()
		c.ask(o.id, o.question())
	} else {
		c.fill(o)
	}
	return true
}

// noRoom ends the calls that wait for an object for which there never will be room.
func (c *Core) noRoom(o *object) {
	if o.state == filling && o.use.putCall != 0 {
		c.result(CallResult{Call: o.use.putCall, Code: Full, ID: o.id})
		o.use.putCall = 0
	}
	wasPut := o.state == filling
	gets := o.use.gets
	o.use.gets = nil
	puts := o.use.puts
	o.use.puts = nil
	c.forget(o)
	for _, g := range gets {
		if wasPut {
			c.get(g, o.id) // the object may yet come from elsewhere
		} else {
			c.result(CallResult{Call: g, Code: Full, ID: o.id})
		}
	}
	for _, p := range puts {
		c.put(p)
	}
}

// willFree reports whether memory that is in use now, and that counts, is going to be
// free without a Delete. Memory that jobs use or read never counts: a reduction may wait for
// the very object that needs memory.
func (c *Core) willFree(counts func(*object) bool) bool {
	for _, o := range c.objects {
		if o.mem.stored && (o.state == evicting || counts(o) && !o.use.pinned && len(o.serve.jobs) == 0 && o.state != filling && o.state != making) {
			return true
		}
	}
	for o := range c.passing {
		if o.mem.stored && len(o.serve.jobs) == 0 && (counts(o) || o.use.readers == 0 && o.use.putCall == 0 && !o.isBorrowed()) {
			return true
		}
	}
	return false
}

// evictFor asks the directory to let go of the copies that were not used for longest,
// until what is on its way out could hold size bytes. It reports whether any is.
func (c *Core) evictFor(size int64) bool {
	leaving := int64(0)
	for _, o := range c.objects {
		if o.state == evicting {
			leaving += o.size
		}
	}
	for leaving < size {
		var oldest *object
		for _, o := range c.objects {
			usable := o.state == complete && !o.use.pinned && !o.use.held() && o.mem.stored && len(o.serve.jobs) == 0 &&
				(len(o.serve.outs) == 0 || c.cfg.has(MutantEvictInUse))
			if usable && (oldest == nil || o.use.lastUse < oldest.use.lastUse) {
				oldest = o
			}
		}
		if oldest == nil {
			break
		}
		leaving += oldest.size
		c.evict(oldest)
	}
	return leaving > 0
}

func (c *Core) evict(o *object) {
	if c.mutantEvicts(o) {
		return
	}
	o.state = evicting
	c.ask(o.id, Evict{ID: o.id, Gen: o.gen}.message())
}

// onEvictAck handles the directory's answer. Jobs that have begun to read the copy
// meanwhile go on; who wants it now asks again.
func (c *Core) onEvictAck(m EvictAck) {
	o := c.objects[m.ID]
	if o == nil || o.state != evicting || o.gen != m.Gen {
		return
	}
	if m.Code != OK {
		o.use.pinned = true
		c.completed(o)
		return
	}
	c.forget(o)
	c.sourceDropped(o)
	c.askAgain(o)
}
