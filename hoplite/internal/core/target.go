package core

import "slices"

// startRoot makes the target from the inputs that are known now. If it was being made
// from others, that object is given up: part of it may have been read, and the rest would
// not fit to it.
func (c *Core) startRoot(r *reduction, ins []In) {
	var gets []CallID
	var puts []*call
	if r.obj != nil {
		gets, puts = r.obj.use.gets, r.obj.use.puts
		r.obj.use.gets, r.obj.use.puts = nil, nil
		c.giveUp(r)
	} else if o := c.objects[r.target]; o != nil {
		if o.state != wanted {
			c.endReduce(r, CallResult{Code: Exists, ID: r.target})
			return
		}
		if o.dir.asked {
			c.ask(o.id, Unwait{ID: o.id}.message())
		}
		gets, puts = o.use.gets, o.use.puts
		o.use.gets, o.use.puts = nil, nil
		c.unreserve(o)
		c.forget(o)
	}
	r.attempt++
	o := c.newObject(r.target, making)
	o.size, o.token, o.use.gets, o.use.puts = r.size, c.token(), gets, puts
	o.use.pinned, o.use.mine = true, true
	r.obj = o
	j := &reductionNode{
		key: Stream{Owner: c.cfg.Rank, Reduce: r.number, Position: 1<<32 - 1}, op: r.op, size: r.size,
		ins: ins, out: o, root: r, helpers: c.helpersOf(r, ins),
	}
	r.used = r.used[:0]
	for i, s := range r.sources {
		if s.state == used {
			r.used = append(r.used, i)
		}
	}
	for _, i := range r.local {
		s := &r.sources[i]
		if s.data != nil || r.size == 0 {
			j.bytes = append(j.bytes, s.data)
		} else if own := c.stored(s.id, s.gen, s.token); own != nil {
			j.own = append(j.own, own)
		} else {
			c.localGone(r, i)
			return
		}
	}
	r.root = j
	if r.size == 0 {
		o.folds = j
		c.targetMade(r)
		return
	}
	c.begin(j)
}

// localGone looks for a source elsewhere that was here when it was chosen.
func (c *Core) localGone(r *reduction, i int) {
	r.local = slices.DeleteFunc(r.local, func(k int) bool { return k == i })
	r.root = nil
	c.await(r, i)
	c.admit(r)
}

// sourceDropped tells reductions that wait for others that a source which they would have
// folded here is gone.
func (c *Core) sourceDropped(o *object) {
	for _, n := range sortedKeys(c.reduces) {
		r := c.reduces[n]
		if r == nil || r.root != nil || r.made {
			continue
		}
		i := slices.IndexFunc(r.local, func(i int) bool { return r.sources[i].id == o.id && r.sources[i].data == nil })
		if i >= 0 && r.sources[r.local[i]].gen == o.gen {
			c.localGone(r, r.local[i])
		}
	}
}

// rootFailed handles the end of the caller's own job.
func (c *Core) rootFailed(r *reduction, why Code) {
	if why == Full {
		c.endReduce(r, CallResult{Code: Full, ID: r.target})
		return
	}
	j := r.root
	c.endJob(j)
	r.root = nil
	for _, i := range slices.Clone(r.local) {
		s := &r.sources[i]
		if s.data == nil && c.stored(s.id, s.gen, s.token) == nil {
			r.local = slices.DeleteFunc(r.local, func(k int) bool { return k == i })
			c.await(r, i)
		}
	}
	c.admit(r)
}

// giveUp takes the target back that was being made.
func (c *Core) giveUp(r *reduction) {
	if r.root != nil {
		c.endJob(r.root)
		r.root = nil
	}
	o := r.obj
	if o == nil {
		return
	}
	r.obj = nil
	if o.dir.asked || o.gen != 0 {
		r.withdrawn = append(r.withdrawn, o.token)
		c.ask(o.id, Withdraw{ID: o.id, Token: o.token}.message())
	}
	c.forget(o)
	c.failReaders(o)
	c.sourceDropped(o)
	c.askAgain(o)
	c.freeIdle(o)
}

// targetStored tells the directory of a target that has room and will take a while.
func (c *Core) targetStored(j *reductionNode) {
	if j.size > c.cfg.Inline {
		c.sendPut(j.out)
	}
}

// targetMade ends the making of a target.
func (c *Core) targetMade(r *reduction) {
	o := r.obj
	if o.state != making || o.mem.have == o.size && o.folds == nil {
		return
	}
	o.mem.have = o.size
	r.made = true
	c.endJob(r.root)
	o.folds = nil
	switch {
	case o.size <= c.cfg.Inline || o.size == 0:
		c.sendPut(o)
	case o.gen != 0:
		c.ask(o.id, Done{ID: o.id, Gen: o.gen}.message())
		c.reduced(r)
	}
}

// targetKnown handles the directory's answer about a target.
func (c *Core) targetKnown(o *object, m PutAck) {
	r := c.reduceOf(o)
	o.dir.asked = false
	if m.Code != OK {
		c.endReduce(r, CallResult{Code: m.Code, ID: o.id})
		return
	}
	r.withdrawn = nil
	o.gen = m.Gen
	c.serveEarly(o)
	if o.mem.have == o.size && o.folds == nil {
		if o.size > c.cfg.Inline {
			c.ask(o.id, Done{ID: o.id, Gen: o.gen}.message())
		}
		c.reduced(r)
	}
}

// reduced ends a reduction that is done.
func (c *Core) reduced(r *reduction) {
	o := r.obj
	r.obj, r.root = nil, nil
	which := r.used
	if c.cfg.has(MutantUsedWrong) {
		for i := range which {
			which[i] = i
		}
	}
	c.completed(o)
	res := CallResult{Code: OK, ID: o.id, Size: o.size, Off: o.mem.off, Held: true, At: c.cfg.Rank, Used: which, Ref: c.next()}
	c.touch(o)
	o.use.readers++
	c.refs[res.Ref] = o
	c.endReduce(r, res)
}

// targetDropped ends a reduction whose target was deleted while it was being made.
func (c *Core) targetDropped(r *reduction, why Code) {
	if r.root != nil {
		c.endJob(r.root)
		r.root = nil
	}
	r.obj = nil
	c.endReduce(r, CallResult{Code: why, ID: r.target})
}

// reduceOf finds the reduction that makes a target.
func (c *Core) reduceOf(o *object) *reduction {
	for _, r := range c.reduces {
		if r.obj == o {
			return r
		}
	}
	return nil
}

// endReduce ends a reduction with a result, and all jobs of it.
func (c *Core) endReduce(r *reduction, res CallResult) {
	if c.reduces[r.number] != r {
		return
	}
	delete(c.reduces, r.number)
	for i := range r.sources {
		c.unwatch(r.sources[i].ref)
	}
	for pos, p := range r.places {
		if p.source >= 0 {
			key := Stream{Owner: c.cfg.Rank, Reduce: r.number, Position: uint32(pos)}
			c.send(r.sources[p.source].rank, JobEnd{Stream: key}.message())
		}
	}
	c.giveUp(r)
	res.Call = r.call
	c.result(res)
}
