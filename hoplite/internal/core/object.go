package core

import "slices"

// A state says where a copy is on its way.
type state uint8

const (
	wanted   state = iota // asked for; nothing is known of it, or there was no room for it
	filling               // a Put copies it into the store
	making                // a Reduce makes it here
	fetching              // it comes from another rank, or did until that rank failed
	complete              // all bytes are here
	evicting              // complete, and the directory was asked whether it may go
	dropped               // not found any more; its memory stays until nobody uses it
)

// An object is a copy in this rank's store, or one that is on its way. Inputs of jobs are
// objects without an id.
type object struct {
	id              string
	state           state
	gen, token, sum uint64 // gen is 0 until the directory has given one
	size            int64
	born            uint64 // the question that brought it here; 0 of what was put or made here

	mem   extent
	use   localUse
	dir   question
	recv  reception
	serve service

	need  *need          // it waits for room
	folds *reductionNode // makes it here
}

// An extent is the memory of an object.
type extent struct {
	stored bool // off is the object's
	off    int64
	have   int64 // the watermark: [0, have) of the object is there
}

// A localUse is the part of an object that calls of this rank's program have.
type localUse struct {
	pinned, mine bool // mine: made here, not received
	readers      int  // references that the program holds
	followers    int  // those of Follow, which it gives back by itself, and soon
	lastUse      uint64
	gets         []CallID
	putCall      CallID // of filling; 0 if its result was given
	answered     bool   // the Put has its result
	puts         []*call
}

// held reports whether the program has a reference.
func (u *localUse) held() bool { return u.readers > 0 || u.followers > 0 }

// A question is one that the directory has not answered.
type question struct {
	asked bool   // the directory owes an answer
	ask   uint64 // the number of the last question
}

// A reception is the transfer that brings an object here.
type reception struct {
	slot     int // -1: none
	seq      uint64
	from     Rank // NoRank: nobody sends
	fromCopy uint64
	made     bool // a reduction makes what is received
	stopping bool // canceled, and the sender has not confirmed

	// Of a copy that the sender lends. borrower is the call that reads it there, nil if it is copied or folded.
	borrower *call
	lent     bool
	known    bool  // the sender has said where it is
	src      int64 // where
	told     int64 // how much of it is there
	after    int64 // from here on, what is told of is in this store already

	// Of an object that is copied from there.
	copying uint64 // the number of the copy that was not reported yet, 0 if there is none
	upTo    int64  // the watermark when it is
}

// A service is those that read an object besides the program.
type service struct {
	early []earlyPull      // requests of others that came before its generation
	outs  []*outgoing      // ranks that it is sent to, in order of their requests
	jobs  []*reductionNode // reductions that fold it here

	leases int // chunks of it that others fold, or that this rank folds for another
}

func (o *object) complete() bool { return o.state == complete || o.state == evicting }

// idle reports whether nothing reads or writes the object's memory.
func (c *Core) idle(o *object) bool {
	filled := o.use.putCall == 0 || o.mem.have == o.size || !o.mem.stored
	if o.serve.leases > 0 && !c.cfg.has(MutantFreeShared) {
		return false
	}
	return filled && !o.use.held() && len(o.serve.outs) == 0 && len(o.serve.jobs) == 0 && !o.recv.stopping
}

func (c *Core) newObject(id string, s state) *object {
	o := &object{id: id, state: s, recv: reception{slot: -1, from: NoRank}}
	if id != "" {
		c.objects[id] = o
	}
	return o
}

// forget takes an object out of sight. Its memory goes back once nobody uses it.
func (c *Core) forget(o *object) {
	if c.objects[o.id] == o {
		delete(c.objects, o.id)
	}
	o.state = dropped
	if o.need != nil {
		c.unneed(o.need)
		o.need = nil
	}
	c.stopReceiving(o)
	for _, out := range slices.Clone(o.serve.outs) {
		// A reduction that reads a complete object may read it to the end.
		if !out.stream || o.id != "" && o.ready() < o.size || o.id == "" {
			c.stopSending(out)
		}
	}
	c.passing[o] = true
	c.serveEarly(o)
	c.freeIdle(o)
}

