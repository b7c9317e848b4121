package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// A place is a job whose ranks are on some hosts.
type place struct {
	name  string
	hosts Hosts
	n     int
}

// places are jobs of n ranks: on one host, on hosts with as many ranks each, in blocks and in turn, and on
// hosts with any number of ranks in any order.
func placesOf(n int, random *rand.Rand) []place {
	places := []place{
		{name: "one host", hosts: Hosts{memory: true}},
		{name: "one host with cores", hosts: Hosts{memory: true, cores: true}},
		{name: "one host, sockets", hosts: Hosts{cores: true}},
		{name: "one host, sockets that share cores", hosts: Hosts{}},
		{name: "alone", hosts: ReadLocations(n, nil)},
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
			locations[r] = fmt.Sprint("host", at.host(r), FieldEnd, MarkMemory)
		}
		places = append(places, place{name: at.name, hosts: ReadLocations(n, locations)})
	}
	for i := range places {
		places[i].n = n
	}
	return places
}

// A member is what a member of a group plans.
type member struct {
	host   int32
	tree   Tree
	rounds []Round
}

// members are the members of a group of all ranks, or of some.
func (j place) members(random *rand.Rand, all bool) []member {
	ranks := []base.Rank{}
	for r := range base.Rank(j.n) {
		if all || r == 0 || random.IntN(3) > 0 {
			ranks = append(ranks, r)
		}
	}
	members := make([]member, len(ranks))
	for m, r := range ranks {
		members[m] = member{j.hosts.On(r), j.hosts.Tree(ranks, m), j.hosts.Barrier(ranks, m)}
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

func checkTree(t *testing.T, name string, members []member) {
	t.Helper()
	parented, crossing := 0, 0
	hostsOf := map[int32]bool{}
	for m, g := range members {
		hostsOf[g.host] = true
		if len(g.tree.Children) > ParentSlot {
			t.Fatalf("%s: member %d has %d children, more than %d", name, m, len(g.tree.Children), ParentSlot)
		}
		for _, c := range g.tree.Children {
			if members[c].tree.Parent != m {
				t.Fatalf("%s: member %d has child %d, whose parent is %d", name, m, c, members[c].tree.Parent)
			}
		}
		if m == 0 {
			if g.tree.Parent != -1 {
				t.Fatalf("%s: the first member has parent %d", name, g.tree.Parent)
			}
			continue
		}
		above := members[g.tree.Parent]
		if g.tree.Slot >= len(above.tree.Children) || above.tree.Children[g.tree.Slot] != m {
			t.Fatalf("%s: member %d has slot %d at %d, whose children are %v", name, m, g.tree.Slot, g.tree.Parent, above.tree.Children)
		}
		if g.tree.Parent >= m {
			t.Fatalf("%s: member %d has parent %d, which is no earlier one", name, m, g.tree.Parent)
		}
		parented++
		if g.host != above.host {
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
			checkRounds(t, name, j, j.members(random, n%2 == 0))
		}
	}
}

// mostSignals is how many signals a member with so many children sends at most where there are so many hosts.
func mostSignals(children, hosts int) int {
	most := children + 1
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
				awaited := slices.Clone(g.tree.Children)
				if g.tree.Parent >= 0 {
					awaited = append(awaited, g.tree.Parent)
				}
				for _, round := range g.rounds {
					awaited = append(awaited, round.From...)
				}
				for _, other := range awaited {
					if !slices.Contains(members[other].tree.Hearers, m) {
						t.Fatalf("%d ranks, %s: member %d waits for %d, whose hearers are %v", n, j.name, m, other, members[other].tree.Hearers)
					}
				}
			}
		}
	}
}

func checkRounds(t *testing.T, name string, j place, members []member) {
	t.Helper()
	n := len(members)
	hostsOf := map[int32]bool{}
	for _, b := range members {
		hostsOf[b.host] = true
	}
	type post struct {
		by    int
		knows []bool
	}
	posted := map[Signal]post{}
	knows := make([][]bool, n)
	at, sent := make([]int, n), make([]int, n)
	for m := range members {
		knows[m] = make([]bool, n)
		knows[m][m] = true
	}
	send := func(m int) {
		if at[m] == len(members[m].rounds) {
			return
		}
		for _, to := range members[m].rounds[at[m]].To {
			if other, twice := posted[to]; twice || to.Slot < 0 || to.Slot >= BarrierSlots(j.n) || to.Member == m {
				t.Fatalf("%s: member %d posts %d at %d, which %d has posted", name, m, to.Slot, to.Member, other.by)
			}
			posted[to] = post{m, slices.Clone(knows[m])}
			sent[m]++
		}
	}
	taken := 0
	for m := range members {
		send(m)
	}
	for moved := true; moved; {
		moved = false
		for m, b := range members {
			if at[m] == len(b.rounds) {
				continue
			}
			round, all := b.rounds[at[m]], true
			for i, from := range round.From {
				p, there := posted[Signal{m, round.First + i}]
				if there && p.by != from {
					t.Fatalf("%s: member %d waits for %d, and %d posts", name, m, from, p.by)
				}
				all = all && there
			}
			if !all {
				continue
			}
			for i := range round.From {
				for other, known := range posted[Signal{m, round.First + i}].knows {
					knows[m][other] = knows[m][other] || known
				}
				taken++
			}
			at[m]++
			moved = true
			send(m)
		}
	}
	for m := range members {
		if at[m] != len(members[m].rounds) || slices.Contains(knows[m], false) {
			t.Fatalf("%s: member %d ends in round %d of %d and knows of %v", name, m, at[m], len(members[m].rounds), knows[m])
		}
		if most := mostSignals(j.hosts.barrierFanout(), len(hostsOf)); sent[m] > most {
			t.Errorf("%s: member %d sends %d signals, more than %d", name, m, sent[m], most)
		}
	}
	if taken != len(posted) {
		t.Errorf("%s: %d signals are sent and %d waited for", name, len(posted), taken)
	}
}

// TestCrowdsMeetInOneLevel has ranks of one host that share memory and cores all signal the first one, as
// far as it has slots, and it all of them: as many signals as any tree has, in the fewest turns.
func TestCrowdsMeetInOneLevel(t *testing.T) {
	for _, n := range []int{5, 16, 17, 18, 100, crowdFanout, crowdFanout + 1, crowdFanout + 2} {
		hosts, ranks := Hosts{memory: true}, make([]base.Rank, n)
		for r := range ranks {
			ranks[r] = base.Rank(r)
		}
		signals, above := 0, 0
		for m := range ranks {
			for _, round := range hosts.Barrier(ranks, m) {
				signals += len(round.To)
				for _, to := range round.To {
					if m > 0 && to.Member == 0 {
						above++
					}
				}
			}
		}
		if want := min(n-1, crowdFanout); signals != 2*(n-1) || above != want {
			t.Errorf("%d ranks send %d signals, %d to the first one; want %d and %d", n, signals, above, 2*(n-1), want)
		}
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
				for m := range Successors(me, n) {
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
		want      Hosts
	}{
		{2, []string{"a\tmc", "a\tmc"}, Hosts{memory: true, cores: true}},
		{2, []string{"a\tm", "a\tmc"}, Hosts{memory: true}},
		{2, []string{"a\tm\tc", "a\tmc\tat c"}, Hosts{memory: true}},
		{3, []string{"a\tc", "b\tmc", "a\tc"}, Hosts{of: []int32{0, 1, 0}, cores: true}},
		{3, nil, Hosts{of: []int32{0, 1, 2}}},
	} {
		if got := ReadLocations(c.size, c.locations); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %v, want %v", c.locations, got, c.want)
		}
	}
}
