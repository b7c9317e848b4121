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
		in.note, in.per, in.nth = c.note(s.Slot), c.awaits[s.Slot], uint32(s.Count)
	case schedule.Put, schedule.Signal:
		in.board = c.m.Control.At(c.m.Ranks[s.Peer], 0)
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
	return c.b.Slot + gaspi.NotificationID(slot)
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
		in.to[run] = to.Segment.At(c.m.Ranks[dst.Rank], to.Offset)
		there, mapped := to.Segment.Mapped(c.m.Ranks[dst.Rank], to.Offset, uint64(dst.Len*c.size))
		in.mapped = in.mapped && mapped
		if c.x.start[run] == nil {
			c.x.start[run] = there.Bytes()
		}
		if in.src[run], err = from.Segment.Span(from.Offset, uint64(src.Len*c.size)); err != nil {
			return err
		}
	}
	in.joint = in.posts && (in.to[0].Segment == in.board.Segment || !in.mapped)
	in.coded = c.holdsForm(src)
	c.x.puts = c.x.puts || !in.mapped
	return nil
}

// address is where a region lies in runs that are even (0) or odd (1).
func (c *compiler) address(r schedule.Region, run int) (Base, error) {
	at := Base{}
	switch r.Buf {
	case schedule.Scratch:
		at = c.b.Scratch
	case schedule.Flip:
		at = c.b.Scratch
		at.Offset += c.scratch + uint64(run)*c.flip
	case schedule.In:
		at = c.b.In
	case schedule.Out:
		at = c.b.Out
	}
	if at.Segment == nil {
		return at, fmt.Errorf("%w: the algorithm needs %v where peers can reach it", gaspi.ErrNoSegment, r.Buf)
	}
	at.Offset += uint64(r.Off * c.size)
	return at, nil
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
	o := operand{off: r.Off * c.size, n: r.Len * c.size, flip: r.Buf == schedule.Flip}
	if int(r.Rank) == c.m.Me && r.Buf >= schedule.In {
		o.mem = int32(r.Buf - schedule.In) // the caller's buffers are numbered alike
		return o, nil
	}
	m := memberBuffer{r.Rank, r.Buf}
	if n, ok := c.numbers[m]; ok {
		o.mem = n
		return o, nil
	}
	o.mem = int32(len(c.x.operands))
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
		c.x.operands = append(c.x.operands, mem)
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
