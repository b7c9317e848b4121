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
	all  any // [][]T
}

// share is what work returns, for all ranks that ask for it under one name.
func share[T any](x *instance, name truthOf, work func() [][]T) [][]T {
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
	return t.all.([][]T)
}

// common is the result of this rank if it is shared, or nil.
func (v *vectors[T]) common(round int) []T {
	which := 0
	switch v.x.op {
	case schedule.AllReduce, schedule.Broadcast, schedule.AllGather:
	case schedule.Scan:
		which = v.me
	case schedule.ExScan:
		which = v.me - 1
	default:
		return nil
	}
	all := share(v.x, truthOf{v.seed, round}, func() [][]T { return v.commons(round) })
	if which < 0 {
		return nil
	}
	return all[which]
}

// commons are the results of all ranks that differ, by rank.
func (v *vectors[T]) commons(round int) [][]T {
	x := v.x
	var one []T
	switch x.op {
	case schedule.Broadcast:
		one = v.contribution(round, x.root, x.count)
	case schedule.AllGather:
		for r, n := range v.blocks {
			one = append(one, v.contribution(round, r, n)...)
		}
	case schedule.AllReduce:
		one = make([]T, x.count)
		for i := range one {
			one[i] = v.folded(round, x.ranks, i)
		}
	default:
		return v.prefixes(round)
	}
	return [][]T{one}
}

// contribution is n elements that a rank gives.
func (v *vectors[T]) contribution(round, rank, n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v.in(round, rank, 0, i)
	}
	return all
}

// prefixes are the folds of ranks 0 to r, by r.
func (v *vectors[T]) prefixes(round int) [][]T {
	all := [][]T{v.contribution(round, 0, v.x.count)}
	for r := 1; r < v.x.ranks; r++ {
		next := v.contribution(round, r, v.x.count)
		for i := range next {
			next[i] = v.Fold(all[r-1][i], next[i])
		}
		all = append(all, next)
	}
	return all
}
