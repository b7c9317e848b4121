package object

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// elementBytes is the size in bytes of the elements of objects, which are float32 as in
// the paper.
const elementBytes = 4

// A storeTrial does an operation with objects of one size in the store, again and again
// under new names.
type storeTrial struct {
	b     *bench
	kind  Pattern
	me, n int
	store *hoplite.Store
	mine  []float32
	filled,
	done int // number of the operation that mine was filled for, and of the present one
	refs  []*hoplite.Ref[float32] // what this rank got
	found hoplite.Locations       // where the directory says that an object is
}

// storeWay opens a store for objects of count elements.
func (b *bench) storeWay(ctx context.Context, count int) (objectWay, error) {
	t := &storeTrial{b: b, kind: b.Kind, me: int(b.P.Rank()), n: b.P.Size(), mine: make([]float32, count)}
	flags, size := &b.Options, int64(count*elementBytes)
	// A reduction has a buffer for each input of a rank beside the object and the result.
	capacity := 6 * (size + 4096)
	if t.kind == Gather {
		capacity = int64(t.n+2) * (size + 4096)
	}
	var err error
	t.store, err = hoplite.Open(ctx, b.P.World(), hoplite.Config{
		Capacity: max(capacity, 16<<20), Chunk: int64(flags.Chunk), Window: flags.Window, Inline: int64(flags.Inline),
	})
	if err != nil {
		return objectWay{}, err
	}
	return objectWay{
		impl: report.ImplGaspi, timed: t.kind.timed(t.me), arrives: flags.Arrive,
		fill: t.fill, before: t.before, once: t.once, check: t.check, after: t.after,
		release: t.store.Close,
	}, nil
}

// id names what a rank puts in the present operation, target what is made of all.
func (t *storeTrial) id(rank int) string { return fmt.Sprintf("%d of rank %d", t.done, rank) }
func (t *storeTrial) target() string     { return fmt.Sprintf("%d reduced", t.done) }

// sourceValue is what a rank puts at an element: small whole numbers, whose sums are exact
// in float32 for all ranks that a job can have on one host.
func sourceValue(rank, element, number int) float32 {
	return float32((rank + 1) * pattern(element, number))
}

// pattern is the same for all ranks, so that the sum over them is as quickly said.
func pattern(element, number int) int { return 1 + (5*element+number)%61 }

// fill makes new content.
func (t *storeTrial) fill(number int) {
	t.filled = number
	for i := range t.mine {
		t.mine[i] = sourceValue(t.me, i, number)
	}
}

// before puts what is there when an operation begins.
func (t *storeTrial) before(ctx context.Context) error {
	t.done++
	within := t.kind == RoundTrip || t.kind == Publish || t.kind != Broadcast && t.b.Options.Arrive
	if within || !t.kind.puts(t.me) {
		return nil
	}
	return hoplite.Put(ctx, t.store, t.id(t.me), t.mine)
}

// once is the operation, as this rank takes part in it.
func (t *storeTrial) once(ctx context.Context) error {
	if t.kind == RoundTrip {
		return t.roundTrip(ctx)
	}
	if t.kind.directory() {
		return t.locate(ctx)
	}
	if t.kind == Broadcast {
		if t.me == 0 {
			return nil
		}
		return t.get(ctx, t.id(0))
	}
	if t.b.Options.Arrive {
		if err := hoplite.Put(ctx, t.store, t.id(t.me), t.mine); err != nil {
			return err
		}
	}
	switch {
	case t.kind == Gather && t.me == 0:
		return t.get(ctx, t.sources()...)
	case t.kind != Gather && t.me == 0:
		if _, err := hoplite.Reduce[float32](ctx, t.store, t.target(), t.sources(), hoplite.Sum); err != nil {
			return err
		}
		return t.get(ctx, t.target())
	case t.kind == AllReduce:
		return t.get(ctx, t.target())
	}
	return nil
}

func (t *storeTrial) roundTrip(ctx context.Context) error {
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

// locate asks where an object is that this rank puts, or another one has put.
func (t *storeTrial) locate(ctx context.Context) (err error) {
	if t.me != 0 {
		return nil
	}
	owner := 1
	if t.kind == Publish {
		owner = 0
		if err := hoplite.Put(ctx, t.store, t.id(owner), t.mine); err != nil {
			return err
		}
	}
	t.found, err = t.store.Locations(ctx, t.id(owner))
	return err
}

// checkFound compares the answer of the directory with the object that was put.
func (t *storeTrial) checkFound() error {
	owner := gaspi.Rank(1)
	if t.kind == Publish {
		owner = 0
	}
	if want := int64(len(t.mine) * elementBytes); t.found.Size != want || !slices.Contains(t.found.Ranks, owner) {
		return fmt.Errorf("the directory has %d bytes at ranks %v, want %d at rank %d", t.found.Size, t.found.Ranks, want, owner)
	}
	return nil
}

// sources are the ids of what all ranks put.
func (t *storeTrial) sources() []string {
	all := make([]string, t.n)
	for r := range all {
		all[r] = t.id(r)
	}
	return all
}

// get gets objects at once, and keeps them where they are.
func (t *storeTrial) get(ctx context.Context, ids ...string) error {
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
func (t *storeTrial) check() error {
	if t.kind.directory() && t.me == 0 {
		return t.checkFound()
	}
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
func (t *storeTrial) weight(i int) int {
	switch t.kind {
	case RoundTrip:
		return 2 - t.me // that of the other of ranks 0 and 1
	case Broadcast:
		return 1
	case Gather:
		return i + 1
	}
	return t.n * (t.n + 1) / 2
}

// after gives up what was got and deletes what this rank has put.
func (t *storeTrial) after(ctx context.Context) error {
	for _, ref := range t.refs {
		ref.Release()
	}
	t.refs = nil
	if t.kind.puts(t.me) {
		if err := t.store.Delete(ctx, t.id(t.me)); err != nil {
			return err
		}
	}
	if t.me == 0 && (t.kind == Reduce || t.kind == AllReduce) {
		return t.store.Delete(ctx, t.target())
	}
	return nil
}
