package collectives_test

import (
	"sync"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// truths are results of an instance that are the same on several ranks, or of which
// one follows from another: one rank works them out for all.
type truths struct {
	mu  sync.Mutex
	all map[truthOf]*truth // guarded by mu
}

// truthOf names a round of one of an instance's copies.
type truthOf struct {
	seed  uint64
	round int
}

// A truth is vectors, made once.
type truth struct {
	once sync.Once
	left int // guarded by truths.mu: ranks that have not asked
	all  [][]byte
}

// share is what work returns, for all ranks that ask for it under one name.
func (x *instance) share(name truthOf, work func() [][]byte) [][]byte {
	x.truths.mu.Lock()
	t := x.truths.all[name]
	if t == nil {
		if x.truths.all == nil {
			x.truths.all = make(map[truthOf]*truth)
		}
		t = &truth{left: x.ranks}
		x.truths.all[name] = t
	}
	if t.left--; t.left == 0 {
		delete(x.truths.all, name)
	}
	x.truths.mu.Unlock()
	t.once.Do(func() { t.all = work() })
	return t.all
}

// common is the result of this rank if it is shared, or nil.
func (v *vectors) common(round int) []byte {
	which := 0
	switch v.op {
	case schedule.AllReduce, schedule.Broadcast, schedule.AllGather:
	case schedule.Scan:
		which = v.me
	case schedule.ExScan:
		which = v.me - 1
	default:
		return nil
	}
	all := v.x.share(truthOf{v.seed, round}, func() [][]byte { return v.commons(round) })
	if which < 0 {
		return nil
	}
	return all[which]
}

// commons are the results of all ranks that differ, by rank.
func (v *vectors) commons(round int) [][]byte {
	one := aligned(len(v.dst))
	switch v.op {
	case schedule.Broadcast:
		v.inputs(one, round, v.root, 0, 0)
	case schedule.AllGather:
		v.gathered(one, round)
	case schedule.AllReduce:
		v.folded(one, round, 0)
	default:
		return v.prefixes(round)
	}
	return [][]byte{one}
}

// prefixes are the folds of ranks 0 to r, by r.
func (v *vectors) prefixes(round int) [][]byte {
	sum := aligned(len(v.dst))
	v.inputs(sum, round, 0, 0, 0)
	all := [][]byte{sum}
	for r := 1; r < v.x.ranks; r++ {
		next := aligned(len(sum))
		copy(next, sum)
		v.x.kind.Add(next, v.place(round, r, 0, 0), v.parts())
		all, sum = append(all, next), next
	}
	return all
}
