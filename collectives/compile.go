package collectives

import (
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A program is a schedule that is bound to memory and notifications, for runs to carry out.
type program struct {
	lanes     []lane
	operands  [][]byte     // by operand.mem; the first are the caller's buffers
	keep      []gaspi.Span // keeps peers' memory mapped
	coding    coding
	fold      reduce.Kernel // of the operation, unless it is the program's
	foldAll   reduce.Fold   // the same of many operands
	foldTwice reduce.Twice  // the same of two into two places
	block     int           // bytes of a fold into several places
	ahead     int           // the same of one that asks for what it needs
	puts      bool          // sources are borrowed until a wait for the queue
	next      [2][]byte     // where even and odd runs write first, if that is mapped
}

// A lane is the code of one lane of a schedule.
type lane []instruction

// An instruction is a step bound to memory and notifications. Little depends on the run: the
// values of notifications, the copy of flip memory that is in use, and where the caller's
// buffers lie.
type instruction struct {
	kind   schedule.Kind
	joint  bool // put: data and notification go in one operation
	mapped bool // put: it has arrived when it returns, and its source is free
	coded  bool // put: of a coded form, as much as is in use

	// Of posts and awaits: the notification, how often it is posted in a run, and
	// the how-manieth of them this is.
	note     gaspi.NotificationID
	per, nth uint32
	posts    bool
	row      int // of awaits: how many there are in a row from this one on

	board gaspi.Remote    // of posts: the control segment there
	to    [2]gaspi.Remote // of puts, for even and odd runs
	src   [2]gaspi.Span

	dst, from []operand // of folds
	first     int       // the destination that is written first
	aliased   bool      // and it is a source, not the first or second
	ahead     bool      // and it asks for what it reads: see foldAhead
	lost      []float64 // encode: what it lost of its source, if that is kept
}

// An operand is part of memory that a run knows under a number.
type operand struct {
	mem    int32
	flip   bool // mem is for even runs, the next number for odd ones
	off, n int  // bytes
}

// Numbers of the caller's buffers.
const (
	memIn = iota
	memOut
	memExtra
)

// compiler turns a schedule into code.
type compiler struct {
	p             *Plan
	size          int
	scratch, flip uint64                 // bytes, each
	numbers       map[memberBuffer]int32 // of what has a number
	extent        [][]int                // bytes that are used of buffers, by rank and buffer
	posts         map[[2]int32]int32     // peer and slot -> place in counts
	counts        []count                // of posts
	awaits        []uint32               // posts in a run, by slot
	forms         []schedule.Region      // that hold coded forms
}

// A count is how many posts a run makes of one sort, and how many of them have
// been compiled.
type count struct{ all, done uint32 }

// memberBuffer is a buffer of a member.
type memberBuffer struct {
	rank int32
	buf  schedule.Buffer
}

func (p *Plan) compile(s *schedule.Schedule, scratch, flip uint64) error {
	g := &p.prog
	c := &compiler{
		p: p, size: p.task.elem.size, scratch: scratch, flip: flip,
		numbers: make(map[memberBuffer]int32), extent: make([][]int, s.Size), awaits: make([]uint32, s.Slots), forms: s.Coded(),
	}
	c.survey(s)
	g.operands = make([][]byte, memExtra+len(p.task.extra))
	g.lanes = make([]lane, max(1, len(s.Lanes))) // where there is nothing to do, one lane that does it
	for i, steps := range s.Lanes {
		g.lanes[i] = make(lane, 0, len(steps))
		for j := range steps {
			for _, step := range c.cut(steps[j : j+1 : j+1]) {
				in := instruction{kind: step.Kind}
				if err := c.resolve(&in, &step); err != nil {
					return fmt.Errorf("step %q: %w", step.Text(s.Rank), err)
				}
				g.lanes[i] = g.lanes[i].with(&in)
			}
		}
	}
	for _, l := range g.lanes {
		l.countRows()
	}
	if !g.puts {
		for i, l := range g.lanes {
			g.lanes[i] = slices.DeleteFunc(l, func(in instruction) bool { return in.kind == schedule.Flush })
		}
	}
	return nil
}

// countRows tells each await how many follow each other from it on.
func (l lane) countRows() {
	row := 0
	for i := len(l) - 1; i >= 0; i-- {
		if row++; l[i].kind != schedule.Await {
			row = 0
		}
		l[i].row = row
	}
}

// with is the lane and another instruction. A signal can go with the put before it
// if it orders nothing else: a put into memory that is mapped has arrived when it
// returns, and elsewhere the put must be the only one that the signal is behind.
func (l lane) with(in *instruction) lane {
	if k := len(l) - 1; k >= 0 && in.kind == schedule.Signal {
		put := &l[k]
		near := put.mapped && put.to[0].Segment == put.board.Segment
		if put.kind == schedule.Put && !put.posts && put.board == in.board && (near || !put.mapped && !l[:k].open(in.board)) {
			put.joint, put.posts, put.note, put.per, put.nth = true, true, in.note, in.per, in.nth
			return l
		}
	}
	if in.joint && !in.mapped && l.open(in.board) {
		in.joint = false // its notification is for the puts before it too
	}
	return append(l, *in)
}

// open reports whether there is a put to a peer that no notification is behind.
func (l lane) open(board gaspi.Remote) bool {
	for i := len(l) - 1; i >= 0; i-- {
		switch in := &l[i]; {
		case in.board != board:
		case in.kind == schedule.Put && !in.posts:
			return true
		case in.kind == schedule.Signal, in.kind == schedule.Put && !in.joint:
			return false // which is behind all puts before it
		}
	}
	return false
}

// cut is a step as puts that are no longer than a single transfer may be. Coded
// forms are not cut: how much of them is sent is known when they are.
func (c *compiler) cut(one []schedule.Step) []schedule.Step {
	s := &one[0]
	most := int(max(1, c.p.t.proc.Config().TransferMax/uint64(c.size)))
	if s.Kind != schedule.Put || s.Src[0].Len <= most || slices.ContainsFunc(c.forms, s.Src[0].Overlaps) {
		return one
	}
	var all []schedule.Step
	for off := 0; off < s.Src[0].Len; off += most {
		n := min(most, s.Src[0].Len-off)
		all = append(all, schedule.Step{
			Kind: schedule.Put, Peer: s.Peer, Slot: schedule.NoSlot,
			Dst: []schedule.Region{s.Dst[0].Part(off, n)}, Src: []schedule.Region{s.Src[0].Part(off, n)},
		})
	}
	if s.Slot != schedule.NoSlot {
		all = append(all, schedule.Step{Kind: schedule.Signal, Peer: s.Peer, Slot: s.Slot})
	}
	return all
}

// survey counts posts and finds out how much of each buffer is used.
func (c *compiler) survey(s *schedule.Schedule) {
	posts := 0
	for _, steps := range s.Lanes {
		for i := range steps {
			step := &steps[i]
			c.see(step.Dst)
			c.see(step.Src)
			switch {
			case step.Kind == schedule.Await:
				c.awaits[step.Slot] = max(c.awaits[step.Slot], uint32(step.Count))
			case posting(step):
				posts++
			}
		}
	}
	c.posts, c.counts = make(map[[2]int32]int32, posts), make([]count, 0, posts)
	for _, steps := range s.Lanes {
		for i := range steps {
			if posting(&steps[i]) {
				c.posted(&steps[i]).all++
			}
		}
	}
}

// see notes how much of buffers is used.
func (c *compiler) see(all []schedule.Region) {
	for _, r := range all {
		of := c.extent[r.Rank]
		for len(of) <= int(r.Buf) {
			of = append(of, 0)
		}
		of[r.Buf] = max(of[r.Buf], (r.Off+r.Len)*c.size)
		c.extent[r.Rank] = of
	}
}

// posting reports whether a step posts.
func posting(s *schedule.Step) bool {
	return (s.Kind == schedule.Put || s.Kind == schedule.Signal) && s.Slot != schedule.NoSlot
}

// posted is the count of what a step posts.
func (c *compiler) posted(s *schedule.Step) *count {
	key := [2]int32{s.Peer, s.Slot}
	i, ok := c.posts[key]
	if !ok {
		i = int32(len(c.counts))
		c.posts[key] = i
		c.counts = append(c.counts, count{})
	}
	return &c.counts[i]
}

// resolve binds a step to memory and notifications.
func (c *compiler) resolve(in *instruction, s *schedule.Step) error {
	switch s.Kind {
	case schedule.Await:
		in.note, in.per, in.nth = c.note(s.Slot), c.awaits[s.Slot], uint32(s.Count)
	case schedule.Put, schedule.Signal:
		in.board = c.p.t.control.At(c.p.t.ranks[s.Peer], 0)
		if s.Slot != schedule.NoSlot {
			n := c.posted(s)
			n.done++
			in.posts, in.note, in.per, in.nth = true, c.note(s.Slot), n.all, n.done
		}
		if s.Kind == schedule.Put {
			return c.put(in, s)
		}
	case schedule.Combine:
		return c.fold(in, s)
	case schedule.Encode, schedule.Decode:
		return c.code(in, s)
	}
	return nil
}

func (c *compiler) note(slot int32) gaspi.NotificationID {
	return gaspi.NotificationID(c.p.claim.Slot() + uint32(slot))
}

// put resolves the two ends of a put.
func (c *compiler) put(in *instruction, s *schedule.Step) error {
	dst, src := s.Dst[0], s.Src[0]
	in.joint = in.posts
	if dst.Len == 0 {
		in.to[0], in.to[1] = in.board, in.board
		return nil
	}
	in.mapped = true
	for run := range in.to {
		to, err := c.address(dst, run)
		if err != nil {
			return err
		}
		from, err := c.address(src, run)
		if err != nil {
			return err
		}
		in.to[run] = to.seg.At(c.p.t.ranks[dst.Rank], to.offset)
		there, mapped := to.seg.Mapped(c.p.t.ranks[dst.Rank], to.offset, uint64(dst.Len*c.size))
		in.mapped = in.mapped && mapped
		if c.p.prog.next[run] == nil {
			c.p.prog.next[run] = there.Bytes()
		}
		if in.src[run], err = from.seg.Span(from.offset, uint64(src.Len*c.size)); err != nil {
			return err
		}
	}
	in.joint = in.posts && (in.to[0].Segment == in.board.Segment || !in.mapped)
	in.coded = c.holdsForm(src)
	c.p.prog.puts = c.p.prog.puts || !in.mapped
	return nil
}

// A memberAddress is a segment and a byte in it, at any member.
type memberAddress struct {
	seg    *gaspi.Segment
	offset uint64
}

// address is where a region lies in runs that are even (0) or odd (1).
func (c *compiler) address(r schedule.Region, run int) (memberAddress, error) {
	slab, at := c.p.claim.Scratch()
	off := uint64(r.Off * c.size)
	switch r.Buf {
	case schedule.Scratch:
		return memberAddress{slab, at + off}, nil
	case schedule.Flip:
		return memberAddress{slab, at + c.scratch + uint64(run)*c.flip + off}, nil
	case schedule.In, schedule.Out:
		where := c.p.key.in
		if r.Buf == schedule.Out {
			where = c.p.key.out
		}
		if where.alloc != 0 {
			return memberAddress{c.p.t.heap[where.alloc-1].seg, where.offset + off}, nil
		}
	}
	return memberAddress{}, fmt.Errorf("%w: the algorithm needs %v where peers can reach it", gaspi.ErrNoSegment, r.Buf)
}

// fold resolves the operands of a combine.
func (c *compiler) fold(in *instruction, s *schedule.Step) error {
	for _, r := range s.Dst {
		o, err := c.operand(r)
		if err != nil {
			return err
		}
		in.dst = append(in.dst, o)
	}
	for _, r := range s.Src {
		o, err := c.operand(r)
		if err != nil {
			return err
		}
		in.from = append(in.from, o)
	}
	in.aim()
	in.ask(s, c.p.t.me)
	return nil
}

// operand is a region as a run finds it.
func (c *compiler) operand(r schedule.Region) (operand, error) {
	o := operand{off: r.Off * c.size, n: r.Len * c.size, flip: r.Buf == schedule.Flip}
	if int(r.Rank) == c.p.t.me && r.Buf >= schedule.In {
		o.mem = int32(r.Buf - schedule.In) // the caller's buffers are numbered alike
		return o, nil
	}
	m := memberBuffer{r.Rank, r.Buf}
	if n, ok := c.numbers[m]; ok {
		o.mem = n
		return o, nil
	}
	o.mem = int32(len(c.p.prog.operands))
	c.numbers[m] = o.mem
	copies := 1
	if o.flip {
		copies = 2
	}
	for run := range copies {
		mem, err := c.reachable(m, run)
		if err != nil {
			return o, err
		}
		c.p.prog.operands = append(c.p.prog.operands, mem)
	}
	return o, nil
}

// reachable is the memory of a member as this one addresses it.
func (c *compiler) reachable(m memberBuffer, run int) ([]byte, error) {
	at, err := c.address(schedule.Region{Rank: m.rank, Buf: m.buf}, run)
	if err != nil {
		return nil, err
	}
	size := uint64(c.extent[m.rank][m.buf])
	if int(m.rank) == c.p.t.me {
		span, err := at.seg.Span(at.offset, size)
		return span.Bytes(), err
	}
	rank := c.p.t.ranks[m.rank]
	span, ok := at.seg.Mapped(rank, at.offset, size)
	if !ok {
		if _, _, err := c.p.t.proc.RemoteSize(rank, at.seg.ID()); err != nil {
			return nil, c.p.t.blame(err) // it is gone
		}
		return nil, fmt.Errorf("%w: the memory of rank %d cannot be addressed from here", gaspi.ErrNotSupported, rank)
	}
	c.p.prog.keep = append(c.p.prog.keep, span)
	return span.Bytes(), nil
}
