package price

import (
	"fmt"
	"math"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// never is when something happens that nobody has foreseen yet.
var never = math.Inf(1)

// A sim is one simulation under way. Everything in it is indexed by what Program
// numbers; nothing is allocated per step.
type sim struct {
	p          *Program
	m          *Machine
	element    int
	runs       int
	depth      schedule.Depth // of eager memory
	span       int            // so many runs may have messages under way at a time
	freeFold   bool
	inSegments bool // see Load
	near       bool // scratch is in the cache when it is combined

	events events
	ranks  []rank
	lanes  []laneTime
	nodes  []node
	hosts  []host
	slots  []slot
	posts  []post    // of all slots, those of one slot one after the other
	left   []float64 // when a message began to leave, by instance of an op
	landed []float64 // when it and earlier puts of the lane to the peer are there; pending if not known

	messages []messageUnderWay // on their way to ports
	spare    []int32           // of messages, free
}

// pending is not a time.
const pending = -1

// A rank is the state of one.
type rank struct {
	clock    float64 // what it has lived through
	busy     float64 // seconds of CPU
	free     float64 // when the sources of all its puts are free
	wake     float64 // when the event that is meant for it is; never if there is none
	slow     float64
	inbox    float64 // when it has taken in all that has arrived
	debt     float64 // seconds of CPU that arrivals take, of which some came while it was about something else
	slept    float64 // when it began to wait
	node     int32
	host     int32
	current  int32 // lane, from the rank's first
	open     int32 // lanes that have not ended
	run      int32
	depth    chain
	core     int32 // or -1
	state    rankState
	sent     int // bytes of coded forms
	received int
	credits  int // given
}

// A rankState is what a rank is about.
type rankState uint8

const (
	idle   rankState = iota // waiting for a post or a flush, or not yet there
	queued                  // waiting for a core
	running
	done
)

// A laneTime is how far a lane is.
type laneTime struct {
	next  int32   // op
	depth chain   // the longest so far
	free  float64 // when the sources of its puts are free
}

// A slot is the posts at one rank that one writer makes.
type slot struct {
	first  int32 // its posts among all
	room   int32 // posts in all runs
	posted int32
	want   int32 // the post that a lane of an idle rank waits for, from 1; 0 if none
}

// A post is when something is there, and the longest chain of messages to it.
type post struct {
	at    float64
	depth chain
}

// A chain is the length of the longest chain of messages, each sent after the one
// before it had been seen, and of the longest if only data count.
type chain struct{ messages, data int32 }

// or is the longer of two chains.
func (c chain) or(d chain) chain { return chain{max(c.messages, d.messages), max(c.data, d.data)} }

// and is the chain and a message that brings data or does not.
func (c chain) and(data bool) chain {
	c.messages++
	if data {
		c.data++
	}
	return c
}

// A messageUnderWay is on its way from one node to another.
type messageUnderWay struct {
	bytes   float64
	seconds float64 // that it occupies a port
	id      int32   // instance of an op
	after   int32   // that of a put that it must not overtake, or -1
	depth   chain   // that ends with it
}

// simulate runs the program to its end.
func (p *Program) simulate(m *Machine, l Load, freeFold bool) (*sim, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := l.Check(p.size); err != nil {
		return nil, err
	}
	s := &sim{p: p, m: m, element: max(l.Element, 1), runs: max(l.Runs, 1), freeFold: freeFold, inSegments: l.InSegments}
	if err := s.place(l.Hosts); err != nil {
		return nil, err
	}
	s.span = 2
	if p.slots > p.plain {
		s.span = min(s.runs, s.depth.Copies) + 1
	}
	s.start(l)
	for len(s.events.all) > 0 {
		e := s.events.pop()
		if e.id < 0 {
			s.receive(e.at, ^e.id)
		} else if r := &s.ranks[e.id]; r.wake == e.at {
			r.wake = never
			s.resume(e.id, e.at)
		}
	}
	return s, s.stuck()
}

// start puts every rank before its first step.
func (s *sim) start(l Load) {
	p := s.p
	s.lanes = make([]laneTime, len(p.lanes))
	s.slots = make([]slot, len(p.stride))
	total := int32(0)
	for i, n := range p.stride {
		s.slots[i] = slot{first: total, room: n * int32(s.runs)}
		total += s.slots[i].room
	}
	s.posts = make([]post, total)
	instances := s.span * len(p.ops)
	times := make([]float64, 2*instances)
	s.left, s.landed = times[:instances], times[instances:]
	s.events.all = make([]event, 0, 2*p.size)
	for i := range s.ranks {
		r := &s.ranks[i]
		r.slow, r.core = at(l.Slowdown, i, 1), -1
		r.clock = at(l.Arrival, i, 0)
		s.rewind(int32(i))
		s.wake(int32(i), r.clock)
	}
}

// rewind puts the lanes of a rank before their first steps and charges the call.
func (s *sim) rewind(id int32) {
	r, of := &s.ranks[id], s.p.ranks[id]
	r.current, r.open = 0, 0
	for i := of.first; i < of.end; i++ {
		s.lanes[i].next, s.lanes[i].depth = s.p.lanes[i].first, r.depth
		if s.inSegments && s.p.spared[i] {
			s.lanes[i].next++
		}
		if s.p.lanes[i].first < s.p.lanes[i].end {
			r.open++
		}
	}
}

// wake foresees that a rank goes on.
func (s *sim) wake(id int32, at float64) {
	s.ranks[id].wake = at
	s.events.push(at, id)
}

// resume lets a rank whose time has come go on, if it has a core.
func (s *sim) resume(id int32, now float64) {
	r := &s.ranks[id]
	if r.state == idle {
		s.settle(r, now)
		ready, ok := s.takeCore(id, now)
		if !ok {
			r.state = queued
			return
		}
		r.state = running
		if ready > now {
			s.wake(id, ready)
			return
		}
	}
	s.advance(id, now)
}

// advance takes steps of a rank until it must wait, ends, or others come first.
func (s *sim) advance(id int32, now float64) {
	r := &s.ranks[id]
	if r.run == 0 {
		r.run = 1
		now = s.work(r, now, s.m.Call)
	}
	for {
		if s.events.due(now) {
			s.wake(id, now)
			return
		}
		if r.open > 0 {
			at := s.pick(id, now)
			if at > now {
				s.sleep(id, now, at)
				return
			}
			now = s.step(id, now)
			continue
		}
		if r.free > now { // the sources of puts are to be free at the end of a run
			s.sleep(id, now, r.free)
			return
		}
		if int(r.run) == s.runs {
			r.clock, r.state = now, done
			s.giveCore(id, now)
			return
		}
		r.run++
		s.rewind(id)
		now = s.work(r, now, s.m.Call)
	}
}

// sleep lets a rank wait, at most until a time.
func (s *sim) sleep(id int32, now, until float64) {
	s.ranks[id].state, s.ranks[id].slept = idle, now
	if until < never {
		s.wake(id, until)
	}
	s.giveCore(id, now)
}

// settle takes in, while a rank waits, what has come before, if it has a core of its own.
func (s *sim) settle(r *rank, now float64) {
	if r.debt == 0 || s.hosts[r.host].cores != nil {
		return
	}
	done := min(r.debt, now-r.slept)
	r.debt -= done
	r.busy += done
}

// pick makes a lane that can go on the current one, the present one if possible,
// and returns now; or when the first lane can, if that is known.
func (s *sim) pick(id int32, now float64) float64 {
	r, of := &s.ranks[id], s.p.ranks[id]
	count, soonest := of.end-of.first, never
	for i := range count {
		k := r.current + i
		if k >= count {
			k -= count
		}
		ln := &s.lanes[of.first+k]
		if ln.next == s.p.lanes[of.first+k].end {
			continue
		}
		at := s.ready(r, ln)
		if at <= now {
			r.current = k
			return now
		}
		soonest = min(soonest, at)
	}
	return soonest
}

// ready is when a lane can take its next step: never if that is not known, in
// which case the rank is woken when it is.
func (s *sim) ready(r *rank, ln *laneTime) float64 {
	o := &s.p.ops[ln.next]
	switch o.kind {
	case schedule.Await, schedule.AwaitCredit:
		sl, n := &s.slots[o.slot], s.wanted(r, o)
		if n > sl.posted {
			sl.want = n
			return never
		}
		if n > 0 {
			return s.posts[sl.first+n-1].at
		}
	case schedule.Flush:
		return ln.free
	case schedule.Credit:
		if s.depth.Credits(int(r.run) - 1) {
			return ln.free
		}
	}
	return 0
}

// wanted is which of a slot's posts over all runs an await awaits, from 1; 0 if it need not wait.
func (s *sim) wanted(r *rank, o *op) int32 {
	if o.kind == schedule.AwaitCredit {
		n, _ := s.depth.Awaits(int(r.run) - 1)
		return int32(n)
	}
	return (r.run-1)*s.p.stride[o.slot] + o.count
}

// post makes a post of a slot known, which is there at a time that may be yet to
// come. Posts of one slot are in order.
func (s *sim) post(slot int32, at float64, depth chain) {
	sl := &s.slots[slot]
	if sl.posted == sl.room {
		return // nobody awaits it
	}
	s.posts[sl.first+sl.posted] = post{at, depth}
	sl.posted++
	if sl.want != sl.posted {
		return
	}
	sl.want = 0
	id := slot / int32(s.p.slots)
	if r := &s.ranks[id]; r.state == idle && at < r.wake {
		s.wake(id, at)
	}
}

// stuck names the first rank that waits for what nobody sends, if there is one.
func (s *sim) stuck() error {
	for id := range s.ranks {
		if s.ranks[id].state == done {
			continue
		}
		of := s.p.ranks[id]
		for i := of.first; i < of.end; i++ {
			next, in := s.lanes[i].next, s.p.lanes[i]
			if next == in.end {
				continue
			}
			o := &s.p.ops[next]
			return fmt.Errorf("price: rank %d lane %d step %d awaits post %d of slot %d in run %d, which nobody makes",
				id, i-of.first, next-in.first, o.count, int(o.slot)-id*s.p.slots, s.ranks[id].run)
		}
	}
	return nil
}
