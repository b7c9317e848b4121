package core

import (
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/shape"
)

// A reduction is a Reduce at its caller, who decides what comes where.
type reduction struct {
	number    uint64
	call      CallID
	target    string
	op        uint32
	count     int
	sources   []source
	size      int64 // -1 until a source is known
	plan      shape.Positions
	places    []place // by position
	local     []int   // sources that the caller folds itself
	obj       *object // the target
	root      *reductionNode
	used      []int // sources in what root makes: it may end before it hears that one is gone
	made      bool  // the target has all its bytes: what becomes of sources does not matter any more
	closed    bool  // enough sources were there, once
	attempt   uint32
	withdrawn []uint64 // tokens of targets that were given up, until the directory knows the next
}

// A source is what may go into a reduction.
type source struct {
	id         string
	state      sourceState
	ref        uint64 // of its watch
	gen, token uint64
	rank       Rank
	data       []byte // inline
}

type sourceState uint8

const (
	awaited sourceState = iota
	spare               // there, and not needed so far
	used
	gone // every copy was lost
)

// A place is a position that was given to a source.
type place struct {
	source  int // -1: vacant
	attempt uint32
	sent    bool
	ins     []In // as the rank knows them
}

// Reduce combines count of the sources, those which are complete first, into a new object
// that stays here until Delete. If all are needed, they are streamed while they are made. The result tells which were used and holds a reference. The
// operation must be associative and commutative; op is the runner's number of it.
// Sources of unequal size end it with Mismatch, a target that exists with Exists, too
// little room at a rank with Full, and sources that were lost, so that fewer than count can
// ever be there, with Lost. count is in 1..len(sources), and no id is given twice.
func (c *Core) Reduce(id CallID, target string, sources []string, count int, op uint32) {
	c.calls[id] = &call{id: id, name: target}
	r := &reduction{number: c.next(), call: id, target: target, op: op, count: count, size: -1}
	c.reduces[r.number] = r
	for _, name := range sources {
		r.sources = append(r.sources, source{id: name, rank: NoRank})
	}
	for i := range r.sources {
		c.await(r, i)
	}
	c.makeRoom()
}

// await asks for the place of a source. Few bytes may come with the answer: as many as
// cross a link while a message does, since a star is then as good as a chain.
func (c *Core) await(r *reduction, i int) {
	room := max(c.cfg.Inline, 0)
	if l := c.cfg.Links; l.Bandwidth > 0 {
		room = min(room, int64(l.Bandwidth*l.Latency))
	}
	s := &r.sources[i]
	s.state, s.rank, s.data = awaited, NoRank, nil
	// With a choice, what has begun and may never be ready is not taken for what is there.
	choice := r.count < len(r.sources)
	s.ref = c.watch(&watching{id: s.id, once: true, whole: choice, room: room, reduce: r, source: i})
}

// sourceLocated handles the answer.
func (c *Core) sourceLocated(r *reduction, i int, m Located) {
	if r.made {
		return
	}
	s := &r.sources[i]
	if m.Lost {
		if s.state != gone {
			// Somebody may put it again while others make the reduction possible.
			s.state = gone
			s.ref = c.watch(&watching{id: s.id, room: 0, reduce: r, source: i})
			c.possible(r, s.id)
		}
		return
	}
	if s.state == gone {
		c.unwatch(s.ref)
	}
	s.ref = 0
	if r.size >= 0 && r.size != m.Size {
		c.endReduce(r, CallResult{Code: Mismatch, ID: s.id})
		return
	}
	if r.size < 0 {
		r.size = m.Size
		if !c.cfg.Star {
			r.plan = shape.New(c.cfg.Shape, c.cfg.Links, r.count-c.localOf(r), r.size)
		}
	}
	s.gen, s.token = m.Gen, m.Token
	if m.Inline {
		s.rank, s.data = c.cfg.Rank, m.Data
	} else {
		live := slices.IndexFunc(m.Ranks[:m.NumRanks], func(x Rank) bool { return !c.dead[x] })
		if live < 0 {
			c.await(r, i) // the directory has not heard yet
			return
		}
		s.rank = m.Ranks[live]
	}
	s.state = spare
	c.admit(r)
}

// localOf counts the sources that are in this store already.
func (c *Core) localOf(r *reduction) int {
	n := 0
	for _, s := range r.sources {
		if o := c.objects[s.id]; o != nil && o.state != wanted {
			n++
		}
	}
	return min(n, r.count-1)
}

// possible ends a reduction that can never have enough sources.
func (c *Core) possible(r *reduction, lost string) {
	n := 0
	for _, s := range r.sources {
		if s.state != gone {
			n++
		}
	}
	if n < r.count && !c.cfg.has(MutantNeverLost) {
		c.endReduce(r, CallResult{Code: Lost, ID: lost})
	}
}

// admit uses sources that are there while more are needed: vacant positions first.
func (c *Core) admit(r *reduction) {
	for {
		i := slices.IndexFunc(r.sources, func(s source) bool { return s.state == spare })
		if i < 0 || r.usedCount() == r.count {
			break
		}
		s := &r.sources[i]
		s.state = used
		if s.rank == c.cfg.Rank {
			if s.data == nil && r.size > 0 && c.stored(s.id, s.gen, s.token) == nil {
				c.await(r, i) // it is gone since
				continue
			}
			r.local = append(r.local, i)
			continue
		}
		pos := slices.IndexFunc(r.places, func(p place) bool { return p.source < 0 })
		if pos < 0 {
			pos = len(r.places)
			r.places = append(r.places, place{})
		} else if c.cfg.has(MutantCountTwice) {
			if other := slices.IndexFunc(r.places, func(p place) bool { return p.source >= 0 }); other >= 0 {
				i = r.places[other].source
			}
		}
		r.places[pos].source = i
		r.places[pos].sent = false
	}
	c.arrange(r)
}

