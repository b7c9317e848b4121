package algorithms

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/prove"
)

// A mutant is what is wrong with schedules that were right.
type mutant struct {
	name string
	// cut says that it is wrong in segments too. Others may be harmless there:
	// lanes tell what those of other segments did not, and parts may be empty.
	cut bool
	// make changes one of the places where it can, of which it is given a way to
	// choose, and says what it did; false if there is none.
	make func(m *mutation) bool
}

// A mutation is schedules that are to be changed.
type mutation struct {
	all  []*schedule.Schedule
	rng  *rand.Rand
	what string
}

// A site is a step of a lane of a rank.
type site struct{ rank, lane, step int }

func (m *mutation) at(s site) *schedule.Step { return &m.all[s.rank].Lanes[s.lane][s.step] }

// sites are those that will do.
func (m *mutation) sites(will func(s site, step *schedule.Step) bool) []site {
	var sites []site
	for r, s := range m.all {
		for l, lane := range s.Lanes {
			for i := range lane {
				if at := (site{r, l, i}); will(at, &lane[i]) {
					sites = append(sites, at)
				}
			}
		}
	}
	return sites
}

// pick is one of the sites that will do, false if none does.
func (m *mutation) pick(will func(s site, step *schedule.Step) bool) (site, bool) {
	sites := m.sites(will)
	if len(sites) == 0 {
		return site{}, false
	}
	at := sites[m.rng.IntN(len(sites))]
	m.what = fmt.Sprintf("rank %d lane %d step %d (%s)", at.rank, at.lane, at.step, m.at(at).Text(at.rank))
	return at, true
}

func (m *mutation) remove(s site) {
	lane := &m.all[s.rank].Lanes[s.lane]
	*lane = slices.Delete(*lane, s.step, s.step+1)
}

func (m *mutation) insert(s site, step schedule.Step) {
	lane := &m.all[s.rank].Lanes[s.lane]
	*lane = slices.Insert(*lane, s.step, step)
}

// length is how many elements of a buffer of a rank are used.
func (m *mutation) length(rank int32, buf schedule.Buffer) int {
	n := 0
	for _, s := range m.all {
		for _, lane := range s.Lanes {
			for i := range lane {
				for _, r := range slices.Concat(lane[i].Dst, lane[i].Src) {
					if r.Rank == rank && r.Buf == buf {
						n = max(n, r.Off+r.Len)
					}
				}
			}
		}
	}
	return n
}

func posts(s *schedule.Step) bool {
	return (s.Kind == schedule.Put || s.Kind == schedule.Signal) && s.Slot != schedule.NoSlot
}

func moves(s *schedule.Step) bool {
	return (s.Kind == schedule.Put || s.Kind == schedule.Combine) && s.Dst[0].Len > 0
}

// lastAwait is the await at the peer of a put or signal that counts the last post
// to its slot.
func (m *mutation) lastAwait(post *schedule.Step) (site, bool) {
	var found site
	var count int32
	for l, lane := range m.all[post.Peer].Lanes {
		for i := range lane {
			if s := &lane[i]; s.Kind == schedule.Await && s.Slot == post.Slot && s.Count > count {
				found, count = site{int(post.Peer), l, i}, s.Count
			}
		}
	}
	return found, count > 0
}

