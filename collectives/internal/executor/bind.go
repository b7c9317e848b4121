package executor

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/reduce"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// This file binds single steps: their notifications, and where their regions lie.

// resolve binds a step to memory and notifications.
func (c *compiler) resolve(in *instruction, s *schedule.Step) error {
	switch s.Kind {
	case schedule.Await:
		if in.note, in.eager = c.note(s.Slot); !in.eager {
			in.per, in.nth = c.awaits[s.Slot], uint32(s.Count)
		}
		if s.Apart {
			return c.poll(in, s)
		}
	case schedule.AwaitCredit: // that of the last run of the batch that used the copies before
		in.note, _ = c.note(s.Slot)
		in.per, in.nth = 1, c.x.batch-c.x.copies-1
	case schedule.Credit: // its value is that of the run
		in.peer, in.posts = int32(c.m.Ranks[s.Peer]), true
		in.note, _ = c.note(s.Slot)
		in.per = 1
	case schedule.Put, schedule.Signal:
		in.peer = int32(c.m.Ranks[s.Peer])
		if s.Slot != schedule.NoSlot {
			n := c.posts.of(s)
			n.done++
			in.posts, in.per, in.nth = true, n.all, n.done
			in.note, in.eager = c.note(s.Slot)
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

// note returns the notification of a slot, of an eager one that of copy 0.
func (c *compiler) note(slot int32) (id gaspi.NotificationID, eager bool) {
	at := uint32(slot)
	if eager = slot >= schedule.FirstEagerSlot; eager {
		at = c.x.plain + (at-schedule.FirstEagerSlot)*(c.x.copies+1)
	}
	return c.b.Slot + gaspi.NotificationID(at), eager
}

// slotOf returns the slot of an instruction's notification.
func (x *Executable) slotOf(in *instruction) int32 {
	at := uint32(in.note) - x.slot
	if in.eager {
		at = schedule.FirstEagerSlot + (at-x.plain)/(x.copies+1)
	}
	return int32(at)
}

// put resolves the two ends of a put.
func (c *compiler) put(in *instruction, s *schedule.Step) error {
	dst, src := s.Dst[0], s.Src[0]
	in.joint = in.posts
	in.at = int32(len(c.x.sources))
	if dst.Len == 0 {
		in.segment = c.x.board
		c.x.sources = append(c.x.sources, gaspi.Span{})
		return nil
	}
	to, rotation, err := c.address(dst)
	if err != nil {
		return err
	}
	in.segment, in.offset, in.to = to.Segment.ID(), to.Offset, rotation
	n, turn := uint64(dst.Len*c.size), &c.x.turns[rotation]
	there, mapped := to.Segment.Mapped(gaspi.Rank(in.peer), to.Offset, turn.at(turn.last)+n)
	in.mapped = mapped
	if mapped {
		c.x.expect(there.Bytes(), *turn)
	}
	if err := c.sources(in, src); err != nil {
		return err
	}
	in.joint = in.posts && (in.segment == c.x.board || !in.mapped)
	in.line = s.Apart && c.isLine(to, n)
	in.coded = c.holdsForm(src)
	c.x.puts = c.x.puts || !in.mapped
	return nil
}

// isLine reports whether n bytes at a place can be data of a line: next to the notifications of the member, and of
// elements that fill cache lines, at whose multiples a schedule puts what is apart.
func (c *compiler) isLine(at Base, n uint64) bool {
	return n > 0 && n <= gaspi.LinePayload && at.Segment == c.m.Control && at.Offset%gaspi.LineSize == 0 &&
		gaspi.LineSize%c.size == 0
}

// poll makes an await look into the lines that its data arrives in, if they are written by a peer that can.
func (c *compiler) poll(in *instruction, s *schedule.Step) error {
	at, rotation, err := c.address(s.Src[0])
	if err != nil || !c.isLine(at, uint64(s.Src[0].Len*c.size)) {
		return err
	}
	if _, mapped := c.m.Control.Mapped(c.m.Ranks[s.Peer], 0, 1); !mapped {
		return nil
	}
	in.line, in.offset, in.to = true, at.Offset, rotation
	c.x.control = c.m.Control.Bytes()
	c.x.forgetLines(in)
	return nil
}

// sources resolves the source of a put, in all copies.
func (c *compiler) sources(in *instruction, src schedule.Region) error {
	from, rotation, err := c.address(src)
	if err != nil {
		return err
	}
	in.from = rotation
	turn := &c.x.turns[rotation]
	for run := range turn.last + 1 {
		span, err := from.Segment.Span(from.Offset+turn.at(run), uint64(src.Len*c.size))
		if err != nil {
			return err
		}
		c.x.sources = append(c.x.sources, span)
	}
	return nil
}

// address is where a region lies in copy 0, and of which sort it is.
func (c *compiler) address(r schedule.Region) (Base, rotation, error) {
	at, t := Base{}, fixed
	switch r.Buf {
	case schedule.Scratch:
		at = c.b.Scratch
	case schedule.Flip:
		at, t = c.b.Scratch, flipped
		at.Offset += c.scratch
	case schedule.Eager:
		at, t = c.b.Scratch, eager
		at.Offset += c.scratch + 2*c.flip
	case schedule.In:
		at = c.b.In
	case schedule.Out:
		at = c.b.Out
	}
	if at.Segment == nil {
		return at, t, fmt.Errorf("%w: the algorithm needs %v where peers can reach it", gaspi.ErrNoSegment, r.Buf)
	}
	at.Offset += uint64(r.Off * c.size)
	return at, t, nil
}

// work resolves the operands of a combine, an encode or a decode.
func (c *compiler) work(in *instruction, s *schedule.Step) (*work, error) {
	x := c.x
	w := work{at: int32(len(x.parts)), dsts: int32(len(s.Dst)), srcs: int32(len(s.Src)), lost: -1}
	for _, side := range [...][]schedule.Region{s.Dst, s.Src} {
		for _, r := range side {
			o, err := c.operand(r)
			if err != nil {
				return nil, err
			}
			x.parts = append(x.parts, o)
		}
	}
	in.at = int32(len(x.works))
	x.works = append(x.works, w)
	return &x.works[in.at], nil
}

// fold resolves a combine.
func (c *compiler) fold(in *instruction, s *schedule.Step) error {
	w, err := c.work(in, s)
	if err != nil {
		return err
	}
	x := c.x
	dst, src := x.sides(w)
	w.aim(dst, src)
	if w.ask(s, c.m.Me, dst[0].n); w.ahead || len(dst) > 1 || len(src) > 2 {
		if len(dst) == 1 && dst[0].n < reduce.SmallestFold {
			in.arity = few
		}
		return nil
	}
	in.at, in.arity = w.at, single
	if len(src) == 2 {
		in.arity = pair
	}
	x.works = x.works[:len(x.works)-1] // it says no more
	return nil
}

// operand is a region as a run finds it.
func (c *compiler) operand(r schedule.Region) (operand, error) {
	o := operand{off: r.Off * c.size, n: r.Len * c.size}
	if c.callers(r) {
		o.mem = int32(r.Buf - schedule.In) // the caller's buffers are numbered alike
		return o, nil
	}
	at, t, err := c.address(schedule.Region{Rank: r.Rank, Buf: r.Buf})
	if err != nil {
		return o, err
	}
	o.turn = t
	u := c.use(r.Rank, r.Buf)
	if u.number > 0 {
		o.mem = u.number
		return o, nil
	}
	u.number = int32(len(c.x.operands)) // more than 0: the first are the caller's
	o.mem = u.number
	mem, err := c.reachable(r.Rank, at, t, u.bytes)
	if err != nil {
		return o, err
	}
	c.x.operands = append(c.x.operands, mem)
	return o, nil
}

// reachable is so many bytes of the memory of a member, from copy 0 to the last, as this one addresses it.
func (c *compiler) reachable(member int32, at Base, of rotation, bytes int) ([]byte, error) {
	t := &c.x.turns[of]
	size := t.at(t.last) + uint64(bytes)
	if int(member) == c.m.Me {
		span, err := at.Segment.Span(at.Offset, size)
		return span.Bytes(), err
	}
	rank := c.m.Ranks[member]
	span, ok := at.Segment.Mapped(rank, at.Offset, size)
	if !ok {
		if _, _, err := c.m.Proc.RemoteSize(rank, at.Segment.ID()); err != nil {
			return nil, c.m.Blame(err) // it is gone
		}
		return nil, fmt.Errorf("%w: the memory of rank %d cannot be addressed from here", gaspi.ErrNotSupported, rank)
	}
	c.x.keep = append(c.x.keep, span)
	return span.Bytes(), nil
}
