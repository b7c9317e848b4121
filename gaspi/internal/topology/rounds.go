package topology

import "github.com/gaspi-go/gaspi-go/gaspi/base"

// Slots of a member in a barrier: of the parent; of the rounds of the leaders; and of the children on
// the host or, where all members signal each other, of these.
const (
	slotRelease  = 0
	slotLeaders  = slotRelease + 1
	slotChildren = slotLeaders + leaderRounds*(leaderRadix-1)
	// leaderRounds is enough for leaderRadix^8 = 65,536 hosts.
	leaderRounds = 8
)

// BarrierSlots returns how many slots a barrier of at most so many ranks has.
func BarrierSlots(ranks int) int { return slotChildren + min(max(0, ranks-1), crowdFanout) }

// A Round of a barrier says whom to signal, and whose signals to wait for then. The j-th signal of
// From comes into the j-th slot from First on.
type Round struct {
	First int // slot of this member
	To    []Signal
	From  []int
}

// A Signal goes to a slot of a member.
type Signal struct{ Member, Slot int }

// Barrier returns the rounds of member me in a barrier of the group with these ranks. The members of
// one host signal up a tree, the leaders of the hosts each other in a dissemination barrier, and then
// the tree downwards. Few members of one host signal each other at once. Where they share memory and cores
// up to 256 are children of one: a signal costs little there, and each level a turn of the scheduler.
func (h *Hosts) Barrier(ranks []base.Rank, me int) []Round {
	p := h.placement(ranks, me)
	return p.barrier()
}

func (p *placement) barrier() []Round {
	if p.atOnce {
		return disseminate(p.local, p.at, fanout, slotChildren)
	}
	var rounds []Round
	above, place, children := p.neighbours(p.fanout)
	if len(children) > 0 {
		rounds = append(rounds, Round{First: slotChildren, From: children})
	}
	if p.at > 0 {
		up := Signal{above, slotChildren + place}
		rounds = append(rounds, Round{First: slotRelease, To: []Signal{up}, From: []int{above}})
	} else {
		rounds = append(rounds, disseminate(p.leaders, p.host, leaderRadix, slotLeaders)...)
	}
	if len(children) > 0 {
		down := Round{}
		for _, child := range children {
			down.To = append(down.To, Signal{child, slotRelease})
		}
		rounds = append(rounds, down)
	}
	return rounds
}

// disseminate returns a dissemination barrier of members, of which this one is the at-th, with
// slots from first on: in the round with a stride, signals go to the members at distances
// stride, 2 x stride ... below their number, at most radix-1 of them.
func disseminate(members []int, at, radix, first int) (rounds []Round) {
	n := len(members)
	for stride := 1; stride < n; stride *= radix {
		s := Round{First: first}
		for j := 1; j <= min(radix-1, (n-1)/stride); j++ {
			s.From = append(s.From, members[(at-j*stride+n)%n])
			s.To = append(s.To, Signal{members[(at+j*stride)%n], first + j - 1})
		}
		rounds = append(rounds, s)
		first += radix - 1
	}
	return rounds
}