// mutants are the ways to make a schedule wrong.
func mutants() []mutant {
	return []mutant{
		{"an await is dropped", true, func(m *mutation) bool {
			at, ok := m.pick(func(at site, s *schedule.Step) bool {
				if s.Kind != schedule.Await {
					return false
				}
				last, _ := m.lastAwait(&schedule.Step{Peer: int32(at.rank), Slot: s.Slot})
				return last == at
			})
			if ok {
				m.remove(at)
			}
			return ok
		}},
		{"an await wants one more", true, func(m *mutation) bool {
			at, ok := m.pick(func(at site, s *schedule.Step) bool {
				if s.Kind != schedule.Await {
					return false
				}
				last, _ := m.lastAwait(&schedule.Step{Peer: int32(at.rank), Slot: s.Slot})
				return last == at
			})
			if ok {
				m.at(at).Count++
			}
			return ok
		}},
		{"a signal is dropped", true, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return s.Kind == schedule.Signal })
			if ok {
				m.remove(at)
			}
			return ok
		}},
		{"a put posts nothing", true, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return s.Kind == schedule.Put && s.Slot != schedule.NoSlot })
			if ok {
				m.at(at).Slot = schedule.NoSlot
			}
			return ok
		}},
		{"a post comes twice", true, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return posts(s) })
			if ok {
				s := *m.at(at)
				m.insert(at, schedule.Step{Kind: schedule.Signal, Peer: s.Peer, Slot: s.Slot})
			}
			return ok
		}},
		{"a post goes to another slot", true, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return posts(s) && m.all[0].Slots > 1 })
			if ok {
				s := m.at(at)
				s.Slot = (s.Slot + 1 + int32(m.rng.IntN(m.all[0].Slots-1))) % int32(m.all[0].Slots)
			}
			return ok
		}},
		{"a signal goes to another rank", true, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return s.Kind == schedule.Signal })
			if ok {
				s := m.at(at)
				s.Peer = (s.Peer + 1 + int32(m.rng.IntN(len(m.all)-1))) % int32(len(m.all))
			}
			return ok
		}},
		{"data is not moved", false, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool { return moves(s) })
			if ok && posts(m.at(at)) {
				s := *m.at(at)
				*m.at(at) = schedule.Step{Kind: schedule.Signal, Peer: s.Peer, Slot: s.Slot}
			} else if ok {
				m.remove(at)
			}
			return ok
		}},
		{"a region is shifted by one", false, shift},
		{"two steps swap their sources", false, swapSources},
		{"a credit is dropped with its await", false, dropBoth},
		{"a step comes before the await of its source", false, early},
		{"a signal overtakes the put before it", false, overtake},
		{"flip becomes scratch", false, unflip},
		{"a contribution is folded twice", false, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool {
				return s.Kind == schedule.Combine && len(s.Src) > 1 && s.Dst[0].Len > 0
			})
			if ok {
				s := m.at(at)
				s.Src = append(slices.Clone(s.Src), s.Src[m.rng.IntN(len(s.Src))])
			}
			return ok
		}},
		{"a contribution is left out", false, func(m *mutation) bool {
			at, ok := m.pick(func(_ site, s *schedule.Step) bool {
				return s.Kind == schedule.Combine && len(s.Src) > 1 && s.Dst[0].Len > 0
			})
			if ok {
				s := m.at(at)
				i := m.rng.IntN(len(s.Src))
				s.Src = slices.Delete(slices.Clone(s.Src), i, i+1)
			}
			return ok
		}},
	}
}

// shift moves a source or a destination by one element, where there is room.
func shift(m *mutation) bool {
	type choice struct {
		at  site
		dst bool
		i   int
		by  int
	}
	var all []choice
	for _, at := range m.sites(func(_ site, s *schedule.Step) bool { return moves(s) }) {
		see := func(rs []schedule.Region, dst bool) {
			for i, r := range rs {
				if r.Off > 0 {
					all = append(all, choice{at, dst, i, -1})
				}
				if r.Off+r.Len < m.length(r.Rank, r.Buf) {
					all = append(all, choice{at, dst, i, 1})
				}
			}
		}
		see(m.at(at).Dst, true)
		see(m.at(at).Src, false)
	}
	if len(all) == 0 {
		return false
	}
	c := all[m.rng.IntN(len(all))]
	s := m.at(c.at)
	rs := &s.Src
	if c.dst {
		rs = &s.Dst
	}
	m.what = fmt.Sprintf("rank %d lane %d step %d (%s): %v by %d", c.at.rank, c.at.lane, c.at.step, s.Text(c.at.rank), (*rs)[c.i], c.by)
	*rs = slices.Clone(*rs)
	(*rs)[c.i].Off += c.by
	return true
}

