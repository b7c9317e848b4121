package core

import "slices"

// A reductionNode is a position of a reduction at the rank that fills it: it folds inputs from
// other positions with a copy of this store, and others pull what comes out. The caller's
// own job is one too, and makes the target.
type reductionNode struct {
	key     Stream
	op      uint32
	size    int64
	own     []*object // copies of this store
	bytes   [][]byte  // inline sources; the caller's job alone
	ins     []In
	bufs    []*object // of ins, where they are received or lent; then out if it is no other object
	out     *object   // where the result grows and what is pulled: that of an input, or the only source, or the target
	done    int64     // [0, done) of out is final
	reads   bool      // an input is lent: folds are reported
	folding uint64    // the number of the fold that was not reported yet, 0 if there is none
	part    chunk     // what it folds
	next    int64     // nobody has begun to fold [next, size)
	again   []chunk   // begun in vain
	parts   []chunk   // folded, beyond done
	helpers []Rank    // fold chunks, too; of the caller's job alone
	both    uint64    // the transfer to whose receiver's store chunks are written, too; 0 if there was none
	need    *need
	root    *reduction
}

// place is the key of a job's position, whatever its attempt.
func (s Stream) place() Stream {
	s.Attempt = 0
	return s
}

// ready is the watermark of what others may be sent.
func (o *object) ready() int64 {
	if o.folds != nil {
		return o.folds.done
	}
	return o.mem.have
}

// onInput begins to receive an input of which the caller did not know the rank.
func (c *Core) onInput(m Input) {
	j := c.streams[m.Stream.place()]
	if j == nil || j.key.Attempt != m.Stream.Attempt || int(m.Index) >= len(j.ins) {
		return
	}
	j.ins[m.Index] = m.In
	if j.need == nil {
		c.pullInput(j, int(m.Index))
	}
}

func (c *Core) onJobEnd(m JobEnd) {
	if j := c.streams[m.Stream.place()]; j != nil {
		c.endJob(j)
	}
}

// onJobReq begins a position, or begins it anew because an input is another one now: what
// was folded so far has contributions that will not be in the rest.
func (c *Core) onJobReq(m JobReq) {
	old := c.streams[m.Stream.place()]
	if c.mutantKeepsPrefix(old, m) {
		return
	}
	if old != nil {
		c.endJob(old)
	}
	j := &reductionNode{key: m.Stream, op: m.Op, size: m.Size, ins: slices.Clone(m.Ins[:m.NumIns])}
	o := c.stored(m.ID, m.Gen, m.Token)
	if o == nil || o.size != m.Size {
		c.send(m.Stream.Owner, JobFailed{Code: Gone, Stream: m.Stream}.message())
		early := c.early
		c.early = nil
		for _, q := range early {
			if q.pull.Stream == m.Stream {
				c.refuse(q.from, q.pull)
			} else {
				c.early = append(c.early, q)
			}
		}
		return
	}
	j.own = append(j.own, o)
	c.begin(j)
}

// begin enters a job and asks for room for its inputs.
func (c *Core) begin(j *reductionNode) {
	c.streams[j.key.place()] = j
	defer c.serveStreams(func(q earlyPull) bool { return q.pull.Stream.place() == j.key.place() })
	for _, o := range j.own {
		o.serve.jobs = append(o.serve.jobs, j)
	}
	if len(j.ins) == 0 && j.root == nil {
		j.out = j.own[0]
		return
	}
	inPlace := false // an input is received where the result grows
	for _, in := range j.ins {
		lent := c.near(in.Rank)
		if !lent && !inPlace && j.root != nil {
			inPlace = true
			j.bufs = append(j.bufs, j.out)
			continue
		}
		b := c.buffer(j)
		b.recv.lent = lent
		j.reads = j.reads || lent
		if !lent && !inPlace {
			inPlace, j.out = true, b
		}
	}
	if j.out == nil {
		j.out = c.buffer(j)
	}
	j.out.folds = j
	j.need = &need{job: j}
	c.wantRoom(j.need)
}

