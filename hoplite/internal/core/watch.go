package core

import "slices"

// A watching is a question to the directory that may be answered later, or often.
type watching struct {
	id     string
	once   bool
	near   bool // asked by a GetNear
	whole  bool // only a complete object counts
	room   int64
	call   *call      // who asked: a call,
	reduce *reduction // or a reduction about its source
	source int
}

// question is what the directory is asked, with ref.
func (w *watching) question(ref uint64) Message {
	return Watch{ID: w.id, Ref: ref, Once: w.once, Complete: w.whole, Room: w.room}.message()
}

func (c *Core) watch(w *watching) uint64 {
	ref := c.next()
	c.watched[ref] = w
	c.ask(w.id, w.question(ref))
	return ref
}

func (c *Core) unwatch(ref uint64) {
	if w := c.watched[ref]; w != nil {
		c.ask(w.id, Unwatch{ID: w.id, Ref: ref}.message())
		delete(c.watched, ref)
	}
}

// Wait ends as soon as one of the objects is complete somewhere. The result names it.
// The code is Lost if the first that can be told of is one whose copies are all gone.
func (c *Core) Wait(id CallID, names []string) {
	x := &call{id: id}
	c.calls[id] = x
	for _, name := range names {
		x.watches = append(x.watches, c.watch(&watching{id: name, once: true, whole: true, call: x}))
	}
}

// Locate ends as soon as an object exists, and says where its copies are: at most
// MaxRanks of them. If it is to follow, it says so again whenever that has changed,
// until Cancel. An object without copies is Lost.
func (c *Core) Locate(id CallID, name string, follow bool) {
	x := &call{id: id, name: name, follow: follow}
	c.calls[id] = x
	x.watches = append(x.watches, c.watch(&watching{id: name, once: !follow, call: x}))
}

// onLocated handles an answer to a watch.
func (c *Core) onLocated(m Located) {
	w := c.watched[m.Ref]
	if w == nil {
		return
	}
	if w.once {
		delete(c.watched, m.Ref)
	}
	if w.reduce != nil {
		c.sourceLocated(w.reduce, w.source, m)
		return
	}
	if w.near {
		c.borrow(w.call, m)
		return
	}
	r := CallResult{Call: w.call.id, ID: w.id, Size: m.Size, Ranks: slices.Clone(m.Ranks[:m.NumRanks]), Complete: int(m.NumComplete)}
	if m.Lost {
		r.Code = Lost
	}
	if w.call.follow {
		c.out.Results = append(c.out.Results, r)
		return
	}
	c.endCall(w.call)
	c.result(r)
}

// endCall takes back what a call has asked.
func (c *Core) endCall(x *call) {
	c.stopBorrowing(x)
	for _, ref := range x.watches {
		c.unwatch(ref)
	}
	x.watches = nil
}

// Delete removes an object everywhere. When it has ended, no Get that begins finds it; a
// Get that waits for its bytes ends with Deleted; a new Put makes a new object. To delete
// what does not exist is no error.
func (c *Core) Delete(id CallID, name string) {
	c.calls[id] = &call{id: id, deletes: true, name: name}
	c.ask(name, DelReq{ID: name, Ref: uint64(id)}.message())
}

// Cancel ends a call with Canceled. A Put that has room, and a Delete, are not undone:
// they go on, and only their results are not given. A Put whose command was given still
// needs its bytes. A call that has ended is ignored.
func (c *Core) Cancel(id CallID) {
	x := c.calls[id]
	if x == nil {
		return
	}
	c.endCall(x)
	if o := c.objects[x.name]; o != nil {
		c.cancelOn(x, o)
	}
	for _, n := range sortedKeys(c.reduces) {
		if r := c.reduces[n]; r.call == id {
			c.endReduce(r, CallResult{Code: Canceled})
			c.makeRoom()
			return
		}
	}
	c.result(CallResult{Call: id, Code: Canceled})
	c.makeRoom()
}

// cancelOn takes a call away from the object that it waits for.
func (c *Core) cancelOn(x *call, o *object) {
	o.use.gets = slices.DeleteFunc(o.use.gets, func(g CallID) bool { return g == x.id })
	o.use.puts = slices.DeleteFunc(o.use.puts, func(p *call) bool { return p == x })
	switch {
	case o.state == filling && o.use.putCall == x.id && o.need != nil:
		c.drop(o, Restart)
	case o.state == wanted && len(o.use.gets) == 0:
		if o.dir.asked {
			c.ask(o.id, Unwait{ID: o.id}.message())
		}
		c.drop(o, Restart)
	}
}
