package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// eagerMutants are the ways to make a schedule wrong that uses eager memory.
func eagerMutants() []mutant {
	return []mutant{
		{"eager memory is not awaited", false, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return s.Kind == schedule.AwaitCredit })
			if ok {
				m.remove(at)
			}
			return ok
		}},
		{"eager memory is not given back", false, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return s.Kind == schedule.Credit })
			if ok {
				m.remove(at)
			}
			return ok
		}},
		{"eager memory is given back before it is read", false, creditEarly},
	}
}

// creditEarly gives copies back before the step in front, which reads them.
func creditEarly(m *mutation) bool {
	at, ok := m.pick(func(at site, s *schedule.Step) bool {
		lane := m.all[at.rank].Lanes[at.lane]
		return s.Kind == schedule.Credit && slices.ContainsFunc(lane[at.step-1].Src, func(r schedule.Region) bool { return r.Buf == schedule.Eager })
	})
	if ok {
		lane := m.all[at.rank].Lanes[at.lane]
		lane[at.step-1], lane[at.step] = lane[at.step], lane[at.step-1]
	}
	return ok
}