// swapSources exchanges the sources of two steps of a rank that move as much from
// different places of one buffer.
func swapSources(m *mutation) bool {
	var other site
	alike := func(a, b *schedule.Step) bool {
		if a.Kind != b.Kind || len(a.Src) != 1 || len(b.Src) != 1 {
			return false
		}
		x, y := a.Src[0], b.Src[0]
		return x.Rank == y.Rank && x.Buf == y.Buf && x.Len == y.Len && x.Off != y.Off
	}
	at, ok := m.pick(func(at site, s *schedule.Step) bool {
		return moves(s) && slices.ContainsFunc(m.all[at.rank].Lanes[at.lane], func(o schedule.Step) bool { return moves(&o) && alike(s, &o) })
	})
	if !ok {
		return false
	}
	for i := range m.all[at.rank].Lanes[at.lane] {
		if o := (site{at.rank, at.lane, i}); moves(m.at(o)) && alike(m.at(at), m.at(o)) {
			other = o
		}
	}
	a, b := m.at(at), m.at(other)
	m.what += " and " + b.Text(at.rank)
	a.Src, b.Src = b.Src, a.Src
	return true
}

// dropBoth drops the last post of a slot and the await of it.
func dropBoth(m *mutation) bool {
	at, ok := m.pick(func(_ site, s *schedule.Step) bool {
		if s.Kind != schedule.Signal {
			return false
		}
		await, ok := m.lastAwait(s)
		return ok && m.at(await).Count == 1
	})
	if ok {
		await, _ := m.lastAwait(m.at(at))
		m.remove(await)
		m.remove(at)
	}
	return ok
}

// early moves a step that reads or combines what a put has brought before the
// await that says so.
func early(m *mutation) bool {
	at, ok := m.pick(func(at site, s *schedule.Step) bool {
		lane := m.all[at.rank].Lanes[at.lane]
		return s.Kind == schedule.Await && at.step+1 < len(lane) && moves(&lane[at.step+1]) && m.brings(at.rank, s, &lane[at.step+1])
	})
	if ok {
		lane := m.all[at.rank].Lanes[at.lane]
		lane[at.step], lane[at.step+1] = lane[at.step+1], lane[at.step]
	}
	return ok
}

// brings reports whether what a step reads was put there by the step that posts
// what is awaited.
func (m *mutation) brings(rank int, await, next *schedule.Step) bool {
	return len(m.sites(func(_ site, s *schedule.Step) bool {
		if s.Kind != schedule.Put || int(s.Peer) != rank || s.Slot != await.Slot {
			return false
		}
		return slices.ContainsFunc(next.Src, func(r schedule.Region) bool { return r.Overlaps(s.Dst[0]) })
	})) > 0
}

// overtake swaps a put without a post with the signal that follows it.
func overtake(m *mutation) bool {
	at, ok := m.pick(func(at site, s *schedule.Step) bool {
		lane := m.all[at.rank].Lanes[at.lane]
		if s.Kind != schedule.Put || s.Slot != schedule.NoSlot || !moves(s) || at.step+1 == len(lane) {
			return false
		}
		next := lane[at.step+1]
		return next.Kind == schedule.Signal && next.Peer == s.Peer
	})
	if ok {
		lane := m.all[at.rank].Lanes[at.lane]
		lane[at.step], lane[at.step+1] = lane[at.step+1], lane[at.step]
	}
	return ok
}

