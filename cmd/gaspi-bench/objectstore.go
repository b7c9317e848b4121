package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// objectElement is the size in bytes of the elements of objects, which are float32 as in
// the paper.
const objectElement = 4

// An objectTrial does an operation with objects of one size in the store, again and again
// under new names.
type objectTrial struct {
	b     *bench
	kind  objectKind
	me, n int
	store *hoplite.Store
	mine  []float32
	filled,
	done int // number of the operation that mine was filled for, and of the present one
	refs []*hoplite.Ref[float32] // what this rank got
}

// storeWay opens a store for objects of count elements.
func (b *bench) storeWay(ctx context.Context, count int) (objectWay, error) {
	t := &objectTrial{b: b, kind: b.opts.op.object, me: int(b.p.Rank()), n: b.p.Size(), mine: make([]float32, count)}
	flags, size := &b.opts.object, int64(count*objectElement)
	// A reduction has a buffer for each input of a rank beside the object and the result.
	capacity := 6 * (size + 4096)
	if t.kind == objectGather {
		capacity = int64(t.n+2) * (size + 4096)
	}
	var err error
	t.store, err = hoplite.Open(ctx, b.p.World(), hoplite.Config{
		Capacity: max(capacity, 16<<20), Chunk: int64(flags.chunk), Window: flags.window, Inline: int64(flags.inline),
	})
	if err != nil {
		return objectWay{}, err
	}
	return objectWay{
		impl: report.ImplGaspi, timed: t.kind.timed(t.me), arrives: flags.arrive,
		fill: t.fill, before: t.before, once: t.once, check: t.check, after: t.after,
		release: t.store.Close,
	}, nil
}

// id names what a rank puts in the present operation, target what is made of all.
func (t *objectTrial) id(rank int) string { return fmt.Sprintf("%d of rank %d", t.done, rank) }
func (t *objectTrial) target() string     { return fmt.Sprintf("%d reduced", t.done) }

// sourceValue is what a rank puts at an element: small whole numbers, whose sums are exact
// in float32 for all ranks that a job can have on one host.
func sourceValue(rank, element, number int) float32 {
	return float32((rank + 1) * pattern(element, number))
}

// pattern is the same for all ranks, so that the sum over them is as quickly said.
func pattern(element, number int) int { return 1 + (5*element+number)%61 }

// fill makes new content.
func (t *objectTrial) fill(number int) {
	t.filled = number
	for i := range t.mine {
		t.mine[i] = sourceValue(t.me, i, number)
	}
}

// before puts what is there when an operation begins.
func (t *objectTrial) before(ctx context.Context) error {
	t.done++
	if t.kind == objectRoundTrip || t.kind == objectBroadcast && t.me != 0 || t.kind != objectBroadcast && t.b.opts.object.arrive {
		return nil
	}
	return hoplite.Put(ctx, t.store, t.id(t.me), t.mine)
}

// once is the operation, as this rank takes part in it.
func (t *objectTrial) once(ctx context.Context) error {
	if t.kind == objectRoundTrip {
		return t.roundTrip(ctx)
	}
	if t.kind == objectBroadcast {
		if t.me == 0 {
			return nil
		}
		return t.get(ctx, t.id(0))
	}
	if t.b.opts.object.arrive {
		if err := hoplite.Put(ctx, t.store, t.id(t.me), t.mine); err != nil {
			return err
		}
	}
	switch {
	case t.kind == objectGather && t.me == 0:
		return t.get(ctx, t.sources()...)
	case t.kind != objectGather && t.me == 0:
		if _, err := hoplite.Reduce[float32](ctx, t.store, t.target(), t.sources(), hoplite.Sum); err != nil {
			return err
		}
		return t.get(ctx, t.target())
	case t.kind == objectAllReduce:
		return t.get(ctx, t.target())
	}
	return nil
}

func (t *objectTrial) roundTrip(ctx context.Context) error {
	switch t.me {
	case 0:
		if err := hoplite.Put(ctx, t.store, t.id(0), t.mine); err != nil {
			return err
		}
		return t.get(ctx, t.id(1))
	case 1:
		if err := t.get(ctx, t.id(0)); err != nil {
			return err
		}
		return hoplite.Put(ctx, t.store, t.id(1), t.mine)
	}
	return nil
}

// sources are the ids of what all ranks put.
func (t *objectTrial) sources() []string {
	all := make([]string, t.n)
	for r := range all {
		all[r] = t.id(r)
	}
	return all
}

// get gets objects at once, and keeps them where they are.
func (t *objectTrial) get(ctx context.Context, ids ...string) error {
	t.refs = make([]*hoplite.Ref[float32], len(ids))
	if len(ids) == 1 {
		var err error
		t.refs[0], err = hoplite.GetReadOnly[float32](ctx, t.store, ids[0])
		return err
	}
	errs := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { t.refs[i], errs[i] = hoplite.GetReadOnly[float32](ctx, t.store, id) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// check compares what this rank got with what it must be.
func (t *objectTrial) check() error {
	for i, ref := range t.refs {
		weight := t.weight(i)
		got := ref.Data()
		if len(got) != len(t.mine) {
			return fmt.Errorf("rank %d got %d elements, want %d", t.me, len(got), len(t.mine))
		}
		for e := range got {
			if want := float32(weight * pattern(e, t.filled)); got[e] != want {
				return fmt.Errorf("rank %d got %v at element %d of object %d, want %v", t.me, got[e], e, i, want)
			}
		}
	}
	return nil
}

// weight is what the pattern is multiplied by in the i-th object that this rank got.
func (t *objectTrial) weight(i int) int {
	switch t.kind {
	case objectRoundTrip:
		return 2 - t.me // that of the other of ranks 0 and 1
	case objectBroadcast:
		return 1
	case objectGather:
		return i + 1
	}
	return t.n * (t.n + 1) / 2
}

// after gives up what was got and deletes what this rank has put.
func (t *objectTrial) after(ctx context.Context) error {
	for _, ref := range t.refs {
		ref.Release()
	}
	t.refs = nil
	if t.kind != objectRoundTrip && t.kind != objectBroadcast || t.me == 0 || t.kind == objectRoundTrip && t.me == 1 {
		if err := t.store.Delete(ctx, t.id(t.me)); err != nil {
			return err
		}
	}
	if t.me == 0 && (t.kind == objectReduce || t.kind == objectAllReduce) {
		return t.store.Delete(ctx, t.target())
	}
	return nil
}
