package main

import (
	"context"
	"errors"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/collectives/schedule"
)

// An objectKind is what is done with objects in package hoplite's store.
type objectKind int

// The kinds. noObject is that of every other operation.
const (
	noObject objectKind = iota
	objectRoundTrip
	objectBroadcast
	objectGather
	objectReduce
	objectAllReduce
)

// objectOperations are what is done through the object store. Each operation is timed on
// its own, since objects are put before it and deleted after it.
func objectOperations() []operation {
	sizes := []uint64{1 << 10, 32 << 10, 1 << 20, 32 << 20}
	all := []operation{
		{name: "object-roundtrip", object: objectRoundTrip, about: `rank 0 puts an object, rank 1 gets it and puts another, and rank 0
gets that, in the store of package hoplite. Limit: a write with notification and
another one back.`},
		{name: "object-broadcast", object: objectBroadcast, about: `rank 0 has put an object, and all others get it at once, to look at it
in the store. Limit: bare writes with notifications of small pieces from each
rank to the next.`},
		{name: "object-gather", object: objectGather, about: `each rank has put an object, and rank 0 gets them all at once. Bytes are
those of one. Limit: each rank writes as much to rank 0.`},
		{name: "object-reduce", object: objectReduce, about: `each rank has put an object of float32; rank 0 has their sum made, and
gets it. Limit: as for object-broadcast, from the last rank to rank 0, where
nothing is added.`},
		{name: "object-allreduce", object: objectAllReduce, about: `the same, and all ranks get the sum while it is made. Limit: bare writes
of small pieces from the last rank through all others to rank 0 and back.`},
	}
	for i := range all {
		all[i].minRanks, all[i].sizes, all[i].prepare = 2, sizes, prepareObject
	}
	return all
}

// collective is the operation of package collectives that does the same; false if none does.
func (k objectKind) collective() (schedule.Operation, bool) {
	switch k {
	case objectBroadcast:
		return schedule.Broadcast, true
	case objectGather:
		return schedule.Gather, true
	case objectReduce:
		return schedule.Reduce, true
	case objectAllReduce:
		return schedule.AllReduce, true
	}
	return 0, false
}

// boxes is how many boxes the limit needs at each rank.
func (k objectKind) boxes(ranks uint64) uint64 {
	switch k {
	case objectGather:
		return ranks
	case objectAllReduce:
		return 2
	}
	return 1
}

// timed reports whether a rank's clock counts.
func (k objectKind) timed(rank int) bool {
	switch k {
	case objectBroadcast, objectAllReduce:
		return true
	}
	return rank == 0
}

// prepareObject is prepare for objects: one workload, which measures itself.
func prepareObject(_ context.Context, b *bench, size uint64) ([]workload, error) {
	count := max(1, int(size)/objectElement)
	w := workload{Subject: report.Subject{Op: b.opts.op.name, Bytes: uint64(count * objectElement), Moves: true}}
	w.run = func(ctx context.Context) ([]report.Row, error) { return b.objectRows(ctx, w, count) }
	return []workload{w}, nil
}

// objectRows measures the ways to do an operation with objects of count elements.
func (b *bench) objectRows(ctx context.Context, w workload, count int) ([]report.Row, error) {
	var ways []objectWay
	var release []func(context.Context) error
	add := func(way objectWay, err error) error {
		// The store and what is measured beside it are one side.
		wanted := b.opts.side == "" || (b.opts.side == report.ImplLimit) == (way.impl == report.ImplLimit)
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
	for _, name := range b.opts.object.static {
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
