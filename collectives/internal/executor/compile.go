package executor

import (
	"fmt"
	"slices"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A compiler turns a schedule into code.
type compiler struct {
	m             *Member
	b             *Binding
	x             *Executable            // that it makes
	size          int                    // of an element
	scratch, flip uint64                 // bytes, each
	eager         uint64                 // the same
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
	}
	if s.Eager+s.EagerSlots > 0 {
		x.copies, x.batch, x.stamps = uint32(b.Depth.Copies-1), uint32(b.Depth.Batch-1), make([]gaspi.Value, b.Depth.Copies)
		x.spread()
	}
	c := &compiler{
		m: m, b: b, x: &x, size: size,
		numbers: make(map[memberBuffer]int32), extent: make([][]int, s.Size), awaits: make([]uint32, s.Slots), forms: s.Coded(),
	}
	c.scratch, c.flip, c.eager = room(s, size)
	c.survey(s)
	for i, steps := range s.Lanes {
		if err := c.lane(i, steps); err != nil {
			return Executable{}, err
		}
	}
	if !x.puts {
		for i, l := range x.lanes {
			x.lanes[i] = slices.DeleteFunc(l, func(in instruction) bool { return in.kind == schedule.Flush })
		}
	}
	return x, nil
}

// lane compiles the steps of lane i.
func (c *compiler) lane(i int, steps schedule.Lane) error {
	code := make(lane, 0, len(steps))
	for j := range steps {
		for _, step := range c.cut(steps[j : j+1 : j+1]) {
			in := instruction{kind: step.Kind}
			if err := c.resolve(&in, &step); err != nil {
				return fmt.Errorf("step %q: %w", step.Text(c.b.Schedule.Rank), err)
			}
			code = code.with(&in)
		}
	}
	code.countRows()
	c.x.lanes[i] = code
	return nil
}

// countRows tells each await how many follow each other from it on.
func (l lane) countRows() {
	row := 0
	for i := len(l) - 1; i >= 0; i-- {
		if row++; l[i].kind != schedule.Await {
			row = 0
		}
		if l[i].row = row; l[i].kind == schedule.AwaitCredit {
			l[i].row = 1 // not all runs wait for one
		}
	}
}

// with is the lane and another instruction. A signal can go with the put before it
// if it orders nothing else: a put into memory that is mapped has arrived when it
// returns, and elsewhere the put must be the only one that the signal is behind.
func (l lane) with(in *instruction) lane {
	if k := len(l) - 1; k >= 0 && in.kind == schedule.Signal {
		put := &l[k]
		near := put.mapped && put.to.Segment == put.board.Segment
		if put.kind == schedule.Put && !put.posts && put.board == in.board && (near || !put.mapped && !l[:k].open(in.board)) {
			put.joint, put.posts, put.eager, put.note, put.per, put.nth = true, true, in.eager, in.note, in.per, in.nth
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
	most := int(max(1, c.m.Proc.Config().TransferMax/uint64(c.size)))
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
			case step.Kind == schedule.Await && step.Slot < schedule.FirstEagerSlot:
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
