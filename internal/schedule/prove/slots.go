package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A slot is a notification of a rank as it is walked.
type slot struct {
	posts   []int32 // of this run, in check.sent
	last    int32   // the last post of all runs, in check.sent, or -1
	awaited int32   // of this run
	waiting []int32 // lanes that have come to an await of it

	credits []int32 // of all runs, in check.sent

	room [2]int32 // for one of each, since there are rarely more
}

// slotsEach is how many slots a rank has: each eager slot is one for each copy.
func (k *check) slotsEach() int {
	return k.plans[0].Slots + k.plans[0].EagerSlots*k.opts.Depth.Copies
}

// slotOf is a slot of a rank, in the present run.
func (k *check) slotOf(rank, number int32) *slot {
	i := int(number)
	if number >= schedule.FirstEagerSlot {
		i = k.plans[0].Slots + int(number-schedule.FirstEagerSlot)*k.opts.Depth.Copies + k.opts.Depth.Copy(k.run)
	}
	at := &k.slots[int(rank)*k.slotsEach()+i]
	if *at == nil {
		s := k.slotPool.next()
		if s.posts == nil {
			s.posts, s.waiting = s.room[:0:1], s.room[1:1]
		}
		s.posts, s.last, s.awaited, s.waiting, s.credits = s.posts[:0], -1, 0, s.waiting[:0], s.credits[:0]
		*at = s
	}
	return *at
}

// post counts a post of a step and lets those go on who wait for it.
func (k *check) post(l *lane, e *access, peer, number, id int32) error {
	s := k.slotOf(peer, number)
	if s.last >= 0 {
		if err := k.inOrder(l, e, &k.sent[s.last], peer, number, k.sent[id].signal); err != nil {
			return err
		}
		if before := &k.events[k.sent[s.last].event]; len(s.posts) > 0 && before.lane > e.lane {
			return k.errorAt(e, Slots, "comes after the post of %s; the posts of a run are numbered in the order of lanes", k.where(before))
		}
	}
	s.last = id
	if credit := k.step(e).Kind == schedule.Credit; credit || len(s.credits) > 0 {
		if s.credits = append(s.credits, id); !credit || len(s.posts) > 0 {
			return k.errorAt(e, Slots, "slot %d of rank %d is for credits and for other posts", number, peer)
		}
		return nil
	}
	s.posts = append(s.posts, id)
	k.ready = append(k.ready, s.waiting...)
	s.waiting = s.waiting[:0]
	return nil
}

// inOrder checks that a post to a slot arrives after the last one.
func (k *check) inOrder(l *lane, e *access, last *sent, peer, number int32, signal bool) error {
	before := &k.events[last.event]
	if before.rank != e.rank {
		return k.errorAt(e, Slots, "slot %d of rank %d is also posted by %s; a slot has one writer", number, peer, k.where(before))
	}
	if signal && before.mark.lane == l.id || k.arrived(l, last) {
		return nil
	}
	return k.errorAt(e, Slots, "slot %d of rank %d may overtake the post of %s, which is not known to have arrived; it must be, or this a signal of the same lane",
		number, peer, k.where(before))
}

// await goes on if its slot has been posted often enough.
func (k *check) await(l *lane, e *access, step *schedule.Step) bool {
	s := k.slotOf(l.rank, step.Slot)
	if len(s.posts) < int(step.Count) {
		s.waiting = append(s.waiting, l.id)
		return false
	}
	s.awaited = max(s.awaited, step.Count)
	k.hear(l, e, s.posts[step.Count-1])
	return true
}

// awaitCredit goes on if a reader has given back the copy that the run uses.
func (k *check) awaitCredit(l *lane, e *access, step *schedule.Step) error {
	n, waits := k.opts.Depth.Awaits(k.run)
	if !waits {
		return nil
	}
	s := k.slotOf(l.rank, step.Slot)
	if len(s.credits) < n {
		return k.errorAt(e, Progress, "waits for ever: credits have been given %d times in slot %d, and not %d times", len(s.credits), step.Slot, n)
	}
	k.hear(l, e, s.credits[n-1])
	return nil
}

