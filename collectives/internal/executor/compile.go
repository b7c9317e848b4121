package executor

import (
	"fmt"
	"slices"
	"weak"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A compiler turns a schedule into code.
type compiler struct {
	*draft
	m             *Member
	b             *Binding
	x             *Executable       // that it makes
	size          int               // of an element
	most          int               // elements in a single transfer
	scratch, flip uint64            // bytes, each
	uses          []bufferUse       // of the operands of works, but for the caller's buffers
	first         []int32           // of uses, by member, and 1 more; 0 if there is none
	open          []bool            // members to whom the lane has a put that no notification is behind
	before        bool              // whether the peer of the last instruction was in open before it
	awaits        []uint32          // posts in a run, by slot
	forms         []schedule.Region // that hold coded forms
}

// A draft is what compiling needs no longer than it lasts: the counts of what is posted, and the code, which is longer at
// first than in the end. Its memory is that of the plan before, unless that has been collected as garbage.
type draft struct {
	posts        postCounts
	instructions lane
	parts        []operand
}

// A bufferUse is the number of a buffer of a member, 0 before it has one, and how many bytes of it
// are used.
type bufferUse struct {
	buf    schedule.Buffer
	next   int32 // of the same member, as in compiler.first
	number int32
	bytes  int
}

// Compile binds a schedule to memory and notifications of a member. No member begins a run before all have compiled
// theirs. Its error says which memory cannot be reached, and is the end of a member if that is why.
func Compile(m *Member, b *Binding) (Executable, error) {
	s, size := b.Schedule, b.Element.Size
	x := Executable{
		lanes:    make([]lane, max(1, len(s.Lanes))), // where there is nothing to do, one lane that does it
		folds:    b.Folds,
		block:    max(1, foldBlock/size) * size,
		ahead:    max(1, aheadBlock/size) * size,
		operands: make([][]byte, memExtra+b.Extra),
		buffers:  memExtra + b.Extra,
		slot:     uint32(b.Slot),
		plain:    uint32(s.Slots),
		board:    m.Control.ID(),
	}
	if s.Eager+s.EagerSlots > 0 {
		x.copies, x.batch, x.stamps = uint32(b.Depth.Copies-1), uint32(b.Depth.Batch-1), make([]gaspi.Value, b.Depth.Copies)
		x.spread()
	}
	c := &compiler{
		m: m, b: b, x: &x, size: size, most: int(max(1, m.Proc.Config().TransferMax/uint64(size))),
		awaits: make([]uint32, s.Slots), forms: s.Coded(), open: make([]bool, s.Size),
	}
	var flip, eagerly uint64
	c.scratch, flip, eagerly = room(s, size)
	c.flip = flip
	x.turns = [rotations]turn{flipped: {1, flip}, eager: {x.copies, eagerly}}
	if c.draft = m.draft.Value(); c.draft == nil {
		c.draft = new(draft)
	}
	m.draft = weak.Make(c.draft)
	c.survey(s)
	for i, steps := range s.Lanes {
		if err := c.lane(i, steps); err != nil {
			return Executable{}, err
		}
	}
	c.parts, x.parts = x.parts, slices.Clone(x.parts)
	if !x.puts {
		for i, l := range x.lanes {
			x.lanes[i] = slices.DeleteFunc(l, func(in instruction) bool { return in.kind == schedule.Flush })
		}
	}
	return x, nil
}

// lane compiles the steps of lane i.
func (c *compiler) lane(i int, steps schedule.Lane) error {
	code := c.instructions[:0]
	clear(c.open)
	for j := range steps {
		for _, step := range c.cut(steps[j : j+1 : j+1]) {
			in := instruction{kind: step.Kind}
			if err := c.resolve(&in, &step); err != nil {
				return fmt.Errorf("step %q: %w", step.Text(c.b.Schedule.Rank), err)
			}
			code = c.with(code, &in, step.Peer)
		}
	}
	c.instructions = code
	if len(c.b.Schedule.Lanes) == 1 && steps.CopiesForPuts() && len(code) == len(steps) { // no put is cut
		code = c.unstage(code)
	}
	c.x.lanes[i] = slices.Clone(code)
	c.x.lanes[i].countRows()
	return nil
}

// unstage removes the copy at the beginning of the only lane of a schedule that copies for puts, which then take
// their data from where the copy takes it: the program's buffer, if that lies in a segment or all of them are to lines.
func (c *compiler) unstage(l lane) lane {
	own := c.x.parts[l[0].at+1]
	lines := true
	for i := range l[1:] {
		if in := &l[1+i]; in.kind == schedule.Put {
			lines = lines && in.line && in.mapped
		}
	}
	span, shown := c.shown(own)
	if !lines && !shown {
		return l
	}
	c.x.inlined = own
	for i := range l {
		switch in := &l[i]; {
		case in.kind != schedule.Put:
		case lines:
			in.line, in.inline = false, true
		default:
			c.x.sources[in.at], in.from = span, fixed
		}
	}
	return l[1:]
}

// shown is an operand in a buffer of the caller as a put takes it, if the buffer lies in a segment.
func (c *compiler) shown(o operand) (gaspi.Span, bool) {
	var at Base
	switch o.mem {
	case memIn:
		at = c.b.In
	case memOut:
		at = c.b.Out
	}
	if at.Segment == nil {
		return gaspi.Span{}, false
	}
	span, err := at.Segment.Span(at.Offset+uint64(o.off), uint64(o.n))
	return span, err == nil
}

// countRows tells each await how many follow each other from it on.
func (l lane) countRows() {
	row := int32(0)
	for i := len(l) - 1; i >= 0; i-- {
		if row++; l[i].kind != schedule.Await {
			row = 0
		}
		if l[i].row = row; l[i].kind == schedule.AwaitCredit {
			l[i].row = 1 // not all runs wait for one
		}
	}
}

// with is a lane and another instruction, which is with a member. A signal can go with the put before
// it if it orders nothing else: a put into memory that is mapped has arrived when it returns, and
// elsewhere the put must be the only one that the signal is behind.
func (c *compiler) with(l lane, in *instruction, member int32) lane {
	if in.kind != schedule.Put && in.kind != schedule.Signal {
		if c.joins(l, in) {
			return l
		}
		return append(l, *in)
	}
	if k := len(l) - 1; k >= 0 && in.kind == schedule.Signal {
		put := &l[k]
		near := put.mapped && put.segment == c.x.board
		if put.kind == schedule.Put && !put.posts && put.peer == in.peer && (near || !put.mapped && !c.before) {
			put.joint, put.posts, put.eager, put.note, put.per, put.nth = true, true, in.eager, in.note, in.per, in.nth
			c.open[member] = c.before
			return l
		}
	}
	c.before = c.open[member]
	if in.joint && !in.mapped && c.before {
		in.joint = false // its notification is for the puts before it too
	}
	if !in.joint { // a signal is behind all puts before it, and so is the notification of a put that goes by itself
		c.open[member] = !in.posts
	}
	return append(l, *in)
}

// cut is a step as puts that are no longer than a single transfer may be. Coded
// forms are not cut: how much of them is sent is known when they are.
func (c *compiler) cut(one []schedule.Step) []schedule.Step {
	s := &one[0]
	if s.Kind != schedule.Put || s.Src[0].Len <= c.most || slices.ContainsFunc(c.forms, s.Src[0].Overlaps) {
		return one
	}
	var all []schedule.Step
	for off := 0; off < s.Src[0].Len; off += c.most {
		n := min(c.most, s.Src[0].Len-off)
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

// survey counts posts and operands, and finds out how much of buffers is used.
func (c *compiler) survey(s *schedule.Schedule) {
	var posts, puts, works, theirs int
	for _, steps := range s.Lanes {
		for i := range steps {
			switch step := &steps[i]; {
			case step.Kind == schedule.Await && step.Slot < schedule.FirstEagerSlot:
				c.awaits[step.Slot] = max(c.awaits[step.Slot], uint32(step.Count))
			case step.Kind == schedule.Put || step.Kind == schedule.Signal:
				puts += len(step.Src)
				if step.Slot != schedule.NoSlot {
					posts++
				}
			case len(step.Dst) > 0:
				if step.Kind != schedule.Combine || len(step.Dst) > 1 || len(step.Src) > 2 {
					works++
				}
				theirs += c.theirs(step.Dst) + c.theirs(step.Src)
			}
		}
	}
	c.x.sources, c.x.works, c.x.parts = make([]gaspi.Span, 0, puts), make([]work, 0, works), c.parts[:0]
	theirs = min(theirs, s.Size) // most members show one buffer
	c.uses, c.first = make([]bufferUse, 0, theirs+ownBuffers), make([]int32, s.Size)
	c.x.operands, c.x.keep = slices.Grow(c.x.operands, theirs+ownBuffers), make([]gaspi.Span, 0, theirs)
	c.posts.prepare(posts)
	for _, steps := range s.Lanes {
		for i := range steps {
			switch step := &steps[i]; {
			case step.Kind == schedule.Put || step.Kind == schedule.Signal:
				if step.Slot != schedule.NoSlot {
					c.posts.of(step).all++
				}
			case len(step.Dst) > 0:
				c.see(step.Dst)
				c.see(step.Src)
			}
		}
	}
}

// callers reports whether a region is in a buffer of the caller, which has a number.
func (c *compiler) callers(r schedule.Region) bool {
	return int(r.Rank) == c.m.Me && r.Buf >= schedule.In
}

// theirs is how many regions lie in memory of other members.
func (c *compiler) theirs(all []schedule.Region) int {
	n := 0
	for _, r := range all {
		if int(r.Rank) != c.m.Me {
			n++
		}
	}
	return n
}

// see notes how much of buffers is used.
func (c *compiler) see(all []schedule.Region) {
	for _, r := range all {
		if c.callers(r) {
			continue
		}
		u := c.use(r.Rank, r.Buf)
		u.bytes = max(u.bytes, (r.Off+r.Len)*c.size)
	}
}

// ownBuffers is how many buffers of a plan's own memory there are.
const ownBuffers = int(schedule.In)

// use returns the use of a buffer of a member, until the next call.
func (c *compiler) use(member int32, buf schedule.Buffer) *bufferUse {
	at := &c.first[member]
	for *at > 0 {
		u := &c.uses[*at-1]
		if u.buf == buf {
			return u
		}
		at = &u.next
	}
	*at = int32(len(c.uses) + 1)
	c.uses = append(c.uses, bufferUse{buf: buf})
	return &c.uses[len(c.uses)-1]
}