// buffer adds an object without an id to a job.
func (c *Core) buffer(j *reductionNode) *object {
	b := c.newObject("", fetching)
	b.size = j.size
	b.serve.jobs = append(b.serve.jobs, j)
	j.bufs = append(j.bufs, b)
	return b
}

// roomForJob reports whether it has dealt with n. A job takes all its room at once.
func (c *Core) roomForJob(n *need) bool {
	j := n.job
	all := j.bufs
	if !slices.Contains(all, j.out) {
		all = append(slices.Clip(all), j.out)
	}
	slots, buffers := 0, int64(0)
	for i, b := range all {
		if i < len(j.ins) {
			slots++
		}
		if !b.recv.lent {
			buffers++
		}
	}
	for i, b := range all {
		lacks := c.reserve(b, i < len(j.ins))
		if lacks == nothing {
			continue
		}
		for _, b := range all[:i] {
			c.unreserve(b)
		}
		c.unreserve(b)
		n.slot = lacks == slot && slots <= len(c.slots) && c.slotWillFree()
		if n.slot || lacks == memory && (c.evictFor(j.size*buffers) || c.willFree(func(*object) bool { return false })) {
			return false
		}
		c.unneed(n)
		j.need = nil
		c.failJob(j, Full)
		return true
	}
	c.unneed(n)
	j.need = nil
	if j.root != nil {
		c.targetStored(j)
	}
	for i := range j.ins {
		c.pullInput(j, i)
	}
	c.step(j)
	return true
}

// pullInput asks for an input, if it is known who has it.
func (c *Core) pullInput(j *reductionNode, i int) {
	if in := j.ins[i]; in.Rank != NoRank && !c.dead[in.Rank] {
		c.pull(j.bufs[i], in.Rank, Stream{Owner: j.key.Owner, Reduce: j.key.Reduce, Position: in.Position, Attempt: in.Attempt})
	}
}

// step folds what is there of all inputs.
func (c *Core) step(j *reductionNode) {
	if j.need != nil || j.out.folds != j || j.out.state == dropped {
		return
	}
	c.foldMore(j)
	for i := 0; i < len(j.out.serve.outs); {
		out := j.out.serve.outs[i]
		c.pump(out)
		if i < len(j.out.serve.outs) && j.out.serve.outs[i] == out {
			i++
		}
	}
	for _, reader := range slices.Clone(j.out.serve.jobs) { // a reader may end
		if reader != j {
			c.step(reader)
		}
	}
	if j.root != nil && j.done == j.size {
		c.targetMade(j.root)
	}
}

// foldMore folds what is there of all inputs and was not folded yet: all of it, or where inputs
// are lent a chunk, which is to be reported.
func (c *Core) foldMore(j *reductionNode) {
	limit := j.size
	for _, o := range j.own {
		limit = min(limit, o.ready())
	}
	for _, b := range j.bufs[:len(j.ins)] {
		limit = min(limit, b.mem.have)
		if b.recv.lent && b.recv.from == NoRank {
			return // all of it was folded, or its sender is dead
		}
	}
	if j.reads {
		c.writeBoth(j)
		begins := j.folding == 0
		if begins {
			j.part = c.take(j, limit)
		}
		c.share(j, limit) // before the fold, so that others do not wait for it
		if begins && j.part.n > 0 {
			c.fold(j, j.part)
			j.folding = c.next()
			c.folds[j.folding] = j
			c.command(Command{Op: OpReport, Transfer: j.folding})
		}
		return
	}
	for j.done < limit {
		n := min(c.cfg.Chunk, limit-j.done)
		c.fold(j, chunk{j.done, n})
		j.done += n
	}
}

