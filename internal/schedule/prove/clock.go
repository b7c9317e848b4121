package prove

import "slices"

// A clock says of every lane how many of its events are known. Lanes and posts
// share clocks: one that is held more than once is not changed.
type clock struct {
	seen    []int32
	holders int
}

// clockPool makes clocks of one length and takes them back.
type clockPool struct {
	length int
	all    []*clock
	free   []*clock
}

// begin takes all clocks back, and makes those of that length from now on.
func (p *clockPool) begin(length int) {
	p.length, p.free = length, append(p.free[:0], p.all...)
}

// zero is a clock that knows nothing.
func (p *clockPool) zero() *clock {
	c := p.get()
	clear(c.seen)
	return c
}

func (p *clockPool) get() *clock {
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		if cap(c.seen) < p.length {
			c.seen = make([]int32, p.length)
		}
		c.seen, c.holders = c.seen[:p.length], 1
		return c
	}
	c := &clock{make([]int32, p.length), 1}
	p.all = append(p.all, c)
	return c
}

// hold is c for one more holder.
func (c *clock) hold() *clock {
	c.holders++
	return c
}

// drop gives up one hold.
func (p *clockPool) drop(c *clock) {
	if c.holders--; c.holders == 0 {
		p.free = append(p.free, c)
	}
}

// own is c for a holder who wants to change it.
func (p *clockPool) own(c *clock) *clock {
	if c.holders == 1 {
		return c
	}
	d := p.get()
	copy(d.seen, c.seen)
	p.drop(c)
	return d
}

// join adds what d knows to what c knows; the caller owns c.
func (c *clock) join(d *clock) {
	if c == d {
		return
	}
	seen := c.seen
	for i, n := range d.seen[:len(seen)] {
		seen[i] = max(seen[i], n)
	}
}

// A mark is an event of a lane: its how-manieth.
type mark struct{ lane, at int32 }

// A lane is a lane of a rank as it is walked. Its events go on from run to run.
type lane struct {
	rank, lane int32
	id         int32 // in check.lanes
	at         int   // the next step
	now        int32 // events so far
	base       *clock
	flushes    []int32 // when its puts' sources were free
	fences     map[int32]*fence
}

// A fence is what a lane posts to one peer by signals.
type fence struct{ signals []int32 } // in check.sent

// An access is something that happened: a step, or, with lane -1, what a caller
// did to its vectors between two runs.
type access struct {
	run, rank, lane, step int32
	mark                  mark
	sent                  int32 // of a put or signal, in check.sent; otherwise -1
}

// sent is a put or a signal that has been issued.
type sent struct {
	event  int32
	clock  *clock // what was known when it was issued; nil once nobody asks any more
	flush  int    // flushes of its lane before it
	signal bool
	after  int    // signals of its lane to that peer before it
	fence  *fence // of its lane and peer
	heard  mark   // the first await of its post; at 0 if there is none
	again  []mark // further awaits of it
}

// knows reports whether a lane knows an event of a lane.
func (l *lane) knows(m mark) bool {
	if m.lane == l.id {
		return m.at <= l.now
	}
	return l.base.seen[m.lane] >= m.at
}

// arrived reports whether a lane knows that what was sent has arrived.
func (k *check) arrived(l *lane, s *sent) bool {
	if l.knowsAwait(s) {
		return true
	}
	for _, id := range s.fence.signals[s.after:] {
		if l.knowsAwait(&k.sent[id]) {
			return true
		}
	}
	return false
}

// knowsAwait reports whether a lane knows an await of a post.
func (l *lane) knowsAwait(s *sent) bool {
	if s.heard.at == 0 {
		return false
	}
	return l.knows(s.heard) || slices.ContainsFunc(s.again, l.knows)
}

// over reports whether a lane knows that an access has ended: the read or the
// write of an event.
func (k *check) over(l *lane, id int32, write bool) bool {
	e := &k.events[id]
	if e.sent < 0 {
		return l.knows(e.mark)
	}
	s := &k.sent[e.sent]
	if !write {
		if f := k.lanes[e.mark.lane].flushes; s.flush < len(f) && l.knows(mark{e.mark.lane, f[s.flush]}) {
			return true
		}
	}
	return k.arrived(l, s)
}
