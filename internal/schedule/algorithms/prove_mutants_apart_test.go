package algorithms

import (
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// apartMutants are the ways to make a schedule wrong of which steps are apart.
func apartMutants() []mutant {
	awaits := func(_ site, s *schedule.Step) bool { return s.Kind == schedule.Await && s.Apart && s.Src[0].Len > 0 }
	return []mutant{
		{"an await names another region", false, func(m *mutation) bool {
			at, ok := m.pick(func(at site, s *schedule.Step) bool { return awaits(at, s) && s.Src[0].Len > 1 })
			if ok {
				s := m.at(at)
				s.Src = []schedule.Region{s.Src[0].Part(0, s.Src[0].Len-1)}
			}
			return ok
		}},
		{"an await names another writer", false, func(m *mutation) bool {
			at, ok := m.pick(awaits)
			if ok {
				m.at(at).Peer = (m.at(at).Peer + 1) % int32(len(m.all))
			}
			return ok
		}},
		{"awaits exchange their regions", false, func(m *mutation) bool {
			at, ok := m.pick(func(at site, s *schedule.Step) bool { return awaits(at, s) && m.swapped(at, s, awaits) != nil })
			if ok {
				s := m.at(at)
				other := m.swapped(at, s, awaits)
				s.Src, other.Src = other.Src, s.Src
			}
			return ok
		}},
		{"a cache line is shared", false, func(m *mutation) bool {
			at, ok := m.pick(func(at site, s *schedule.Step) bool {
				return s.Kind == schedule.Put && s.Apart && m.awaited(s, awaits)
			})
			if !ok {
				return false
			}
			// Its reader writes to the last element and the one behind it.
			s := m.at(at)
			dst := s.Dst[0]
			if dst.Off+dst.Len >= m.length(dst.Rank, dst.Buf) {
				return false
			}
			dst.Off, dst.Len = dst.Off+dst.Len-1, 2
			src := schedule.Region{Rank: dst.Rank, Buf: schedule.In, Len: 2}
			m.insert(site{int(dst.Rank), 0, 0}, schedule.Step{Kind: schedule.Combine, Dst: []schedule.Region{dst}, Src: []schedule.Region{src}})
			return true
		}},
	}
}

// swapped is another await of the rank that will do, for data of another place.
func (m *mutation) swapped(at site, s *schedule.Step, will func(site, *schedule.Step) bool) *schedule.Step {
	for l, lane := range m.all[at.rank].Lanes {
		for i := range lane {
			if o := &lane[i]; will(site{at.rank, l, i}, o) && o.Src[0] != s.Src[0] {
				return o
			}
		}
	}
	return nil
}

// awaited reports whether an await that will do names the destination of a put.
func (m *mutation) awaited(put *schedule.Step, will func(site, *schedule.Step) bool) bool {
	return len(m.sites(func(at site, s *schedule.Step) bool { return will(at, s) && s.Src[0] == put.Dst[0] })) > 0
}

// join makes all steps as if their memory was not apart.
func (m *mutation) join() {
	for _, s := range m.all {
		for _, lane := range s.Lanes {
			for i := range lane {
				if step := &lane[i]; step.Apart {
					step.Apart = false
					if step.Kind == schedule.Await {
						step.Peer, step.Src = 0, slices.Clip(step.Src[:0])
					}
				}
			}
		}
	}
}