// usedCount is how many sources are in the result as things stand.
func (r *reduction) usedCount() int {
	n := len(r.local)
	for _, p := range r.places {
		if p.source >= 0 {
			n++
		}
	}
	return n
}

// children are the positions that send to each position, and last those that send to
// the caller. Once enough sources have been there, positions beyond them are skipped; and
// so are vacant ones while enough others are there. Those that sent to a skipped one send to the
// next above it or, where that has all inputs that a JobReq has room for, to the caller.
func (r *reduction) children() [][]int {
	full := r.usedCount() == r.count
	r.closed = r.closed || full
	n := len(r.places)
	skip := func(q int) bool { return r.closed && q >= n || full && q < n && r.places[q].source < 0 }
	lists := make([][]int, n+1)
	for q := range max(n, r.plan.Len()) {
		if skip(q) {
			continue
		}
		up := r.plan.Up(q)
		for up != math.MaxInt && skip(up) {
			up = r.plan.Up(up)
		}
		if up < n && len(lists[up]) < maxIns {
			lists[up] = append(lists[up], q)
		} else if q < n && (up < n || up == math.MaxInt) {
			lists[n] = append(lists[n], q)
		}
	}
	return lists
}

// inputs are the children of a position, as far as they are known.
func (r *reduction) inputs(children []int) []In {
	ins := make([]In, len(children))
	for i, q := range children {
		ins[i] = In{Rank: NoRank, Position: uint32(q)}
		if q < len(r.places) && r.places[q].source >= 0 {
			ins[i].Rank, ins[i].Attempt = r.sources[r.places[q].source].rank, r.places[q].attempt
		}
	}
	return ins
}

// arrange tells every rank what has changed for it. A position begins anew if an input
// that it knew is another now; so do all above it, and none below. While a source is
// awaited there is no target: what was made of it would not fit to the rest, and who
// receives it, or waits for it here, would wait for what may never come.
func (c *Core) arrange(r *reduction) {
	children := r.children()
	visited := make([]bool, len(r.places))
	var visit func(pos int)
	visit = func(pos int) {
		if visited[pos] {
			return
		}
		visited[pos] = true
		for _, q := range children[pos] {
			if q < len(r.places) {
				visit(q)
			}
		}
		c.inform(r, pos, r.inputs(children[pos]))
	}
	for pos := range r.places {
		visit(pos)
	}
	if r.usedCount() == r.count {
		ins := r.inputs(children[len(r.places)])
		if r.root == nil || !slices.Equal(r.root.ins, ins) {
			c.startRoot(r, ins)
		}
	} else {
		c.giveUp(r)
	}
}

// inform brings the rank of a position up to date.
func (c *Core) inform(r *reduction, pos int, ins []In) {
	p := &r.places[pos]
	if p.source < 0 {
		return
	}
	s := &r.sources[p.source]
	key := Stream{Owner: c.cfg.Rank, Reduce: r.number, Position: uint32(pos), Attempt: p.attempt}
	anew := !p.sent || len(ins) != len(p.ins)
	for i := range ins {
		if !anew && (ins[i].Position != p.ins[i].Position || p.ins[i].Rank != NoRank && ins[i].Rank != NoRank && p.ins[i] != ins[i]) {
			anew = true
		}
	}
	if anew {
		p.attempt++
		key.Attempt = p.attempt
		p.sent, p.ins = true, ins
		m := JobReq{ID: s.id, Gen: s.gen, Token: s.token, Size: r.size, Op: r.op, Stream: key, NumIns: uint8(len(ins))}
		copy(m.Ins[:], ins)
		c.send(s.rank, m.message())
		return
	}
	for i := range ins {
		if p.ins[i].Rank == NoRank && ins[i].Rank != NoRank {
			p.ins[i] = ins[i]
			c.send(s.rank, Input{Stream: key, Index: uint32(i), In: ins[i]}.message())
		}
	}
}

// onJobFailed replaces a rank that cannot do its job.
func (c *Core) onJobFailed(m JobFailed) {
	r := c.reduces[m.Stream.Reduce]
	if r == nil || r.made {
		return
	}
	pos := int(m.Stream.Position)
	if pos >= len(r.places) || r.places[pos].source < 0 || r.places[pos].attempt != m.Stream.Attempt {
		return
	}
	i := r.places[pos].source
	if m.Code == Full {
		c.endReduce(r, CallResult{Code: Full, ID: r.sources[i].id})
		return
	}
	r.places[pos].source = -1
	c.await(r, i)
	c.admit(r)
}

// placesAfter replaces a rank that died. Its sources may have other copies.
func (c *Core) placesAfter(r *reduction, d Rank) {
	if r.made {
		return
	}
	hit := false
	for i := range r.sources {
		s := &r.sources[i]
		if s.rank != d || s.state != used && s.state != spare {
			continue
		}
		hit = true
		for p := range r.places {
			if r.places[p].source == i {
				r.places[p].source = -1
			}
		}
		c.await(r, i)
	}
	if hit {
		c.admit(r)
	}
}
