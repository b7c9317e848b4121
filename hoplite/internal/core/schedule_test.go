package core

import (
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/hoplite/internal/shape"
)

// A scene is a few cores between which a test carries every message by hand.
type scene struct {
	t       *testing.T
	cores   []*Core
	dead    []bool
	mail    map[[2]Rank][]Message // by from, to; in order
	puts    []put                 // that are under way
	results map[CallID]CallResult // the last of each call
}

type put struct {
	from Rank
	cmd  Command
}

func newScene(t *testing.T, size int, cfg Config) *scene {
	s := &scene{t: t, dead: make([]bool, size), mail: map[[2]Rank][]Message{}, results: map[CallID]CallResult{}}
	for r := range Rank(size) {
		cfg.Rank, cfg.Size = r, size
		s.cores = append(s.cores, New(cfg))
	}
	return s
}

// at lets a rank do something and collects what it says.
func (s *scene) at(r Rank, do func(*Core)) {
	do(s.cores[r])
	var out Output
	s.cores[r].Drain(&out)
	for _, cmd := range out.Commands {
		if cmd.Op == OpPut {
			s.puts = append(s.puts, put{r, cmd})
		}
	}
	for _, m := range out.Sends {
		if m.Attach {
			m.Msg.Payload = make([]byte, m.Len)
		}
		s.mail[[2]Rank{r, m.To}] = append(s.mail[[2]Rank{r, m.To}], m.Msg)
	}
	for _, res := range out.Results {
		s.results[res.Call] = res
	}
}

// take delivers what one rank has sent to another, which must begin with these kinds.
func (s *scene) take(from, to Rank, kinds ...Kind) {
	s.t.Helper()
	way := [2]Rank{from, to}
	for _, k := range kinds {
		if len(s.mail[way]) == 0 || s.mail[way][0].Kind() != k {
			s.t.Fatalf("rank %d is to get kind %d from %d, under way is %+v", to, k, from, s.mail[way])
		}
		m := s.mail[way][0]
		s.mail[way] = s.mail[way][1:]
		s.at(to, func(c *Core) { c.Receive(from, m) })
	}
}

// kill lets a rank die and all others know.
func (s *scene) kill(d Rank) {
	s.dead[d] = true
	for r := range Rank(len(s.cores)) {
		delete(s.mail, [2]Rank{d, r})
		delete(s.mail, [2]Rank{r, d})
		if !s.dead[r] {
			s.at(r, func(c *Core) { c.Down(d) })
		}
	}
}

// rest delivers all that is under way, and what follows from it. No put lands.
func (s *scene) rest() {
	for again := true; again; {
		again = false
		for from := range Rank(len(s.cores)) {
			for to := range Rank(len(s.cores)) {
				if way := ([2]Rank{from, to}); len(s.mail[way]) > 0 {
					again = true
					s.take(from, to, s.mail[way][0].Kind())
				}
			}
		}
	}
	if err := Check(s.cores, s.dead, true); err != nil && s.cores[0].cfg.mutation == (mutation{}) {
		s.t.Error(err)
	}
}

// idOf returns an id whose directory is shard num of size.
func idOf(num, size int) string {
	for i := 0; ; i++ {
		if id := fmt.Sprint("x", i); ShardOf(id, size) == num {
			return id
		}
	}
}

// land lets all puts arrive, and those that follow.
func (s *scene) land() {
	for len(s.puts) > 0 {
		p := s.puts[0]
		s.puts = s.puts[1:]
		if !s.dead[p.cmd.Peer] && s.cores[p.cmd.Peer].Expects(p.cmd.Slot, p.cmd.Seq) {
			s.at(p.cmd.Peer, func(c *Core) { c.Arrived(p.cmd.Slot, p.cmd.Watermark) })
		}
		if !s.dead[p.from] {
			s.at(p.from, func(c *Core) { c.Sent(p.cmd.Transfer) })
		}
	}
}

