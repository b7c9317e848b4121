package schedule

import "slices"

// Posters returns the other ranks that post any of those slots at a rank in a call. Only their own
// schedules say so: an algorithm goes through its steps for each rank, and none is made.
func Posters(c *Call, rank int, slots []int32, emit Emitter) []int {
	var all []int
	for r := range c.Size {
		if r == rank {
			continue
		}
		seek := search{peer: int32(rank), slots: slots}
		emit(&Builder{
			s: &Schedule{Rank: r, Size: c.Size}, layout: c.Layout(), line: max(c.Line, 1), claims: claims{lanes: 1},
			dry: true, seek: &seek,
		}, c)
		if seek.found {
			all = append(all, r)
		}
	}
	return all
}

// A search is for a step that posts one of some slots at a peer.
type search struct {
	peer  int32
	slots []int32
	found bool
}

// see looks at a step. A nil search does not.
func (s *search) see(step *Step) {
	if s != nil && !s.found && step.Kind.Posts() && step.Peer == s.peer {
		s.found = slices.Contains(s.slots, step.Slot)
	}
}
