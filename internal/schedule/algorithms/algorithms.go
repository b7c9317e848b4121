// Package algorithms holds the algorithms of collective operations, one file
// each, as functions that write schedules. It is pure: see package schedule for
// what the steps mean, and the tests for the proof that each algorithm is right
// for every number of ranks.
package algorithms

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// An Algorithm is one way to do an operation.
type Algorithm struct {
	Op   schedule.Operation
	Name string // as GASPI_COLL and gaspi-bench take it
	Emit schedule.Emitter
	// Fits returns why the algorithm cannot do a call of its operation, nil if it
	// can. Nil means that it can do all.
	Fits func(*schedule.Call) error
	// Formula is what the algorithm costs; see package price.
	Formula price.Formula

	// Ordered says that it folds contributions in the order of ranks, so that the
	// operation need not commute.
	Ordered bool
	// Differs says that ranks fold in different orders, so that rounded results may
	// differ from rank to rank: it is used only when it is asked for by name.
	Differs bool
	// Shares says that it combines from or into peers' memory without a put: all
	// ranks must share memory (or those of one host, if it looks at Nodes).
	Shares bool
	// Hosts says that it looks at Nodes and shares memory among ranks of one only.
	Hosts bool
	// Exposes says that peers touch the caller's buffers, which must then be where
	// peers can reach them; Stage sends others through scratch.
	Exposes bool
	// Pulls says that peers do nothing with the caller's buffers but read In by
	// combines: StageIn then serves others better than Stage.
	Pulls bool
	// Plain says that only the rank itself touches the caller's buffers, and by
	// combines and codings alone: they may lie anywhere, without any staging.
	Plain bool
	// Whole says that the vector is not to be cut into segments: the algorithm
	// has no use for it, as one for tiny vectors, or cuts by itself.
	Whole bool
	// Radices are parameters worth a look beside the default.
	Radices []int
	// Burst says that a rank sends blocks to all others before it waits for any.
	Burst bool
	// OneWay says that a rank sends data or receives it, and folds none: what is long streams through
	// sockets as fast as what is short. A flat scatter does not, since its root copies its own block
	// while the sockets are full: one of 32 MiB took 1.2 times as long in one piece as in segments.
	OneWay bool
	// Coded says that it sends coded forms of vectors; it is for calls that ask for
	// compression.
	Coded bool
}

// registry is all algorithms. They are looked through for every new plan.
var registry = slices.Concat(reductions(), movements())

// All are all algorithms, those of one operation together, in a fixed order. The
// caller owns the slice.
func All() []Algorithm { return slices.Clone(registry) }

// For are the algorithms of an operation. The caller owns the slice.
func For(op schedule.Operation) []Algorithm {
	var all []Algorithm
	for i := range registry {
		if registry[i].Op == op {
			all = append(all, registry[i])
		}
	}
	return all
}

// Lookup is the algorithm of that name.
func Lookup(op schedule.Operation, name string) (Algorithm, error) {
	for i := range registry {
		if registry[i].Op == op && registry[i].Name == name {
			return registry[i], nil
		}
	}
	var names []string
	for _, a := range For(op) {
		names = append(names, a.Name)
	}
	return Algorithm{}, fmt.Errorf("%v has no algorithm %.80q; it has %s", op, name, strings.Join(names, ", "))
}

// mod is the rank that i names on a ring of n.
func mod(i, n int) int { return (i%n + n) % n }
