package prove

import (
	"fmt"
	"iter"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A tenant is the only region of a line that is written: by one put of a run, which posts a slot that nothing else posts.
type tenant struct {
	region schedule.Region
	writer int
	slot   int32
}

// tenants are the regions that are written apart, and the cache lines they lie in.
type tenants struct {
	all   []tenant
	lines [][]int32 // of the flip and the eager memory of each rank: 1 + which of all; nil if there is none
}

// apart checks what puts and awaits say that are apart: that no line of a region is written otherwise, and that an
// await names the region, its writer, and the only post of its slot.
func (k *check) apart() error {
	tenants, err := k.tenants()
	if err != nil {
		return err
	}
	if len(tenants.all) == 0 {
		return nil
	}
	posts := k.posts()
	for at, step := range k.steps() {
		for _, r := range step.Dst {
			_, lines := k.linesOf(&tenants, r)
			for _, l := range lines {
				if l == 0 {
					continue
				}
				if t := &tenants.all[l-1]; r.Off < t.region.Off || r.Off+r.Len > t.region.Off+t.region.Len {
					return k.formError(at, "%v shares a cache line with %v, which rank %d writes apart", r, t.region, t.writer)
				}
			}
		}
		if step.Kind != schedule.Await || !step.Apart {
			continue
		}
		want := tenant{step.Src[0], int(step.Peer), step.Slot}
		count, lines := k.linesOf(&tenants, step.Src[0])
		for i := range count {
			var t tenant
			if lines != nil && lines[i] > 0 {
				t = tenants.all[lines[i]-1]
			}
			switch {
			case t != want:
				return k.formError(at, "awaits %v of rank %d, and there is %v of rank %d in slot %d", want.region, want.writer, t.region, t.writer, t.slot)
			case posts[k.slotIn(int32(at.rank), step.Slot)] != 1:
				return k.formError(at, "awaits data apart in a slot that is posted several times")
			}
		}
	}
	return nil
}

// posts counts the posts of a run, by slotIn.
func (k *check) posts() []int32 {
	f := k.plans[0]
	posts := make([]int32, k.call.Size*(f.Slots+f.EagerSlots))
	for _, step := range k.steps() {
		if step.Kind.Posts() && step.Slot != schedule.NoSlot {
			posts[k.slotIn(step.Peer, step.Slot)]++
		}
	}
	return posts
}

// slotIn is which slot of a run a slot of a rank is.
func (k *check) slotIn(rank, slot int32) int {
	f := k.plans[0]
	if slot >= schedule.FirstEagerSlot {
		slot += int32(f.Slots) - schedule.FirstEagerSlot
	}
	return int(rank)*(f.Slots+f.EagerSlots) + int(slot)
}

// tenants returns the regions that are written apart.
func (k *check) tenants() (tenants, error) {
	var found tenants
	for at, step := range k.steps() {
		if step.Kind != schedule.Put || !step.Apart {
			continue
		}
		dst := step.Dst[0]
		if dst.Buf != schedule.Flip && dst.Buf != schedule.Eager || dst.Off%max(1, k.call.Line) != 0 {
			return found, k.formError(at, "%v begins no cache line of flip or eager memory", dst)
		}
		t := tenant{dst, at.rank, step.Slot}
		if lane := k.plans[at.rank].Lanes[at.lane]; t.slot == schedule.NoSlot && at.step+1 < len(lane) {
			if next := &lane[at.step+1]; next.Kind == schedule.Signal && next.Peer == step.Peer {
				t.slot = next.Slot
			}
		}
		if t.slot == schedule.NoSlot {
			return found, k.formError(at, "nothing is posted behind data that is apart")
		}
		k.makeLines(&found, dst)
		found.all = append(found.all, t)
		_, lines := k.linesOf(&found, dst)
		for i, l := range lines {
			if l > 0 {
				other := &found.all[l-1]
				return found, k.formError(at, "rank %d writes apart to %v too", other.writer, other.region)
			}
			lines[i] = int32(len(found.all))
		}
	}
	return found, nil
}

// memoryIn is which of tenants.lines a region's buffer is, of flip or eager memory.
func memoryIn(r schedule.Region) int {
	if r.Buf == schedule.Eager {
		return 2*int(r.Rank) + 1
	}
	return 2 * int(r.Rank)
}

// makeLines makes the lines of the buffer of a region, if there are none.
func (k *check) makeLines(t *tenants, r schedule.Region) {
	if t.lines == nil {
		t.lines = make([][]int32, 2*k.call.Size)
	}
	if at := &t.lines[memoryIn(r)]; *at == nil {
		n, _ := k.length(int(r.Rank), r.Buf)
		size := max(1, k.call.Line)
		*at = make([]int32, (n+size-1)/size)
	}
}

// linesOf is how many lines of a region may be written apart, and which these are; nil if nothing of its buffer is.
func (k *check) linesOf(t *tenants, r schedule.Region) (count int, lines []int32) {
	if r.Buf != schedule.Flip && r.Buf != schedule.Eager || r.Len == 0 {
		return 0, nil
	}
	size := max(1, k.call.Line)
	first, end := r.Off/size, (r.Off+r.Len-1)/size+1
	if lines = t.lines[memoryIn(r)]; lines != nil {
		lines = lines[first:end]
	}
	return end - first, lines
}

// A place is a step of a lane of a rank.
type place struct{ rank, lane, step int }

// steps are the steps of all schedules.
func (k *check) steps() iter.Seq2[place, *schedule.Step] {
	return func(yield func(place, *schedule.Step) bool) {
		for r, s := range k.plans {
			for l, lane := range s.Lanes {
				for i := range lane {
					if !yield(place{r, l, i}, &lane[i]) {
						return
					}
				}
			}
		}
	}
}

// formError is an error about a step that shows without running.
func (k *check) formError(at place, format string, args ...any) error {
	text := k.plans[at.rank].Lanes[at.lane][at.step].Text(at.rank)
	return &Error{Rule: Form, Run: -1, Rank: at.rank, Lane: at.lane, Step: at.step, Text: text, What: fmt.Sprintf(format, args...)}
}