// TestSourceThatCameBack: rank 2 gives up what it was to receive, as its slot is taken,
// and asks again. Rank 3, which was to receive from it, hears so late that it finds the
// second copy there. If it took that, the directory would wait for ever to hear that it has
// no source: when the maker dies, the two would wait for each other.
func TestSourceThatCameBack(t *testing.T) {
	const directory, maker, back, late = 0, 1, 2, 3
	x, other := idOf(directory, 4), idOf(maker, 4)
	for _, mutant := range withAndWithout(MutantAnyCopy) {
		t.Run(mutant.String(), func(t *testing.T) {
			s := newScene(t, 4, broken(Config{Capacity: 1000, Slots: 1, Inline: -1}, mutant))
			s.at(maker, func(c *Core) { c.Put(1, other, 100, 0); c.Filled(1, 100) })
			s.rest()
			s.at(back, func(c *Core) { c.Get(2, other) })
			s.rest() // its bytes are under way, and take the slot
			s.at(back, func(c *Core) { c.Get(3, x) })
			s.take(back, directory, KindGetReq)
			s.at(late, func(c *Core) { c.Get(4, x) })
			s.take(late, directory, KindGetReq)
			s.at(maker, func(c *Core) { c.Put(5, x, 100, 0) })
			s.take(maker, directory, KindPutReq) // maker -> back -> late
			s.take(directory, back, KindAssign)
			s.take(back, directory, KindForget)
			s.land()
			s.take(back, directory, KindGetReq)
			s.take(directory, back, KindAssign) // maker -> back
			s.take(directory, late, KindAssign) // the old one
			s.rest()
			s.kill(maker)
			s.rest()
			lost := s.results[3].Code == Lost && s.results[4].Code == Lost
			if lost != (mutant == MutantNone) {
				t.Errorf("the object is lost, its Gets end with %+v and %+v", s.results[3], s.results[4])
			}
		})
	}
}

// TestNoTargetWithoutSources: rank 1 has begun to make a target, and its source is deleted.
// While it waits for another there is no target: a Get there finds what another rank has
// put under its name, and a Put there makes it.
func TestNoTargetWithoutSources(t *testing.T) {
	const caller, source, other = 1, 3, 2
	x, a := idOf(0, 4), idOf(source, 4)
	for _, c := range []struct {
		name string
		put  Rank
	}{{"put elsewhere", other}, {"put at the caller", caller}} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 4, Config{Capacity: 1000, Inline: 100, InlineQuota: 100, Links: shape.Links{Bandwidth: 1e9, Latency: 1e-9}})
			s.at(source, func(c *Core) { c.Put(1, a, 100, 0); c.Filled(1, 100) })
			s.rest()
			s.at(caller, func(c *Core) { c.Reduce(2, x, []string{a}, 1, 1) })
			s.take(caller, source, KindWatch)
			s.take(source, caller, KindLocated)
			if s.cores[caller].objects[x] == nil {
				t.Fatal("the target is not being made: the test misses its aim")
			}
			s.at(source, func(c *Core) { c.Delete(3, a) })
			s.take(source, source, KindDelReq, KindDrop)
			s.rest()
			s.at(caller, func(c *Core) { c.Get(4, x) })
			s.at(c.put, func(c *Core) { c.Put(5, x, 50, 0); c.Filled(5, 50) })
			s.rest()
			for _, call := range []CallID{4, 5} {
				if got := s.results[call]; got.Call != call || got.Code != OK {
					t.Errorf("call %d: %+v, expected ok", call, got)
				}
			}
		})
	}
}

// TestEvictedSource: a source that the caller of a Reduce has itself is evicted while
// another is awaited, and then its last copy dies. The Reduce hears of it.
func TestEvictedSource(t *testing.T) {
	const caller, maker, other = 1, 2, 0
	a, b, next := idOf(other, 4), idOf(3, 4), idOf(caller, 4)
	s := newScene(t, 4, Config{Capacity: 160, Inline: -1})
	s.at(maker, func(c *Core) { c.Put(1, a, 100, 0); c.Filled(1, 100) })
	s.at(other, func(c *Core) { c.Put(2, next, 100, 0); c.Filled(2, 100) })
	s.rest()
	s.at(caller, func(c *Core) { c.Get(3, a) })
	s.rest()
	s.land()
	s.at(caller, func(c *Core) { c.Release(s.results[3].Ref) })
	s.rest()
	s.at(caller, func(c *Core) { c.Reduce(4, "sum", []string{a, b}, 2, 1) })
	s.rest()
	s.at(caller, func(c *Core) { c.Get(5, next) })
	s.rest()
	if s.cores[caller].objects[a] != nil {
		t.Fatal("the source was not evicted: the test misses its aim")
	}
	s.kill(maker)
	s.rest()
	if got := s.results[4]; got.Code != Lost || got.ID != a {
		t.Errorf("the Reduce: %+v, expected that %s is lost", got, a)
	}
}

