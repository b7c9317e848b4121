package object

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/measure"
	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
)

// A Pattern is what is done with objects in package hoplite's store.
type Pattern int

// The patterns. None is that of every other operation.
const (
	None Pattern = iota
	RoundTrip
	Broadcast
	Gather
	Reduce
	AllReduce
	Publish
	Locate
)

// Operations are what is done through the object store. Each operation is timed on
// its own, since objects are put before it and deleted after it. They are in the order of
// the patterns, and need what (PatternRun).Prepare does to be measured.
func Operations() []measure.Benchmark {
	sizes := []uint64{1 << 10, 32 << 10, 1 << 20, 32 << 20}
	all := []measure.Benchmark{
		{Name: "object-roundtrip", About: `rank 0 puts an object, rank 1 gets it and puts another, and rank 0
gets that, in the store of package hoplite. Limit: a write with notification and
another one back.`},
		{Name: "object-broadcast", About: `rank 0 has put an object, and all others get it at once, to look at it
in the store. Limit: bare writes with notifications of small pieces from each
rank to the next.`},
		{Name: "object-gather", About: `each rank has put an object, and rank 0 gets them all at once. Bytes are
those of one. Limit: each rank writes as much to rank 0.`},
		{Name: "object-reduce", About: `each rank has put an object of float32; rank 0 has their sum made, and
gets it. Limit: as for object-broadcast, from the last rank to rank 0, where
nothing is added.`},
		{Name: "object-allreduce", About: `the same, and all ranks get the sum while it is made. Limit: bare writes
of small pieces from the last rank through all others to rank 0 and back.`},
		{Name: "object-publish", About: `rank 0 puts an object and asks the directory where it is: the answer comes
behind the entry. Limit: a short write with notification and another one back.`},
		{Name: "object-locate", About: `rank 1 has put an object, and rank 0 asks the directory where it is.
Limit: as for object-publish.`},
	}
	for i := range all {
		all[i].MinRanks, all[i].Sizes = 2, sizes
	}
	return all
}

// Collective is the operation of package collectives that does the same; false if none does.
func (k Pattern) Collective() (schedule.Operation, bool) {
	switch k {
	case Broadcast:
		return schedule.Broadcast, true
	case Gather:
		return schedule.Gather, true
	case Reduce:
		return schedule.Reduce, true
	case AllReduce:
		return schedule.AllReduce, true
	}
	return 0, false
}

// Boxes is how many boxes the limit needs at each rank.
func (k Pattern) Boxes(ranks uint64) uint64 {
	switch k {
	case Gather:
		return ranks
	case AllReduce:
		return 2
	}
	return 1
}

// pair reports whether the operation is between two ranks, the others of which may hold parts of
// the directory. Its limit is a round trip.
func (k Pattern) pair() bool { return k == RoundTrip || k.directory() }

// directory reports whether the operation asks the directory where an object is.
func (k Pattern) directory() bool { return k == Publish || k == Locate }

// Joins reports whether ranks can join the operation one after the other.
func (k Pattern) Joins() bool { return k != None && !k.pair() }

// puts reports whether a rank puts an object.
func (k Pattern) puts(rank int) bool {
	switch k {
	case RoundTrip:
		return rank < 2
	case Broadcast, Publish:
		return rank == 0
	case Locate:
		return rank == 1
	}
	return true
}

// timed reports whether a rank's clock counts.
func (k Pattern) timed(rank int) bool {
	switch k {
	case Broadcast, AllReduce:
		return true
	}
	return rank == 0
}

// A PatternRun is an operation with objects as the command line wants it.
type PatternRun struct {
	Name    string
	Kind    Pattern
	Options StoreOptions
}

// Prepare makes the workload of an operation with objects, which measures itself.
func (o PatternRun) Prepare(_ context.Context, b *measure.Bench, size uint64) ([]measure.Workload, error) {
	count := max(1, int(size)/elementBytes)
	w := measure.Workload{Subject: report.Subject{Op: o.Name, Bytes: uint64(count * elementBytes), Moves: true}}
	w.Run = func(ctx context.Context) ([]report.Row, error) {
		return (&bench{Bench: b, PatternRun: o}).rows(ctx, w, count)
	}
	return []measure.Workload{w}, nil
}

// A bench is one rank that measures an operation with objects.
type bench struct {
	*measure.Bench
	PatternRun
}

// rows measures the ways to do an operation with objects of count elements.
func (b *bench) rows(ctx context.Context, w measure.Workload, count int) ([]report.Row, error) {
	var ways []objectWay
	var release []func(context.Context) error
	add := func(way objectWay, err error) error {
		// The store and what is measured beside it are one side.
		wanted := b.Rules.Side == "" || (b.Rules.Side == report.ImplLimit) == (way.impl == report.ImplLimit)
		if err == nil && wanted {
			ways = append(ways, way)
		}
		if way.release != nil {
			release = append(release, way.release)
		}
		return err
	}
	if err := add(b.storeWay(ctx, count)); err != nil {
		return nil, err
	}
	for _, name := range b.Options.Static {
		if err := add(b.staticWay(ctx, name, count)); err != nil {
			return nil, err
		}
	}
	if err := add(b.relayWay(w.Bytes)); err != nil {
		return nil, err
	}
	rows, err := b.measureObject(ctx, w, ways)
	for _, r := range release {
		err = errors.Join(err, r(ctx))
	}
	return rows, err
}
