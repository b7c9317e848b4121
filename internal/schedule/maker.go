package schedule

import "weak"

// A Maker makes schedules of the memory of earlier ones. Ranks that plan a call make a schedule of a
// few steps for each other rank, which lasts until it is compiled. A Maker keeps it until the next
// collection of garbage at most. It is for one goroutine at a time; the zero Maker is ready.
type Maker struct{ kept weak.Pointer[stock] }

// Build is Build. The schedule is whole until Free.
func (m *Maker) Build(c *Call, rank int, emit Emitter) *Schedule {
	from := m.kept.Value()
	if from == nil {
		from = new(stock)
	}
	m.kept = weak.Pointer[stock]{} // it is in use
	return build(c, rank, emit, from)
}

// Free gives the memory of a schedule to the next one. The schedule must not be used any more.
func (m *Maker) Free(s *Schedule) {
	k := s.stock
	for _, l := range s.Lanes {
		k.lanes = append(k.lanes, l[:0])
	}
	for i := range k.rooms[:k.used] {
		k.rooms[i] = k.rooms[i][:0]
	}
	k.used = 0
	for i := range k.counts {
		k.counts[i] = k.counts[i][:0]
	}
	*s = Schedule{Rank: s.Rank, Size: s.Size}
	m.kept = weak.Make(k)
}

// A stock is memory for the steps of a schedule.
type stock struct {
	lanes  []Lane     // that are free
	rooms  [][]Region // blocks of regions, of which so many are in use; the last of these partly
	used   int
	counts [2][]int32 // awaits so far, by slot: of plain ones and of eager ones
}

// lane returns an empty lane: one that was used before, or with room for so many steps.
func (k *stock) lane(steps int) Lane {
	last := len(k.lanes) - 1
	if last < 0 {
		return make(Lane, 0, max(1, steps))
	}
	l := k.lanes[last]
	k.lanes = k.lanes[:last]
	return l
}

// regions returns room for n regions of a step: one block serves many.
func (k *stock) regions(n int) []Region {
	const block = 128
	for {
		if k.used == 0 || cap(k.rooms[k.used-1])-len(k.rooms[k.used-1]) < n {
			if k.used == len(k.rooms) {
				k.rooms = append(k.rooms, make([]Region, 0, max(n, block)))
			}
			k.used++
			continue
		}
		room := &k.rooms[k.used-1]
		at := len(*room)
		*room = (*room)[:at+n]
		return (*room)[at : at : at+n]
	}
}
