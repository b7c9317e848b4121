package prove

import (
	"fmt"
	"iter"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A cacheLine is a cache line of a buffer of a rank.
type cacheLine struct {
	rank int32
	buf  schedule.Buffer
	at   int
}

// A tenant is the only region of a line that is written: by one put of a run, which posts a slot that nothing else posts.
type tenant struct {
	region schedule.Region
	writer int
	slot   int32
}

// apart checks what puts and awaits say that are apart: that no line of a region is written otherwise, and that an
// await names the region, its writer, and the only post of its slot.
func (k *check) apart() error {
	tenants, err := k.tenants()
	if err != nil || len(tenants) == 0 {
		return err
	}
	posts := map[[2]int32]int{} // of a run, by peer and slot
	for _, step := range k.steps() {
		if step.Kind.Posts() && step.Slot != schedule.NoSlot {
			posts[[2]int32{step.Peer, step.Slot}]++
		}
	}
	for at, step := range k.steps() {
		for _, r := range step.Dst {
			for l := range k.linesOf(r) {
				if t, ok := tenants[l]; ok && (r.Off < t.region.Off || r.Off+r.Len > t.region.Off+t.region.Len) {
					return k.formError(at, "%v shares a cache line with %v, which rank %d writes apart", r, t.region, t.writer)
				}
			}
		}
		if step.Kind != schedule.Await || !step.Apart {
			continue
		}
		want := tenant{step.Src[0], int(step.Peer), step.Slot}
		for l := range k.linesOf(step.Src[0]) {
			switch t := tenants[l]; {
			case t != want:
				return k.formError(at, "awaits %v of rank %d, and there is %v of rank %d in slot %d", want.region, want.writer, t.region, t.writer, t.slot)
			case posts[[2]int32{int32(at.rank), step.Slot}] != 1:
				return k.formError(at, "awaits data apart in a slot that is posted several times")
			}
		}
	}
	return nil
}

// tenants returns the regions that are written apart, by their lines.
func (k *check) tenants() (map[cacheLine]tenant, error) {
	tenants := map[cacheLine]tenant{}
	for at, step := range k.steps() {
		if step.Kind != schedule.Put || !step.Apart {
			continue
		}
		dst := step.Dst[0]
		if dst.Buf != schedule.Flip && dst.Buf != schedule.Eager || dst.Off%max(1, k.call.Line) != 0 {
			return nil, k.formError(at, "%v begins no cache line of flip or eager memory", dst)
		}
		t := tenant{dst, at.rank, step.Slot}
		if lane := k.plans[at.rank].Lanes[at.lane]; t.slot == schedule.NoSlot && at.step+1 < len(lane) {
			if next := &lane[at.step+1]; next.Kind == schedule.Signal && next.Peer == step.Peer {
				t.slot = next.Slot
			}
		}
		if t.slot == schedule.NoSlot {
			return nil, k.formError(at, "nothing is posted behind data that is apart")
		}
		for l := range k.linesOf(dst) {
			if other, ok := tenants[l]; ok {
				return nil, k.formError(at, "rank %d writes apart to %v too", other.writer, other.region)
			}
			tenants[l] = t
		}
	}
	return tenants, nil
}

// linesOf are the lines of a region that may be written apart.
func (k *check) linesOf(r schedule.Region) iter.Seq[cacheLine] {
	return func(yield func(cacheLine) bool) {
		if r.Buf != schedule.Flip && r.Buf != schedule.Eager || r.Len == 0 {
			return
		}
		size := max(1, k.call.Line)
		for at := r.Off / size; at <= (r.Off+r.Len-1)/size; at++ {
			if !yield(cacheLine{r.Rank, r.Buf, at}) {
				return
			}
		}
	}
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