// hear tells a lane what was known when a post was issued that it awaits.
func (k *check) hear(l *lane, e *access, id int32) {
	p := &k.sent[id]
	if p.heard.at == 0 {
		p.heard = e.mark
	} else {
		p.again = append(p.again, e.mark)
	}
	if from := k.events[p.event].mark; from.lane != l.id && p.clock != nil {
		l.base = k.clocks.own(l.base)
		l.base.join(p.clock)
		l.base.seen[from.lane] = max(l.base.seen[from.lane], from.at)
	}
	if len(k.lanesOf(int(l.rank))) == 1 {
		k.forget(p) // no other lane will await it
	}
}

// forget gives up what was known when a post was issued.
func (k *check) forget(p *sent) {
	if p.clock != nil {
		k.clocks.drop(p.clock)
		p.clock = nil
	}
}

// stuck returns an error if a lane has not come to its end. Of those that wait it
// names one that waits for what nobody sends, if there is one.
func (k *check) stuck() error {
	var waiting []*lane
	for i := range k.lanes {
		if l := &k.lanes[i]; l.at < len(k.stepsOf(l)) {
			waiting = append(waiting, l)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	worst := 0
	what := "has posts that wait in turn"
	for i, l := range waiting {
		step := &k.stepsOf(l)[l.at]
		if posts := k.postsTo(l.rank, step.Slot); posts < int(step.Count) {
			worst, what = i, fmt.Sprintf("is posted %d times in all", posts)
			break
		}
	}
	l := waiting[worst]
	step := &k.stepsOf(l)[l.at]
	what = fmt.Sprintf("waits for ever: slot %d has been posted %d times, and %s", step.Slot, len(k.slotOf(l.rank, step.Slot).posts), what)
	if len(waiting) > 1 {
		what += "; so do " + k.others(slices.Delete(waiting, worst, worst+1))
	}
	return &Error{Rule: Progress, Run: k.run, Rank: int(l.rank), Lane: int(l.lane), Step: l.at, Text: step.Text(int(l.rank)), What: what}
}

// postsTo is how many posts to a slot there are in all schedules.
func (k *check) postsTo(rank, number int32) int {
	n := 0
	for _, p := range k.plans {
		for _, steps := range p.Lanes {
			for i := range steps {
				if s := &steps[i]; s.Kind.Posts() && s.Peer == rank && s.Slot == number {
					n++
				}
			}
		}
	}
	return n
}

// others names some of the lanes that wait.
func (k *check) others(waiting []*lane) string {
	var all []string
	for i, l := range waiting {
		if i == 3 {
			all = append(all, fmt.Sprintf("%d others", len(waiting)-i))
			break
		}
		all = append(all, fmt.Sprintf("rank %d lane %d step %d (%s)", l.rank, l.lane, l.at, k.stepsOf(l)[l.at].Text(int(l.rank))))
	}
	return strings.Join(all, ", ")
}

// unawaited returns an error if a rank has not awaited all that was posted to it
// in the run, and otherwise makes the slots ready for the next.
func (k *check) unawaited() error {
	for i, s := range k.slots {
		if s == nil {
			continue
		}
		if n := len(s.posts); n > int(s.awaited) {
			e := &k.events[k.sent[s.posts[s.awaited]].event]
			rank, number := i/k.slotsEach(), k.step(e).Slot
			return k.errorAt(e, Slots, "rank %d does not await this post in the run: slot %d has %d posts and %d are awaited", rank, number, n, s.awaited)
		}
		for _, id := range s.posts {
			k.forget(&k.sent[id])
		}
		s.posts, s.awaited = s.posts[:0], 0
	}
	return nil
}