// freeIdle frees an object that is out of sight and out of use.
func (c *Core) freeIdle(o *object) {
	if o.state != dropped || !c.idle(o) && !(c.cfg.has(MutantReuseEarly) && o.recv.stopping && o.use.readers == 0) {
		return
	}
	delete(c.passing, o)
	if o.recv.slot >= 0 {
		c.slots[o.recv.slot] = nil
		o.recv.slot = -1
	}
	if o.mem.stored {
		o.mem.stored = false
		c.arena.Release(o.mem.off, o.size)
	}
}

// drop ends an object because the directory said so, or because making it failed.
// Those that wait for it are told, or ask again if it is made anew.
func (c *Core) drop(o *object, why Code) {
	if r := c.reduceOf(o); r != nil && o.state == making {
		c.targetDropped(r, why)
	}
	gets := o.use.gets
	if why != Restart {
		o.use.gets = nil
	}
	c.forget(o)
	c.failReaders(o)
	c.sourceDropped(o)
	if why != Restart {
		for _, g := range gets {
			c.result(CallResult{Call: g, Code: why, ID: o.id})
		}
	}
	c.askAgain(o)
	c.freeIdle(o)
}

// failReaders ends the jobs that read an object which will not be complete.
func (c *Core) failReaders(o *object) {
	for o.ready() < o.size && len(o.serve.jobs) > 0 {
		c.failJob(o.serve.jobs[0], Gone)
	}
}

// askAgain starts the calls that wait for an object that is out of sight anew.
func (c *Core) askAgain(o *object) {
	gets, puts := o.use.gets, o.use.puts
	o.use.gets, o.use.puts = nil, nil
	for _, g := range gets {
		c.get(g, o.id)
	}
	for _, p := range puts {
		c.put(p)
	}
}

// progress follows the watermark of an object: what depends on it goes on.
func (c *Core) progress(o *object) {
	for i := 0; i < len(o.serve.outs); {
		out := o.serve.outs[i]
		c.pump(out)
		if i < len(o.serve.outs) && o.serve.outs[i] == out {
			i++
		}
	}
	for _, j := range slices.Clone(o.serve.jobs) {
		c.step(j)
	}
	if o.folds != nil && o.id != "" {
		c.step(o.folds) // it receives into its target
	}
}

// completed gives a complete object to all that waited for it.
func (c *Core) completed(o *object) {
	o.state = complete
	c.touch(o)
	gets, puts := o.use.gets, o.use.puts
	o.use.gets, o.use.puts = nil, nil
	for _, g := range gets {
		c.deliver(g, o)
	}
	for _, p := range puts {
		c.put(p)
	}
}

func (c *Core) touch(o *object) {
	c.clock++
	o.use.lastUse = c.clock
}

// deliver ends a Get with a reference to a complete object.
func (c *Core) deliver(g CallID, o *object) {
	c.touch(o)
	ref := c.next()
	o.use.readers++
	c.refs[ref] = o
	c.result(CallResult{Call: g, ID: o.id, Size: o.size, Off: o.mem.off, Held: true, At: c.cfg.Rank, Ref: ref})
}

// Release gives up the reference of a Result, or of Follow. A reference that is not held is ignored.
func (c *Core) Release(ref uint64) {
	if l, ok := c.loans[ref]; ok {
		delete(c.loans, ref)
		c.send(l.from, l.back.message())
		return
	}
	o := c.refs[ref]
	switch {
	case o != nil:
		delete(c.refs, ref)
		o.use.readers--
	case c.follows[ref] != nil:
		o = c.follows[ref]
		delete(c.follows, ref)
		o.use.followers--
	default:
		return
	}
	c.freeIdle(o)
	c.makeRoom()
}
