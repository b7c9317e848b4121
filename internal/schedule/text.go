package schedule

import (
	"fmt"
	"strings"
)

// String is the name of the buffer.
func (b Buffer) String() string {
	switch b {
	case Scratch:
		return "scratch"
	case Flip:
		return "flip"
	case Eager:
		return "eager"
	case In:
		return "in"
	case Out:
		return "out"
	}
	return fmt.Sprintf("extra%d", b-extra)
}

// String is the region with its rank: "2:out[4:8]", the end excluded.
func (r Region) String() string {
	return fmt.Sprintf("%d:%v[%d:%d]", r.Rank, r.Buf, r.Off, r.Off+r.Len)
}

// text is the region, with its rank if that is not me.
func (r Region) text(me int) string {
	s := r.String()
	if int(r.Rank) == me {
		_, s, _ = strings.Cut(s, ":")
	}
	return s
}

// String is the kind as schedules show it.
func (k Kind) String() string {
	switch k {
	case Put:
		return "put"
	case Signal:
		return "signal"
	case Await:
		return "await"
	case Combine:
		return "combine"
	case Encode:
		return "encode"
	case Decode:
		return "decode"
	case Flush:
		return "flush"
	case Credit:
		return "credit"
	case AwaitCredit:
		return "await credit"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Text is the step of rank me on one line.
func (s *Step) Text(me int) string {
	list := func(rs []Region, sep string) string {
		var all []string
		for _, r := range rs {
			all = append(all, r.text(me))
		}
		return strings.Join(all, sep)
	}
	post := ""
	if s.Slot != NoSlot {
		post = ", post " + slotText(s.Slot)
	}
	switch s.Kind {
	case Put:
		return fmt.Sprintf("put %s%s -> %s%s", s.apart(), list(s.Src, ""), list(s.Dst, ""), post)
	case Signal:
		return fmt.Sprintf("signal rank %d%s", s.Peer, post)
	case Await:
		if s.Apart {
			return fmt.Sprintf("await apart %s of rank %d: %s", list(s.Src, ""), s.Peer, slotText(s.Slot))
		}
		if s.Count == 1 {
			return "await " + slotText(s.Slot)
		}
		return fmt.Sprintf("await %s x%d", slotText(s.Slot), s.Count)
	case Flush:
		return "flush"
	case Credit:
		return fmt.Sprintf("credit rank %d%s", s.Peer, post)
	case AwaitCredit:
		return "await credit " + slotText(s.Slot)
	}
	verb := s.Kind.String()
	if s.Kind == Combine && len(s.Src) == 1 {
		verb = "copy"
	}
	return fmt.Sprintf("%s %s = %s", verb, list(s.Dst, ", "), list(s.Src, " + "))
}

// apart says of a put whether it is apart.
func (s *Step) apart() string {
	if s.Apart {
		return "apart "
	}
	return ""
}

// slotText is the number of a slot; eager slots are counted apart.
func slotText(slot int32) string {
	if slot >= FirstEagerSlot {
		return fmt.Sprintf("eager %d", slot-FirstEagerSlot)
	}
	return fmt.Sprint(slot)
}

// String is the whole schedule, a line per step: the form of golden files.
func (s *Schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d of %d: slots %d, scratch %d, flip %d", s.Rank, s.Size, s.Slots, s.Scratch, s.Flip)
	if s.EagerSlots+s.Eager > 0 {
		fmt.Fprintf(&b, ", eager slots %d, eager %d", s.EagerSlots, s.Eager)
	}
	b.WriteByte('\n')
	for i, lane := range s.Lanes {
		fmt.Fprintf(&b, "lane %d\n", i)
		for j := range lane {
			fmt.Fprintf(&b, "  %s\n", lane[j].Text(s.Rank))
		}
	}
	return b.String()
}
