package core

import (
	"cmp"
	"maps"
	"slices"
)

// A call is a call of the program that is not only a name in a list.
type call struct {
	id      CallID
	deletes bool
	name    string // the id of its object
	size    int64
	sum     uint64
	watches []uint64
	follow  bool
	// borrowed is what a GetNear reads in the store of another rank, nil if it has not begun or has its result.
	borrowed *object
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Put makes an object of size bytes. Once there is room, a command asks for its bytes.
// The result is OK when they are in the store and the directory knows; the copy stays
// until Delete. An object of the same id is no error if its size is the same, and its sum
// too if both were given: the content must then be the same. Else the code is Exists. Full
// means that only a Delete could make room.
func (c *Core) Put(id CallID, name string, size int64, sum uint64) {
	x := &call{id: id, name: name, size: size, sum: sum}
	c.calls[id] = x
	c.put(x)
	c.makeRoom()
}

func (c *Core) put(x *call) {
	o := c.objects[x.name]
	switch {
	case o == nil:
		o = c.newObject(x.name, filling)
	case o.state == wanted:
		// The program makes the object that it asked for. An answer that is under way finds a
		// Put, and has no effect.
		if o.dir.asked {
			c.ask(o.id, Unwait{ID: o.id}.message())
		}
		if o.need != nil {
			c.unneed(o.need)
			o.need = nil
		}
		c.unreserve(o)
		o.state, o.dir.asked = filling, false
	case o.state == complete:
		if o.size == x.size && (o.sum == 0 || x.sum == 0 || o.sum == x.sum) {
			o.use.pinned = true
			c.result(CallResult{Call: x.id})
		} else {
			c.result(CallResult{Call: x.id, Code: Exists, ID: x.name})
		}
		return
	default:
		o.use.puts = append(o.use.puts, x)
		return
	}
	o.size, o.sum, o.token = x.size, x.sum, c.token()
	o.use.putCall, o.use.answered, o.use.pinned, o.use.mine = x.id, false, true, true
	if x.size == 0 {
		c.sendPut(o)
		return
	}
	o.need = &need{obj: o}
	c.wantRoom(o.need)
}

// fill begins a Put that has room. The directory hears of it at once, so that others can
// fetch what is there, unless the object is so small that it goes along whole.
func (c *Core) fill(o *object) {
	c.fills[o.use.putCall] = o
	c.command(Command{Op: OpFill, Call: o.use.putCall, Off: o.mem.off, Len: o.size})
	if o.size > c.cfg.Inline {
		c.sendPut(o)
	}
}

// sendPut tells the directory of an object that is made here.
func (c *Core) sendPut(o *object) {
	o.dir.asked = true
	m := PutReq{ID: o.id, Token: o.token, Sum: o.sum, Size: o.size, Complete: o.ready() == o.size, Making: o.state == making}
	s := Send{To: c.directoryOf(o.id), Msg: m.message()}
	if o.size > 0 && o.size <= c.cfg.Inline && o.ready() == o.size {
		s.Attach, s.Off, s.Len = true, o.mem.off, o.size
	}
	c.post(s)
}

// Filled reports that the first upTo bytes of a Put are in the store.
func (c *Core) Filled(id CallID, upTo int64) {
	o := c.fills[id]
	if o == nil || upTo <= o.mem.have {
		return
	}
	o.mem.have = min(upTo, o.size)
	if o.mem.have == o.size {
		delete(c.fills, id)
		switch {
		case o.state == dropped:
			if !o.use.answered {
				c.result(CallResult{Call: id}) // it was put, and deleted since
			}
			c.freeIdle(o)
		case o.size <= c.cfg.Inline:
			c.sendPut(o)
		case o.gen != 0:
			c.ask(o.id, Done{ID: o.id, Gen: o.gen}.message())
			c.filled(o)
		}
	}
	if o.state != dropped {
		c.progress(o)
	}
	c.makeRoom()
}

func (c *Core) filled(o *object) {
	if o.use.putCall != 0 {
		c.result(CallResult{Call: o.use.putCall, ID: o.id, Size: o.size})
		o.use.putCall = 0
	}
	c.completed(o)
}

// onPutAck handles the directory's answer to a Put, or to the target of a Reduce.
func (c *Core) onPutAck(m PutAck) {
	o := c.objects[m.ID]
	if o == nil || o.token != m.Token || o.state != filling && o.state != making || o.gen != 0 {
		return
	}
	if o.state == making {
		c.targetKnown(o, m)
		return
	}
	o.dir.asked = false
	if m.Code != OK {
		// The program's bytes may still be on their way into the memory: freeIdle waits.
		c.result(CallResult{Call: o.use.putCall, Code: m.Code, ID: o.id})
		o.use.answered = true
		c.drop(o, Restart)
		return
	}
	o.gen = m.Gen
	c.serveEarly(o)
	if o.mem.have == o.size {
		if o.size > c.cfg.Inline {
			c.ask(o.id, Done{ID: o.id, Gen: o.gen}.message())
		}
		c.filled(o)
	}
}

// Get brings an object here. Its result holds a reference to the bytes in the store, or
// has them in Data if they are few. It waits until the object exists.
func (c *Core) Get(id CallID, name string) {
	c.calls[id] = &call{id: id, name: name}
	c.get(id, name)
	c.makeRoom()
}

func (c *Core) get(id CallID, name string) {
	o := c.objects[name]
	switch {
	case o == nil:
		o = c.newObject(name, wanted)
		o.use.gets = append(o.use.gets, id)
		o.dir.asked, o.dir.ask = true, c.next()
		c.ask(o.id, o.question())
	case o.state == complete:
		c.deliver(id, o)
	default:
		o.use.gets = append(o.use.gets, id)
	}
}

// question asks where an object is. If room is kept for it, the directory must say so when
// there is no such object any more.
func (o *object) question() Message {
	return GetReq{ID: o.id, Ref: o.dir.ask, Keep: o.mem.stored}.message()
}

// onAssign handles the answer to a Get: where to fetch it.
func (c *Core) onAssign(m Assign) {
	o := c.objects[m.ID]
	decline := Forget{ID: m.ID, Gen: m.Gen, Ref: m.Ref}
	if o == nil || !o.dir.asked || o.dir.ask != m.Ref || o.state != wanted && o.state != fetching {
		c.ask(m.ID, decline.message()) // the answer to a question of which nobody wants to know any more
		return
	}
	o.dir.asked, o.recv.made = false, m.Making
	if o.state == wanted {
		if o.mem.stored && o.size != m.Size {
			c.unreserve(o)
		}
		o.size = m.Size
		if c.reserveReceived(o) != nothing {
			c.ask(m.ID, decline.message())
			c.serveEarly(o)
			o.need = &need{obj: o}
			c.wantRoom(o.need)
			return
		}
		o.state, o.gen, o.token, o.sum, o.born = fetching, m.Gen, m.Token, m.Sum, m.Ref
		c.serveEarly(o)
	}
	if c.dead[m.Rank] {
		o.recv.from, o.recv.fromCopy = m.Rank, m.Copy
		c.sourceGone(o, true)
		return
	}
	o.recv.fromCopy = m.Copy
	c.pull(o, m.Rank, Stream{})
}

// A PartialObject is an object of which some bytes are here: [Off, Off+have) of the store, where
// have only grows.
type PartialObject struct {
	Ref       uint64
	Off, Size int64
}

// Follow lets a Get that has not ended read what there is already of its object. The
// reference is one as that of a Result: the memory is not used for anything else until
// Release. It is to be released when the Get has ended, or at once when Progress reports
// false: the Get may then wait for the very memory. It reports false while the object has no
// memory here, or is complete.
func (c *Core) Follow(id CallID) (PartialObject, bool) {
	x := c.calls[id]
	if x == nil {
		return PartialObject{}, false
	}
	o := c.objects[x.name]
	if o == nil || !o.mem.stored || !slices.Contains(o.use.gets, id) || o.state != fetching && o.state != filling && o.state != making {
		return PartialObject{}, false
	}
	p := PartialObject{Ref: c.next(), Off: o.mem.off, Size: o.size}
	o.use.followers++
	c.follows[p.Ref] = o
	return p, true
}

// Progress is how many bytes of what Follow gave are there. It reports false once the
// object is out of sight: it was deleted, lost, or is made anew, and what was read of it
// means nothing. While it reports true, a Result of the Get that was followed is this
// object.
func (c *Core) Progress(ref uint64) (have int64, ok bool) {
	o := c.follows[ref]
	if o == nil || o.state == dropped {
		return 0, false
	}
	return o.ready(), true
}
