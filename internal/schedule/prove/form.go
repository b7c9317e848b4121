package prove

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// accepts returns why the options do not fit the call.
func (k *check) accepts() error {
	c := k.call
	fan := c.InPlace && (c.Op == schedule.AllReduce || c.Op == schedule.Scan)
	if k.opts.Locals > 1 && !fan && c.Op != schedule.ReduceScatter {
		return fmt.Errorf("prove: %d local vectors are for reduce-scatter, and allreduce and scan in place, not %v", k.opts.Locals, c.Op)
	}
	if k.opts.Hosts != nil && len(k.opts.Hosts) != c.Size {
		return fmt.Errorf("prove: hosts of %d ranks, not %d", len(k.opts.Hosts), c.Size)
	}
	return nil
}

// form checks what shows without running.
func (k *check) form() error {
	for r, s := range k.plans {
		bad := &Error{Rule: Form, Run: -1, Rank: r, Lane: -1}
		switch {
		case s == nil:
			bad.What = "no schedule"
			return bad
		case s.Rank != r || s.Size != k.call.Size:
			bad.What = fmt.Sprintf("the schedule is of rank %d of %d, not of %d", s.Rank, s.Size, k.call.Size)
			return bad
		}
		if f := k.plans[0]; s.Slots != f.Slots || s.Scratch != f.Scratch || s.Flip != f.Flip || s.EagerSlots != f.EagerSlots || s.Eager != f.Eager {
			bad.What = fmt.Sprintf("asks for %s and rank 0 for %s; all must ask for the same", asked(s), asked(f))
			return bad
		}
	}
	for at, step := range k.steps() {
		if what := k.formOf(at.rank, step); what != "" {
			return k.formError(at, "%s", what)
		}
	}
	return k.apart()
}

// asked is what a schedule asks for.
func asked(s *schedule.Schedule) string {
	what := fmt.Sprintf("slots %d, scratch %d, flip %d", s.Slots, s.Scratch, s.Flip)
	if s.EagerSlots+s.Eager > 0 {
		what += fmt.Sprintf(", eager slots %d, eager %d", s.EagerSlots, s.Eager)
	}
	return what
}

// isSlot reports whether there is a slot of that number: of eager ones only where they may be.
func (k *check) isSlot(number int32, eager bool) bool {
	f := k.plans[0]
	if number >= schedule.FirstEagerSlot {
		return eager && int(number-schedule.FirstEagerSlot) < f.EagerSlots
	}
	return number >= 0 && int(number) < f.Slots
}

// formOf says what is wrong with a step of rank me, "" if nothing is.
func (k *check) formOf(me int, s *schedule.Step) string {
	dsts, srcs := 1, 1
	switch s.Kind {
	case schedule.Await:
		if dsts, srcs = 0, 0; s.Apart {
			srcs = 1
		}
	case schedule.Signal, schedule.Flush, schedule.Credit, schedule.AwaitCredit:
		dsts, srcs = 0, 0
	case schedule.Combine:
		dsts, srcs = max(1, len(s.Dst)), max(1, len(s.Src))
	case schedule.Put, schedule.Encode, schedule.Decode:
	default:
		return "there is no such kind of step"
	}
	if len(s.Dst) != dsts || len(s.Src) != srcs {
		return fmt.Sprintf("%d destinations and %d sources, not %d and %d", len(s.Dst), len(s.Src), dsts, srcs)
	}
	credit := s.Kind == schedule.Credit || s.Kind == schedule.AwaitCredit
	slots := s.Kind.Posts() && !(s.Kind == schedule.Put && s.Slot == schedule.NoSlot) || s.Kind == schedule.Await || credit
	switch {
	case s.Kind.Posts() && (s.Peer < 0 || int(s.Peer) >= k.call.Size):
		return fmt.Sprintf("there is no rank %d", s.Peer)
	case slots && !k.isSlot(s.Slot, !credit):
		return fmt.Sprintf("there is no slot %d, only %d and %d eager ones", s.Slot, k.plans[0].Slots, k.plans[0].EagerSlots)
	case s.Kind == schedule.Await && s.Count < 1:
		return "awaits less than one post"
	}
	for i := range s.Dst {
		if what := k.regionOf(me, s, &s.Dst[i], i, true); what != "" {
			return what
		}
	}
	for i := range s.Src {
		if what := k.regionOf(me, s, &s.Src[i], i, false); what != "" {
			return what
		}
	}
	if len(s.Dst) == 0 {
		return ""
	}
	return k.lengths(s)
}

// lengths says what is wrong with the lengths of a step's regions.
func (k *check) lengths(s *schedule.Step) string {
	dst, src := s.Dst[0], s.Src[0]
	switch s.Kind {
	case schedule.Encode:
		if need := schedule.CodedLen(src.Len, k.call.Line); dst.Len < need {
			return fmt.Sprintf("the coded form of %d elements needs %d", src.Len, need)
		}
		return ""
	case schedule.Decode:
		if need := schedule.CodedLen(dst.Len, k.call.Line); src.Len < need {
			return fmt.Sprintf("the coded form of %d elements has %d", dst.Len, need)
		}
		return ""
	}
	for _, r := range s.Dst {
		if r.Len != dst.Len {
			return fmt.Sprintf("one step on %d and %d elements", dst.Len, r.Len)
		}
	}
	for _, r := range s.Src {
		if r.Len != dst.Len {
			return fmt.Sprintf("one step on %d and %d elements", dst.Len, r.Len)
		}
	}
	return ""
}

// regionOf says what is wrong with a region of a step: the i-th destination or
// source.
func (k *check) regionOf(me int, s *schedule.Step, r *schedule.Region, i int, dst bool) string {
	if r.Rank < 0 || int(r.Rank) >= k.call.Size {
		return fmt.Sprintf("%v: there is no rank %d", r, r.Rank)
	}
	n, ok := k.length(int(r.Rank), r.Buf)
	if !ok {
		return fmt.Sprintf("%v: there is no such buffer", r)
	}
	if r.Off < 0 || r.Len < 0 || r.Off+r.Len > n {
		return fmt.Sprintf("%v leaves its buffer, which has %d elements", r, n)
	}
	home := me
	if s.Kind == schedule.Put && dst {
		home = int(s.Peer)
	}
	away := int(r.Rank) != me
	switch {
	case int(r.Rank) != home && s.Kind != schedule.Combine:
		return fmt.Sprintf("%v is not at rank %d", r, home)
	case away && s.Kind == schedule.Combine && !k.opts.Shares:
		return fmt.Sprintf("%v is at a peer, and no memory is shared", r)
	case away && s.Kind == schedule.Combine && k.opts.Hosts != nil && k.opts.Hosts[r.Rank] != k.opts.Hosts[me]:
		return fmt.Sprintf("%v is on host %d, and rank %d on host %d", r, k.opts.Hosts[r.Rank], me, k.opts.Hosts[me])
	case away && r.Buf >= schedule.In && !k.opts.Exposes:
		return fmt.Sprintf("%v belongs to a caller whose vectors peers cannot reach", r)
	}
	if !dst {
		return ""
	}
	for j, o := range s.Dst {
		if j < i && r.Overlaps(o) {
			return fmt.Sprintf("destinations %v and %v overlap", o, r)
		}
	}
	for _, o := range s.Src {
		if r.Overlaps(o) && (*r != o || s.Kind != schedule.Combine) {
			return fmt.Sprintf("%v and %v overlap", r, o)
		}
	}
	return ""
}
