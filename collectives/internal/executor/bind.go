package executor

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
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
		in.board, in.posts = c.m.Control.At(c.m.Ranks[s.Peer], 0), true
		in.note, _ = c.note(s.Slot)
		in.per = 1
	case schedule.Put, schedule.Signal:
		in.board = c.m.Control.At(c.m.Ranks[s.Peer], 0)
		if s.Slot != schedule.NoSlot {
			n := c.posted(s)
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
	in.src = make([]gaspi.Span, 1)
	if dst.Len == 0 {
		in.to = in.board
		return nil
	}
	to, turn, err := c.address(dst)
	if err != nil {
		return err
	}
	in.to, in.turn = to.Segment.At(c.m.Ranks[dst.Rank], to.Offset), turn
	n := uint64(dst.Len * c.size)
	there, mapped := to.Segment.Mapped(c.m.Ranks[dst.Rank], to.Offset, turn.at(turn.last)+n)
	in.mapped = mapped
	if c.x.start == nil && mapped {
		for run := range turn.last + 1 {
			first := turn.at(run)
			c.x.start = append(c.x.start, there.Bytes()[first:first+n])
		}
	}
	if err := c.sources(in, src); err != nil {
		return err
	}
	in.joint = in.posts && (in.to.Segment == in.board.Segment || !in.mapped)
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
	at, turn, err := c.address(s.Src[0])
	if err != nil || !c.isLine(at, uint64(s.Src[0].Len*c.size)) {
		return err
	}
	if _, mapped := c.m.Control.Mapped(c.m.Ranks[s.Peer], 0, 1); !mapped {
		return nil
	}
	in.line, in.to.Offset, in.turn = true, at.Offset, turn
	for run := range turn.last + 1 {
		value := c.m.Control.Bytes()[at.Offset+turn.at(run):][gaspi.LinePayload:gaspi.LineSize]
		clear(value)
		c.x.polled = append(c.x.polled, value)
	}
	return nil
}

// sources resolves the source of a put, in all copies.
func (c *compiler) sources(in *instruction, src schedule.Region) error {
	from, turn, err := c.address(src)
	if err != nil {
		return err
	}
	in.src = make([]gaspi.Span, turn.last+1)
	for run := range in.src {
		if in.src[run], err = from.Segment.Span(from.Offset+turn.at(uint32(run)), uint64(src.Len*c.size)); err != nil {
			return err
		}
	}
	return nil
}

// address is where a region lies in copy 0, and the turns in which runs use the copies.
func (c *compiler) address(r schedule.Region) (Base, turn, error) {
	at, t := Base{}, turn{}
	switch r.Buf {
	case schedule.Scratch:
		at = c.b.Scratch
	case schedule.Flip:
		at, t = c.b.Scratch, turn{1, c.flip}
		at.Offset += c.scratch
	case schedule.Eager:
		at, t = c.b.Scratch, turn{c.x.copies, c.eager}
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
	in.ask(s, c.m.Me)
	return nil
}

// operand is a region as a run finds it.
func (c *compiler) operand(r schedule.Region) (operand, error) {
	o := operand{off: r.Off * c.size, n: r.Len * c.size}
	if int(r.Rank) == c.m.Me && r.Buf >= schedule.In {
		o.mem = int32(r.Buf - schedule.In) // the caller's buffers are numbered alike
		return o, nil
	}
	m := memberBuffer{r.Rank, r.Buf}
	at, t, err := c.address(schedule.Region{Rank: m.rank, Buf: m.buf})
	if err != nil {
		return o, err
	}
	o.turn = t
	if n, ok := c.numbers[m]; ok {
		o.mem = n
		return o, nil
	}
	o.mem = int32(len(c.x.operands))
	c.numbers[m] = o.mem
	mem, err := c.reachable(m, at, t)
	if err != nil {
		return o, err
	}
	c.x.operands = append(c.x.operands, mem)
	return o, nil
}

// reachable is the memory of a member, from copy 0 to the last, as this one addresses it.
func (c *compiler) reachable(m memberBuffer, at Base, t turn) ([]byte, error) {
	size := t.at(t.last) + uint64(c.extent[m.rank][m.buf])
	if int(m.rank) == c.m.Me {
		span, err := at.Segment.Span(at.Offset, size)
		return span.Bytes(), err
	}
	rank := c.m.Ranks[m.rank]
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
