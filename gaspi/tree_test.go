package gaspi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/internal/wireup"
	"github.com/gaspi-go/gaspi-go/notify"
)

// A place is a job whose ranks are on some hosts.
type place struct {
	name  string
	hosts hosts
	n     int
}

// places are jobs of n ranks: on one host, on hosts with as many ranks each, in blocks and in turn, and on
// hosts with any number of ranks in any order.
func placesOf(n int, random *rand.Rand) []place {
	places := []place{
		{name: "one host", hosts: hosts{memory: true}},
		{name: "one host with cores", hosts: hosts{memory: true, cores: true}},
		{name: "one host, sockets", hosts: hosts{cores: true}},
		{name: "one host, sockets that share cores", hosts: hosts{}},
		{name: "alone", hosts: readLocations(n, nil)},
	}
	for _, at := range []struct {
		name string
		host func(r int) int
	}{
		{"blocks of 5", func(r int) int { return r / 5 }},
		{"7 hosts in turn", func(r int) int { return r % 7 }},
		{"any", func(int) int { return random.IntN(1 + n/3) }},
		{"one large host", func(int) int { return max(0, random.IntN(n+9)-n) }},
	} {
		locations := make([]string, n)
		for r := range locations {
			locations[r] = fmt.Sprint("host", at.host(r), wireup.HostEnd, wireup.MarkMemory)
		}
		places = append(places, place{name: at.name, hosts: readLocations(n, locations)})
	}
	for i := range places {
		places[i].n = n
	}
	return places
}

// members are the members of a group of all ranks, or of some, without anything that communicates.
func (j place) members(random *rand.Rand, all bool) []*Group {
	ranks := []Rank{}
	for r := range Rank(j.n) {
		if all || r == 0 || random.IntN(3) > 0 {
			ranks = append(ranks, r)
		}
	}
	lay := newLayout(Config{}.withDefaults(), j.n)
	members := make([]*Group, len(ranks))
	for m := range members {
		g := &Group{p: &Proc{lay: lay, hosts: j.hosts, size: j.n}, me: m, ranks: ranks, indexOf: make([]int, len(ranks))}
		where := g.placement()
		g.near = where.neighbours()
		members[m] = g
	}
	return members
}

func sizes() []int {
	if testing.Short() { // nothing is concurrent in a plan
		return []int{1, 2, 3, 4, 5, 8, 17, 33, 65, 129}
	}
	return []int{1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 31, 33, 40, 64, 65, 100, 129, 255, 256, 257, 258, 300, 600}
}

// TestTree has the members of a group agree on who is whose parent, and at which slot.
func TestTree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes() {
		for _, j := range placesOf(n, random) {
			for _, all := range []bool{true, false} {
				checkTree(t, fmt.Sprintf("%d ranks, %s", n, j.name), j.members(random, all))
			}
		}
	}
}

func checkTree(t *testing.T, name string, members []*Group) {
	t.Helper()
	parented, crossing := 0, 0
	hostsOf := map[int32]bool{}
	for m, g := range members {
		host := g.p.hosts.on(g.ranks[m])
		hostsOf[host] = true
		if len(g.near.children) > slotResult {
			t.Fatalf("%s: member %d has %d children, more than %d", name, m, len(g.near.children), slotResult)
		}
		for _, c := range g.near.children {
			if members[c].near.parent != m {
				t.Fatalf("%s: member %d has child %d, whose parent is %d", name, m, c, members[c].near.parent)
			}
		}
		if m == 0 {
			if g.near.parent != -1 {
				t.Fatalf("%s: the first member has parent %d", name, g.near.parent)
			}
			continue
		}
		above := members[g.near.parent]
		if g.near.slot >= len(above.near.children) || above.near.children[g.near.slot] != m {
			t.Fatalf("%s: member %d has slot %d at %d, whose children are %v", name, m, g.near.slot, g.near.parent, above.near.children)
		}
		if g.near.parent >= m {
			t.Fatalf("%s: member %d has parent %d, which is no earlier one", name, m, g.near.parent)
		}
		parented++
		if host != g.p.hosts.on(g.ranks[g.near.parent]) {
			crossing++
		}
	}
	if parented != len(members)-1 || crossing != len(hostsOf)-1 {
		t.Errorf("%s: %d members have parents, %d on another host; there are %d members on %d hosts",
			name, parented, crossing, len(members), len(hostsOf))
	}
}

// TestBarrierRounds carries out the rounds of all members: each notification has one poster, who posts
// it once, and at the end each member knows that all others have begun.
func TestBarrierRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range sizes() {
		for _, j := range placesOf(n, random) {
			name := fmt.Sprintf("%d ranks, %s", n, j.name)
			members := j.members(random, n%2 == 0)
			barriers := make([]*barrier, len(members))
			for m, g := range members {
				barriers[m] = newBarrier(g, slotBarrier, nil)
				barriers[m].plan()
			}
			checkRounds(t, name, barriers)
		}
	}
}

// mostSignals is how many signals a member sends at most where there are so many hosts.
func mostSignals(hosts int) int {
	most := fanout + 1
	for reach := 1; reach < hosts; reach *= leaderRadix {
		most += leaderRadix - 1
	}
	return most
}

