package algorithms

import (
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// reduceEager is for short vectors: they go up a tree of high radix, through eager memory, and
// each rank folds what it hears in a round in the order of ranks.
//
// Cost: log P steps to the base of the radix, rounded up, 1 for up to 16 ranks; n elements
// sent by each; 15n received and combined by the root in each step, in one pass; n elements of
// scratch, and 15n of eager memory for each step in each copy. A rank that has folded
// what it heard gives credits for it, so that only copies keep a sender from the next run.
func reduceEager(b *schedule.Builder, c *schedule.Call) {
	m, me, n := membersOf(c, b.Rank()), b.Rank(), c.Count
	tree := blockTree{size: len(m.ranks), root: m.root, radix: baseOr(c, eagerRadix)}
	levels, others, stride := tree.levels(), tree.others(), b.RoundUp(n)
	given, hold := b.Scratch(n), b.Eager(levels*others*stride)
	data, credit := b.EagerSlots(levels*others), b.Slots(1)
	if m.me < 0 {
		return
	}
	part, dst := b.In(me, 0, n), given.At(me, 0, n)
	if m.me == m.root {
		dst = b.Out(me, 0, n)
	}
	has := m.gives[m.me]
	for k := range levels {
		parent, place := tree.parent(m.me, k)
		if parent != m.me {
			at := k*others + place
			b.Copy(given.At(me, 0, n), part)
			b.AwaitCredit(credit)
			b.PutApart(hold.At(m.ranks[parent], at*stride, n), given.At(me, 0, n), data+at)
			return
		}
		var from []schedule.Region
		var heard []int
		for _, child := range tree.children(m.me, k) {
			if child == m.me {
				if has {
					from = append(from, part)
				}
				continue
			}
			_, place := tree.parent(child, k)
			at := k*others + place
			arrives := hold.At(me, at*stride, n)
			b.AwaitApart(m.ranks[child], data+at, arrives)
			from, heard = append(from, arrives), append(heard, child)
		}
		if len(heard) == 0 {
			continue
		}
		b.Combine(dst, from...)
		part, has = dst, true
		for _, child := range heard {
			b.Credit(m.ranks[child], credit)
		}
	}
	if has {
		b.Copy(dst, part)
	}
}

// reduceEagerFormula is the rounds of the tree, in which the root hears from most ranks. Runs follow
// each other as fast as the busiest rank hears, folds and sends: it hears the next while it waits for this.
func reduceEagerFormula(s *price.Topology, c *schedule.Call) price.Profile {
	n := float64(c.Count)
	radix := baseOr(c, eagerRadix)
	stages := []price.Stage{{
		Copy: price.Local{Elements: n, Sources: 1, Scratch: 1}, OneWay: true, Busy: price.Neither, Turns: -1, Spared: true,
		Pairs: s.OnHost(float64(c.Size - (c.Size+radix-1)/radix)), // who folds has it where it folds to
	}}
	slots := 0.0
	for reach := 1; reach < c.Size; reach *= radix {
		blocks := (c.Size + reach - 1) / reach
		children := float64(min(radix, blocks) - 1)
		senders := float64(blocks - (blocks+radix-1)/radix)
		route, onPath := s.Tree(price.Lowest, radix, len(stages)-1)
		g := price.Stage{
			Route: route, OneWay: true, Pairs: s.OnHost(senders), Busy: price.Arrival,
			Peers: 1, From: children, Elements: n, Returns: children, Turns: 1 / (children + 1), // of each family the parent
			Fold: price.Local{Elements: n, Sources: children + 1, Scratch: 1}, // to scratch,
		}
		if reach > 1 {
			g.Fold.Scratch++ // and from there
		}
		if !onPath {
			g.Only = g.Busy
		}
		stages = append(stages, g)
		slots += float64(min(radix, c.Size) - 1)
	}
	shortBlock(stages, c.Size, radix)
	return price.Profile{Stages: stages, Scratch: n, Eager: n * slots, EagerSlots: slots, Again: []price.Stage{}, Between: true}
}

// shortBlock changes the stages of a tree whose top level has two blocks, of which the second is shorter: its holder sends
// while the root still hears from the first.
func shortBlock(stages []price.Stage, size, radix int) {
	reach := 1
	for reach*radix*radix < size {
		reach *= radix
	}
	children := (size+reach-1)/reach - radix - 1
	if size <= radix || children < 1 || children >= radix-1 {
		return
	}
	below, top := &stages[len(stages)-2], &stages[len(stages)-1]
	sooner := *below
	sooner.From, sooner.Returns = float64(children), float64(children)
	sooner.Route.Out = min(sooner.Route.Out, sooner.From)
	sooner.Fold.Sources = float64(children + 1)
	top.Only, top.Meanwhile, top.Sooner = price.Arrival, 1, &sooner
	if below.Route.Part > 0 {
		below.Route.Far = 1
	}
}

// A blockTree spans members 0 to size-1 up to a root in levels, in each of which blocks of
// consecutive members, radix of them, become one. The holder of a block is its first member, or
// the root where that is among them: so it ends at any root, and the order of members is kept.
type blockTree struct{ size, root, radix int }

// levels is how many levels there are.
func (t blockTree) levels() int {
	n := 0
	for reach := 1; reach < t.size; reach *= t.radix {
		n++
	}
	return n
}

// others is how many members a holder hears from in a level, at most.
func (t blockTree) others() int { return min(t.radix, t.size) - 1 }

// length is how many members a block has that is to become part of another in a level.
func (t blockTree) length(level int) int {
	n := 1
	for range level {
		n *= t.radix
	}
	return n
}

// holder is the holder of the block of so many members that a member is in.
func (t blockTree) holder(member, length int) int {
	if t.root/length == member/length {
		return t.root
	}
	return member / length * length
}

// parent is who holds the larger block of a holder in a level, itself perhaps, and the holder's
// place among those that the parent hears from.
func (t blockTree) parent(holder, level int) (parent, place int) {
	n := t.length(level)
	parent = t.holder(holder, n*t.radix)
	if place = holder / n % t.radix; place > parent/n%t.radix {
		place--
	}
	return parent, place
}

// children are the holders of the blocks that become one with a holder's in a level, in order, with
// the holder itself.
func (t blockTree) children(holder, level int) []int {
	n := t.length(level)
	var all []int
	first := holder / (n * t.radix) * (n * t.radix)
	for at := first; at < min(first+n*t.radix, t.size); at += n {
		all = append(all, t.holder(at, n))
	}
	return all
}
