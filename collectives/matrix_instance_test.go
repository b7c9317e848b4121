package collectives_test

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/algorithms"
)

// memory says where the buffers of an instance lie.
type memory uint8

const (
	plain     memory = iota // slices of the program's own
	allocated               // in a segment of Alloc
	mixed                   // one here, one there: counts as plain
	memories
)

// mode says how an instance is run.
type mode uint8

const (
	blocking mode = iota // Do, again and again
	flying               // several Starts, then Waits in another order on each rank
	planned              // NewPlan, then Run and Start
	modes
)

// An instance is one cell of the matrix: the same on all ranks.
type instance struct {
	seed      uint64
	ranks     int
	op        schedule.Operation
	algorithm string // empty: the team chooses
	kind      kind
	count     int // elements of the vector, or of the blocks
	uneven    bool
	lengths   []int // of uneven blocks, or nil: drawn by seed
	root      int
	inPlace   bool
	memory    memory
	shift     int // elements from a cache line to the buffers
	cut       schedule.Segmentation
	radix     int
	vectors   int // of each rank
	mode      mode
	rounds    int

	truths truths
}

func (x *instance) String() string {
	var b strings.Builder
	name := x.algorithm
	if name == "" {
		name = "chosen"
	}
	fmt.Fprintf(&b, "%d ranks, %v/%s, %d %s", x.ranks, x.op, name, x.count, x.kind.name)
	if x.uneven {
		b.WriteString(", uneven blocks")
		if x.lengths != nil && len(x.lengths) <= 9 {
			fmt.Fprintf(&b, " %v", x.lengths)
		}
	}
	if x.op.Rooted() {
		fmt.Fprintf(&b, ", root %d", x.root)
	}
	if x.inPlace {
		b.WriteString(", in place")
	}
	fmt.Fprintf(&b, ", %s+%d", [...]string{"plain", "allocated", "mixed"}[x.memory], x.shift)
	if x.cut != (schedule.Segmentation{}) {
		fmt.Fprintf(&b, ", segments %dx%d", x.cut.Size, x.cut.Concurrency)
	}
	if x.radix > 0 {
		fmt.Fprintf(&b, ", radix %d", x.radix)
	}
	if x.vectors > 1 {
		fmt.Fprintf(&b, ", %d vectors", x.vectors)
	}
	fmt.Fprintf(&b, ", %s x %d", [...]string{"blocking", "flying", "planned"}[x.mode], x.rounds)
	return b.String()
}

// options returns the options of the call.
func (x *instance) options() []collectives.Option {
	var all []collectives.Option
	if x.algorithm != "" {
		all = append(all, collectives.Algorithm(x.algorithm))
		if a, err := algorithms.Lookup(x.op, x.algorithm); err == nil && a.Coded {
			all = append(all, collectives.Compress(collectives.Lossless()))
		}
	}
	if x.cut.Size > 0 {
		all = append(all, collectives.SegmentSize(x.cut.Size))
	}
	if x.cut.Concurrency > 0 {
		all = append(all, collectives.Concurrency(x.cut.Concurrency))
	}
	if x.radix > 0 {
		all = append(all, collectives.Radix(x.radix))
	}
	return all
}

// exchanges is the number of rounds of an exchange: enough to meet somebody who
// is not there.
func (x *instance) exchanges() int { return bits.Len(uint(x.ranks)) }

// block is the length of block i, or of the one that rank i sends to rank j in an
// alltoall. In place both directions are alike.
func (x *instance) block(i, j int) int {
	switch {
	case !x.uneven:
		return x.count
	case x.lengths != nil && x.op == schedule.AllToAll:
		return x.lengths[i*x.ranks+j]
	case x.lengths != nil:
		return x.lengths[i]
	}
	if x.op != schedule.AllToAll {
		j = 0
	} else if x.inPlace {
		i, j = min(i, j), max(i, j)
	}
	h := (x.seed>>20 + uint64(7*i+3*j)) * 0x9e3779b97f4a7c15 >> 33
	if h%4 == 0 {
		return 0
	}
	return int(h/4) % (x.count + 1)
}

// longest is the elements of the longer vector, at most.
func (x *instance) longest() int {
	if x.lengths != nil {
		return sumOf(x.lengths)
	}
	if x.op.Blockwise() {
		return x.count * x.ranks
	}
	return x.count
}

// work is how many elements all ranks together must make to check a result.
func (x *instance) work() int {
	if x.op.Reduces() && x.op != schedule.ReduceScatter {
		return x.longest() * x.ranks * x.ranks
	}
	return x.longest() * x.ranks
}

// fits reports whether the algorithm can do it.
func (x *instance) fits() bool {
	if x.algorithm == "" {
		return true
	}
	a, err := algorithms.Lookup(x.op, x.algorithm)
	if err != nil || x.kind.ordered && !a.Ordered {
		return false
	}
	if a.Fits == nil {
		return true
	}
	c := schedule.Call{Op: x.op, Size: x.ranks, Root: x.root, Count: x.count, InPlace: x.inPlace, Radix: x.radix, Line: 1, Rounds: x.exchanges()}
	if x.uneven {
		for i := range x.ranks {
			if x.op != schedule.AllToAll {
				c.Counts = append(c.Counts, x.block(i, 0))
				continue
			}
			for j := range x.ranks {
				c.Counts = append(c.Counts, x.block(i, j))
			}
		}
	}
	return a.Fits(&c) == nil
}
