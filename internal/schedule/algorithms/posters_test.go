package algorithms

import (
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// Goal: schedule.Posters finds what the schedules of all ranks say.
// Method: all algorithms, whole and cut, of which each third slot is looked for.
func TestPosters(t *testing.T) {
	for _, a := range All() {
		for _, size := range []int{3, 8} {
			c := &schedule.Call{Op: a.Op, Size: size, Count: 12, Line: 1, Nodes: make([]int, size)}
			if a.Op == schedule.Exchange {
				c.Rounds = 2
			}
			if a.Fits != nil && a.Fits(c) != nil {
				continue
			}
			for _, emit := range []schedule.Emitter{a.Emit, schedule.Pipeline(schedule.Segmentation{Size: 5, Concurrency: 2}, a.Emit)} {
				rank := size - 1
				slots := slotsToSeek(schedule.Build(c, rank, emit))
				got := schedule.Posters(c, rank, slots, emit)
				if want := postersOf(c, rank, slots, emit); !slices.Equal(got, want) {
					t.Errorf("%v by %s, %d ranks: ranks %v post slots %v, want %v", a.Op, a.Name, size, got, slots, want)
				}
			}
		}
	}
}

// slotsToSeek is every third slot, plain and eager.
func slotsToSeek(s *schedule.Schedule) []int32 {
	var slots []int32
	for i := 0; i < s.Slots; i += 3 {
		slots = append(slots, int32(i))
	}
	for i := 0; i < s.EagerSlots; i += 3 {
		slots = append(slots, int32(schedule.FirstEagerSlot+i))
	}
	return slots
}

// postersOf is the ranks in whose schedules there is a post of slots at a rank.
func postersOf(c *schedule.Call, rank int, slots []int32, emit schedule.Emitter) []int {
	var all []int
	for r := range c.Size {
		posts := func(s schedule.Step) bool {
			return s.Kind.Posts() && int(s.Peer) == rank && slices.Contains(slots, s.Slot)
		}
		has := func(l schedule.Lane) bool { return slices.ContainsFunc(l, posts) }
		if r != rank && slices.ContainsFunc(schedule.Build(c, r, emit).Lanes, has) {
			all = append(all, r)
		}
	}
	return all
}

// Goal: looking for posters makes no schedules: of an alltoall it takes memory for each rank, and not for
// each pair of ranks.
func TestPostersMakeNoSchedules(t *testing.T) {
	a, err := Lookup(schedule.AllToAll, "direct")
	if err != nil {
		t.Fatal(err)
	}
	allocations := func(size int) float64 {
		c := &schedule.Call{Op: schedule.AllToAll, Size: size, Count: 1, Line: 8}
		return testing.AllocsPerRun(3, func() { schedule.Posters(c, 0, []int32{1}, a.Emit) }) / float64(size)
	}
	if few, many := allocations(16), allocations(256); many > few+1 {
		t.Errorf("%.1f allocations a rank among 16 ranks and %.1f among 256", few, many)
	}
}

func BenchmarkPosters(b *testing.B) {
	a, err := Lookup(schedule.AllToAll, "direct")
	if err != nil {
		b.Fatal(err)
	}
	c := &schedule.Call{Op: schedule.AllToAll, Size: 256, Count: 1, Line: 8}
	for b.Loop() {
		schedule.Posters(c, 0, []int32{1}, schedule.Stage(1, a.Emit))
	}
}
