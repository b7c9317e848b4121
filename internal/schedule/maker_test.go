package schedule

import (
	"fmt"
	"testing"
)

// Goal: a schedule is the same whichever memory it is made of.
// Method: schedules with one lane and several, long and short, freed in turns.
func TestMaker(t *testing.T) {
	ring := func(b *Builder, c *Call) {
		m, slots := b.Scratch(c.Count), b.Slots(2)
		for range c.Size {
			b.Put(m.At((b.Rank()+1)%c.Size, 0, c.Count), b.Out(b.Rank(), 0, c.Count), slots)
			b.Await(slots)
			b.Combine(b.Out(b.Rank(), 0, c.Count), m.At(b.Rank(), 0, c.Count), b.Out(b.Rank(), 0, c.Count))
		}
	}
	wide := func(b *Builder, c *Call) {
		m, slot := b.Scratch(c.Size), b.Slots(1)
		var all []Region
		for r := range c.Size {
			all = append(all, m.At(b.Rank(), r, 1))
		}
		b.Combine(b.Out(b.Rank(), 0, 1), all...)
		b.Await(slot)
	}
	want := make(map[string]string)
	var m Maker
	for round := range 3 {
		for _, size := range []int{2, 300, 5} {
			for name, emit := range map[string]Emitter{"ring": ring, "wide": wide, "lanes": Pipeline(Segmentation{Concurrency: 3}, ring)} {
				c := &Call{Op: AllReduce, Size: size, Count: 12, InPlace: name != "wide"}
				key := fmt.Sprint(name, size)
				got := m.Build(c, 1, emit)
				if round == 0 {
					got = Build(c, 1, emit)
					want[key] = fmt.Sprint(got.Lanes, got.Slots, got.Scratch)
					continue
				}
				if fmt.Sprint(got.Lanes, got.Slots, got.Scratch) != want[key] {
					t.Fatalf("%s of %d ranks is another schedule in memory that was used before", name, size)
				}
				m.Free(got)
				if got.Steps() > 0 {
					t.Error("a schedule has steps after it was freed")
				}
			}
		}
	}
}