// TestKeptRoomIsFreed: rank 1 has got room for an object that does not fit beside another,
// and asks for it again. The directory dies, and the maker takes the object back, before
// it has answered. The room must not be kept for what is not there.
func TestKeptRoomIsFreed(t *testing.T) {
	const directory, maker, getter, holder = 0, 1, 2, 3
	x, a, late := idOf(directory, 4), idOf(holder, 4), idOf(maker, 4)
	s := newScene(t, 4, Config{Capacity: 160, Inline: -1, Links: shape.Links{Bandwidth: 1e9, Latency: 1e-9}})
	s.at(holder, func(c *Core) { c.Put(1, a, 100, 0); c.Filled(1, 100) })
	s.rest()
	s.at(getter, func(c *Core) { c.Get(2, a) })
	s.rest()
	s.land()
	s.at(getter, func(c *Core) { c.Release(s.results[2].Ref) })
	s.rest()
	s.at(maker, func(c *Core) { c.Reduce(3, x, []string{a}, 1, 1) })
	s.take(maker, holder, KindWatch)
	s.take(holder, maker, KindLocated)
	s.take(maker, directory, KindPutReq) // neither the replica nor the maker hears the answer
	s.at(getter, func(c *Core) { c.Get(4, x) })
	s.take(getter, directory, KindGetReq)
	s.take(directory, getter, KindAssign)
	for s.cores[getter].objects[a] != nil {
		s.take(getter, holder, KindEvict)
		s.take(holder, getter, KindEvictAck)
	}
	s.at(maker, func(c *Core) { c.Cancel(3) })
	s.kill(directory)
	s.rest()
	s.land()
	s.rest()
	s.at(maker, func(c *Core) { c.Put(5, late, 80, 0); c.Filled(5, 80) })
	s.at(getter, func(c *Core) { c.Get(6, late) })
	s.rest()
	s.land()
	if got := s.results[6]; got.Call != 6 || got.Code != OK {
		t.Errorf("the Get of another object: %+v", got)
	}
}

// TestPutThatJoined: two ranks put the same, and the directory sends a receiver to the one
// that has not heard yet that its put was joined with the other's. The directory dies before
// it hears. The next tells it, and so it must not have sent the receiver away: that would
// never be sent there again.
func TestPutThatJoined(t *testing.T) {
	const directory, second, receiver, other = 0, 1, 2, 3
	x := idOf(directory, 4)
	s := newScene(t, 4, Config{Capacity: 1000, Inline: -1})
	s.at(directory, func(c *Core) { c.Put(1, x, 100, 0) })
	s.take(directory, directory, KindPutReq)
	s.at(second, func(c *Core) { c.Put(2, x, 100, 0) })
	s.take(second, directory, KindPutReq)
	s.at(other, func(c *Core) { c.Get(3, x) })
	s.take(other, directory, KindGetReq)
	s.at(receiver, func(c *Core) { c.Get(4, x) })
	s.take(receiver, directory, KindGetReq)
	s.take(directory, receiver, KindAssign)
	s.take(receiver, second, KindPull)
	s.kill(directory)
	s.rest()
	s.at(second, func(c *Core) { c.Filled(2, 100) })
	for len(s.puts) > 0 {
		s.land()
		s.rest()
	}
	for call := CallID(2); call <= 4; call++ {
		if got := s.results[call]; got.Call != call || got.Code != OK {
			t.Errorf("call %d: %+v, expected ok", call, got)
		}
	}
}

// TestReduceWithoutASlot: a reduction waits for the slot of a Get, which will be free. It does
// not wait for that of another reduction: the two may need each other's.
func TestReduceWithoutASlot(t *testing.T) {
	const caller, one, two = 0, 1, 2
	for _, c := range []struct {
		name  string
		first func(*Core) // takes the slots of the caller
		want  Code
	}{
		{"of gets", func(c *Core) { c.Get(0, "a"); c.Get(1, "b") }, OK},
		{"of reductions", func(c *Core) {
			c.Reduce(0, "another", []string{"a", "b"}, 2, 1)
			c.Reduce(1, "other", []string{"a", "b"}, 2, 1)
		}, Full},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 3, Config{Capacity: 1000, Slots: 2, Inline: -1})
			for r, id := range map[Rank]string{one: "a", two: "b"} {
				s.at(r, func(c *Core) { c.Put(10, id, 100, 0); c.Filled(10, 100) })
			}
			s.rest()
			s.at(caller, c.first)
			s.rest()
			s.at(caller, func(c *Core) { c.Reduce(2, "sum", []string{"a", "b"}, 2, 1) })
			s.rest()
			if res, ended := s.results[2]; ended != (c.want == Full) {
				t.Fatalf("before anything has landed: ended is %v, with %v", ended, res.Code)
			}
			for len(s.puts) > 0 {
				s.land()
				s.rest()
			}
			for call, want := range map[CallID]Code{0: OK, 1: OK, 2: c.want} {
				if res, ended := s.results[call]; !ended || res.Code != want {
					t.Errorf("call %d: ended is %v, with %v; want %v", call, ended, res.Code, want)
				}
			}
		})
	}
}