// unflip makes all runs use the same copy.
func unflip(m *mutation) bool {
	if m.all[0].Flip == 0 {
		return false
	}
	m.what = "all"
	for _, s := range m.all {
		for _, lane := range s.Lanes {
			for i := range lane {
				for _, rs := range [][]schedule.Region{lane[i].Dst, lane[i].Src} {
					for j := range rs {
						if rs[j].Buf == schedule.Flip {
							rs[j].Buf = schedule.Scratch
							rs[j].Off += s.Scratch
						}
					}
				}
			}
		}
		s.Scratch, s.Flip = s.Scratch+s.Flip, 0
	}
	return true
}

// harmless are the mutants that need not be wrong: of an algorithm, by the kind, and
// why. Few mutants may pass, and all others must fail.
func harmless(a Algorithm, kind string) string {
	return map[string]string{
		"allgather doubling: a credit is dropped with its await":          "its peer hears of the rank in earlier steps, too, when ranks are no power of two",
		"alltoall pairwise: a credit is dropped with its await":           "its peer may have heard of the rank from others",
		"broadcast scatter-allgather: a credit is dropped with its await": "to a rank's left, if that is its parent too or descends from it",
		"reducescatter blocks: a credit is dropped with its await":        "what a rank hears from others may tell it that its partner has read",
		"allreduce leaders: flip becomes scratch":                         "on one host, leader and ranks hear of each other twice in a run",
		"gather binomial: flip becomes scratch":                           "three ranks or less have no ranks in between, and so use none",
		"gather eager: eager memory is given back before it is read":      "what the root copies last may be of another child",
		"reduce shared: a region is shifted by one":                       "nobody reads the copy of the result that the root makes for itself",
	}[fmt.Sprintf("%v %s: %s", a.Op, a.Name, kind)]
}

// TestMutants makes schedules wrong, one change at a time, and demands that each is
// refused.
func TestMutants(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	kinds := append(mutants(), eagerMutants()...)
	joined := len(kinds) // kinds for which no step is apart, so that they are refused for what is wrong with them
	kinds = append(kinds, apartMutants()...)
	refused := make([]atomic.Int32, len(kinds))
	t.Run("all", func(t *testing.T) {
		for i, a := range All() {
			t.Run(fmt.Sprintf("%v/%s", a.Op, a.Name), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, uint64(i)))
				var prover prove.Prover
				for k, kind := range kinds {
					for range 10 {
						if mutate(t, &prover, a, kind, k < joined, rng) {
							refused[k].Add(1)
						}
					}
				}
			})
		}
	})
	for k, kind := range kinds {
		if n := refused[k].Load(); n < 20 {
			t.Errorf("%s: only %d were made and refused", kind.name, n)
		}
	}
}

// mutate makes and checks one mutant, of schedules of which no step is apart if join says so, and reports whether it was
// made and refused.
func mutate(t *testing.T, prover *prove.Prover, a Algorithm, kind mutant, join bool, rng *rand.Rand) bool {
	p := 2 + rng.IntN(7)
	c := schedule.Call{Op: a.Op, Size: p, Root: rng.IntN(p), Count: 2*p + 3, Line: 1 + 3*rng.IntN(2), Rounds: 1 + rng.IntN(3)}
	// Stages are left out, since ranks that contribute nothing make copies for nobody.
	all := slices.DeleteFunc(forms(), func(f form) bool { return f.staged || f.locals > 1 || f.cut && (a.Whole || !kind.cut) })
	f := all[rng.IntN(len(all))]
	if !fits(a, &c) {
		return false
	}
	m := &mutation{rng: rng}
	for r := range p {
		m.all = append(m.all, schedule.Build(&c, r, f.emit(c.Count, a.Emit)))
	}
	if join {
		m.join()
	}
	if !kind.make(m) {
		return false
	}
	opts := prove.Options{Ordered: a.Ordered, Shares: a.Shares, Exposes: a.Exposes}
	err := prover.Check(&c, func(r int) *schedule.Schedule { return m.all[r] }, opts)
	if err == nil && harmless(a, kind.name) == "" {
		t.Errorf("%s: %s: %s: %+v: proven all the same", kind.name, f.name, m.what, c)
	}
	return err != nil
}