// TestWaitersAreHearers has each member tell those first that it ends a group who wait for its part in
// barriers and small reductions: they must not take its leaving for the reason.
func TestWaitersAreHearers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range sizes() {
		for _, j := range placesOf(n, random) {
			members := j.members(random, n%2 == 0)
			for m, g := range members {
				b := newBarrier(g, slotBarrier, nil)
				b.plan()
				awaited := slices.Clone(g.near.children)
				if g.near.parent >= 0 {
					awaited = append(awaited, g.near.parent)
				}
				for _, round := range b.rounds {
					for _, r := range round.from {
						awaited = append(awaited, slices.Index(g.ranks, r))
					}
				}
				for _, other := range awaited {
					if !slices.Contains(members[other].near.hearers, m) {
						t.Fatalf("%d ranks, %s: member %d waits for %d, whose hearers are %v", n, j.name, m, other, members[other].near.hearers)
					}
				}
			}
		}
	}
}

func checkRounds(t *testing.T, name string, barriers []*barrier) {
	t.Helper()
	n := len(barriers)
	index := map[Rank]int{}
	hostsOf := map[int32]bool{}
	for m, r := range barriers[0].g.ranks {
		index[r] = m
		hostsOf[barriers[0].g.p.hosts.on(r)] = true
	}
	type flag struct {
		member int
		id     notify.ID
	}
	type post struct {
		by    int
		knows []bool
	}
	posted := map[flag]post{}
	knows := make([][]bool, n)
	at, sent := make([]int, n), make([]int, n)
	for m := range barriers {
		knows[m] = make([]bool, n)
		knows[m][m] = true
	}
	send := func(m int) {
		if at[m] == len(barriers[m].rounds) {
			return
		}
		for _, to := range barriers[m].rounds[at[m]].to {
			key := flag{index[to.rank], to.id}
			first := barriers[m].slotAt(key.member)
			if other, twice := posted[key]; twice || to.id < first || to.id >= first+slotLeft || key.member == m {
				t.Fatalf("%s: member %d posts %d at %d, which %d has posted", name, m, to.id, key.member, other.by)
			}
			posted[key] = post{m, slices.Clone(knows[m])}
			sent[m]++
		}
	}
	taken := 0
	for m := range barriers {
		send(m)
	}
	for moved := true; moved; {
		moved = false
		for m, b := range barriers {
			if at[m] == len(b.rounds) {
				continue
			}
			round, all := b.rounds[at[m]], true
			for i, r := range round.from {
				p, there := posted[flag{m, round.first + notify.ID(i)}]
				if there && p.by != index[r] {
					t.Fatalf("%s: member %d waits for rank %d, and member %d posts", name, m, r, p.by)
				}
				all = all && there
			}
			if !all {
				continue
			}
			for i := range round.from {
				for other, known := range posted[flag{m, round.first + notify.ID(i)}].knows {
					knows[m][other] = knows[m][other] || known
				}
				taken++
			}
			at[m]++
			moved = true
			send(m)
		}
	}
	for m := range barriers {
		if at[m] != len(barriers[m].rounds) || slices.Contains(knows[m], false) {
			t.Fatalf("%s: member %d ends in round %d of %d and knows of %v", name, m, at[m], len(barriers[m].rounds), knows[m])
		}
		if most := mostSignals(len(hostsOf)); sent[m] > most {
			t.Errorf("%s: member %d sends %d signals, more than %d", name, m, sent[m], most)
		}
	}
	if taken != len(posted) {
		t.Errorf("%s: %d signals are sent and %d waited for", name, len(posted), taken)
	}
}

// TestSuccessors has news spread although members do not pass it on, as long as each has one successor
// that does.
func TestSuccessors(t *testing.T) {
	for _, n := range sizes() {
		for _, every := range []int{1, 2, 5, fanout - 1} { // one in so many passes it on
			reached := make([]bool, n)
			reached[0] = true
			next := []int{0}
			for len(next) > 0 {
				me := next[0]
				next = next[1:]
				for m := range successors(me, n, fanout) {
					if m < 0 || m >= n || m == me {
						t.Fatalf("%d members: %d has successor %d", n, me, m)
					}
					if !reached[m] && m%every == 0 {
						next = append(next, m)
					}
					reached[m] = true
				}
			}
			if slices.Contains(reached, false) {
				t.Errorf("%d members, one in %d passes news on: not all learn of it", n, every)
			}
		}
	}
}

// TestReadLocations reads what ranks tell of where they are.
func TestReadLocations(t *testing.T) {
	for _, c := range []struct {
		size      int
		locations []string
		want      hosts
	}{
		{2, []string{"a\tmc", "a\tmc"}, hosts{memory: true, cores: true}},
		{2, []string{"a\tm", "a\tmc"}, hosts{memory: true}},
		{3, []string{"a\tc", "b\tmc", "a\tc"}, hosts{of: []int32{0, 1, 0}, cores: true}},
		{3, nil, hosts{of: []int32{0, 1, 2}}},
	} {
		if got := readLocations(c.size, c.locations); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %v, want %v", c.locations, got, c.want)
		}
	}
}