// operands returns where the inputs and sources of a job have their bytes from a place on: those that are received
// where the result grows come first.
func (c *Core) operands(j *reductionNode, at int64) []Operand {
	from := make([]Operand, 0, 1+len(j.ins)+len(j.own))
	for _, b := range j.bufs[:len(j.ins)] {
		switch {
		case b.recv.lent:
			from = append(from, Operand{b.recv.from, b.recv.src + at})
		case b == j.out:
			from = slices.Insert(from, 0, Operand{c.cfg.Rank, b.mem.off + at})
		default:
			from = append(from, Operand{c.cfg.Rank, b.mem.off + at})
		}
	}
	for _, o := range j.own {
		from = append(from, Operand{c.cfg.Rank, o.mem.off + at})
	}
	return from
}

// fold combines a chunk of all inputs, in one command.
func (c *Core) fold(j *reductionNode, p chunk) {
	at, n, from := j.out.mem.off+p.at, p.n, c.operands(j, p.at)
	started := len(from) > 0
	switch {
	case len(from) > 1:
		cmd := Command{Op: OpFold, Peer: c.cfg.Rank, Off: at, Len: n, From: from, Fold: j.op}
		if also, out := c.also(j, p.at); out != nil {
			cmd.Also, cmd.Twice = also, true
		}
		c.command(cmd)
	case started && from[0] != (Operand{c.cfg.Rank, at}):
		c.command(Command{Op: OpCopy, Off: at, Len: n, Peer: from[0].Rank, Src: from[0].Off})
	}
	for _, data := range j.bytes {
		op := OpFoldData
		if !started {
			op = OpStore
		}
		started = true
		c.command(Command{Op: op, Off: at, Data: data[p.at : p.at+n], Len: n, Fold: j.op})
	}
}

// endJob forgets a job. Its memory goes back once nobody sends into or from it.
func (c *Core) endJob(j *reductionNode) {
	delete(c.streams, j.key.place())
	delete(c.folds, j.folding)
	for _, l := range c.lent {
		if l.job == j {
			l.job = nil
		}
	}
	if j.need != nil {
		c.unneed(j.need)
		j.need = nil
	}
	without := func(o *object) {
		o.serve.jobs = slices.DeleteFunc(o.serve.jobs, func(x *reductionNode) bool { return x == j })
	}
	for _, o := range j.own {
		without(o)
		c.freeIdle(o)
	}
	for _, b := range j.bufs {
		without(b)
		if b.id == "" {
			c.forget(b)
		}
	}
}

// failJob ends a job that cannot go on and tells the caller of the reduction.
func (c *Core) failJob(j *reductionNode, why Code) {
	if j.root != nil {
		c.rootFailed(j.root, why)
		return
	}
	c.endJob(j)
	c.send(j.key.Owner, JobFailed{Code: why, Stream: j.key}.message())
}

// jobMemory calls f with what jobs receive into.
func (c *Core) jobMemory(f func(*object)) {
	for _, j := range c.streams {
		for _, b := range j.bufs {
			if b.id == "" {
				f(b)
			}
		}
	}
}

// jobsAfter ends the jobs of a caller that died, and replaces the dead in reductions
// that are called here.
func (c *Core) jobsAfter(d Rank) {
	var ended []*reductionNode
	for _, j := range c.streams {
		if j.key.Owner == d {
			ended = append(ended, j)
		}
	}
	slices.SortFunc(ended, func(a, b *reductionNode) int {
		if a.key.Reduce != b.key.Reduce {
			return int(a.key.Reduce) - int(b.key.Reduce)
		}
		return int(a.key.Position) - int(b.key.Position)
	})
	for _, j := range ended {
		c.endJob(j)
	}
	c.early = slices.DeleteFunc(c.early, func(q earlyPull) bool { return q.from == d })
	c.serveStreams(func(q earlyPull) bool { return q.pull.Stream.Owner == d })
	for _, n := range sortedKeys(c.reduces) {
		if r := c.reduces[n]; r != nil {
			c.placesAfter(r, d)
		}
	}
}
