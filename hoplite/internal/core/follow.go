package core

import "slices"

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
