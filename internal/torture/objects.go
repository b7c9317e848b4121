package torture

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// depot is a store in a round. Its objects come in batches of one length, each with a
// target that is the sum of all of a batch, or of the first some. Element 0 of the j-th of a
// batch is 1<<j, so that a sum shows what is in it.
type depot struct {
	*scene
	store   *hoplite.Store
	batches []batch
}

// batch is some objects of one length that are reduced.
type batch struct {
	name    string
	length  int // elements of 4 bytes
	sources []string
	owners  []int // the members that put them
	caller  int   // the member that reduces them
	first   int   // how many are combined
	key     uint64
}

func objects(ctx context.Context, s *scene) error {
	plan, rng := s.plan, s.own()
	cfg := hoplite.Config{
		Capacity: int64(pick(plan, 1, 8, 24)) << 20,
		Inline:   pick[int64](plan, 0, -1, 100, 5000),
		Chunk:    pick[int64](plan, 0, 4096, 64<<10),
		Window:   pick(plan, 0, 1, 4),
		Shape:    pick(plan, hoplite.ShapeAuto, hoplite.ShapeChain, hoplite.ShapeGrid, hoplite.ShapeTree),
	}
	store, err := hoplite.Open(ctx, s.g, cfg)
	if err != nil {
		return err
	}
	d := &depot{scene: s, store: store}
	for generation := range 1 + plan.IntN(3) {
		if err := d.generation(ctx, rng, generation, cfg.Capacity); err != nil {
			return fmt.Errorf("%+v, generation %d: %w", cfg, generation, err)
		}
	}
	return s.resume(ctx, rng, store.Close)
}

// draw makes the batches of a generation: the same names as those of the last, with other
// contents. All objects, the copies of all ranks and what reductions need fit into a store.
func (d *depot) draw(generation int, capacity int64) {
	d.batches = make([]batch, 1+d.plan.IntN(4))
	for i := range d.batches {
		n := 1 + d.plan.IntN(7)
		room := int(capacity) / 16 / len(d.batches) / n / 4
		b := batch{
			name: fmt.Sprint("batch ", i), length: 1 + d.plan.IntN(room), caller: d.plan.IntN(len(d.members)),
			first: n, key: mix(d.key, keyObject, uint64(generation), uint64(i)),
		}
		if d.plan.IntN(3) == 0 {
			b.length = 1 + d.plan.IntN(min(room, 300))
		}
		if d.plan.IntN(3) == 0 {
			b.first = 1 + d.plan.IntN(n)
		}
		for j := range n {
			b.sources = append(b.sources, fmt.Sprintf("%s, object %d", b.name, j))
			b.owners = append(b.owners, d.plan.IntN(len(d.members)))
		}
		d.batches[i] = b
	}
}

// content is a source of a batch.
func (b *batch) content(j int) []uint32 {
	a := integer[uint32]()
	v := a.vector(hoplite.Sum, b.key, j, b.length)
	v[0] = 1 << j
	return v
}

// sum checks the target of a batch, and returns which sources are in it.
func (b *batch) sum(got []uint32) (in uint32, err error) {
	if len(got) != b.length || bits.OnesCount32(got[0]) != b.first || got[0]>>len(b.sources) != 0 {
		return 0, fmt.Errorf("%s has %d elements, and is the sum of the sources %#b; want %d elements and %d of %d sources",
			b.name, len(got), got[:min(1, len(got))], b.length, b.first, len(b.sources))
	}
	want := make([]uint32, b.length)
	for j := range b.sources {
		if got[0]>>j&1 != 0 {
			for i, x := range b.content(j) {
				want[i] += x
			}
		}
	}
	return got[0], same(b.name, got, want)
}

// generation puts, gets, reduces and deletes all objects.
func (d *depot) generation(ctx context.Context, rng *rand.Rand, number int, capacity int64) error {
	d.draw(number, capacity)
	var tasks []func(ctx context.Context) error
	for i := range d.batches {
		tasks = append(tasks, func(ctx context.Context) error { return d.produce(ctx, &d.batches[i], uint64(number)) })
	}
	for i := range 1 + rng.IntN(3) {
		tasks = append(tasks, func(ctx context.Context) error { return d.consume(ctx, d.own(5, uint64(number), uint64(i)), false) })
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	fire := d.plan.IntN(2) == 0
	if err := d.barrier(ctx, rng); err != nil {
		return err
	}
	remove := func(ctx context.Context) error { return d.remove(ctx, d.own(6, uint64(number))) }
	tasks = []func(ctx context.Context) error{remove}
	if fire {
		tasks = append(tasks, func(ctx context.Context) error { return d.consume(ctx, d.own(7, uint64(number)), true) })
	}
	if err := parallel(ctx, tasks...); err != nil {
		return err
	}
	if err := d.barrier(ctx, rng); err != nil {
		return err
	}
	if err := d.absent(ctx, rng); err != nil {
		return err
	}
	return d.barrier(ctx, rng)
}

// produce puts what this rank owns of a batch and reduces it if that is this rank's task.
func (d *depot) produce(ctx context.Context, b *batch, number uint64) error {
	rng := d.own(4, number, b.key)
	for j, id := range b.sources {
		if b.owners[j] != d.me {
			continue
		}
		data := b.content(j)
		if err := d.resume(ctx, rng, func(ctx context.Context) error { return hoplite.Put(ctx, d.store, id, data) }); err != nil {
			return fmt.Errorf("put of %q, %d elements: %w", id, b.length, err)
		}
		clear(data) // it is the caller's again
		d.did(1)
	}
	if b.caller != d.me {
		return nil
	}
	used, err := resumed(ctx, d.scene, rng, func(ctx context.Context) ([]string, error) {
		if b.first == len(b.sources) && rng.IntN(2) == 0 {
			return hoplite.Reduce[uint32](ctx, d.store, b.name, b.sources, hoplite.Sum)
		}
		return hoplite.ReduceFirst[uint32](ctx, d.store, b.name, b.sources, b.first, hoplite.Sum)
	})
	if err != nil {
		return fmt.Errorf("reduce of %d of %d objects of %d elements: %w", b.first, len(b.sources), b.length, err)
	}
	got, err := hoplite.Get[uint32](ctx, d.store, b.name)
	if err != nil {
		return fmt.Errorf("get of the own target: %w", err)
	}
	in, err := b.sum(got)
	if err != nil {
		return err
	}
	var said []string
	for j, id := range b.sources {
		if in>>j&1 != 0 {
			said = append(said, id)
		}
	}
	if !slices.Equal(used, said) {
		return fmt.Errorf("%s is the sum of %q; the call said that it used %q", b.name, said, used)
	}
	d.did(1)
	return nil
}

// consume gets all objects in a random order. Under fire they may be deleted meanwhile.
func (d *depot) consume(ctx context.Context, rng *rand.Rand, fire bool) error {
	for _, i := range rng.Perm(len(d.batches)) {
		b := &d.batches[i]
		for _, j := range rng.Perm(len(b.sources) + 1) {
			id := append(slices.Clone(b.sources), b.name)[j]
			data, err := d.fetch(ctx, rng, id, b.length, fire)
			if fire && (errors.Is(err, hoplite.ErrDeleted) || timeLimit(err) && ctx.Err() == nil) {
				continue
			}
			if err != nil {
				return fmt.Errorf("get of %q, %d elements: %w", id, b.length, err)
			}
			if d.mutant("other bytes") {
				data[len(data)-1]++
			}
			if id == b.name {
				_, err = b.sum(data)
			} else {
				err = same(id, data, b.content(j))
			}
			if err != nil {
				return err
			}
			d.did(1)
		}
	}
	return nil
}

// fetch gets an object in one of the ways there are.
func (d *depot) fetch(ctx context.Context, rng *rand.Rand, id string, length int, fire bool) ([]uint32, error) {
	get := func(ctx context.Context) ([]uint32, error) {
		switch rng.IntN(4) {
		case 0:
			data := make([]uint32, length+rng.IntN(3))
			n, err := hoplite.GetInto(ctx, d.store, id, data)
			return data[:n], err
		case 1:
			ref, err := hoplite.GetReadOnly[uint32](ctx, d.store, id)
			if err != nil {
				return nil, err
			}
			data := slices.Clone(ref.Data())
			ref.Release()
			ref.Release()
			return data, nil
		case 2:
			if err := d.locate(ctx, id, length); err != nil {
				return nil, err
			}
		}
		return hoplite.Get[uint32](ctx, d.store, id)
	}
	if fire {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(1+rng.IntN(3))*time.Millisecond)
		defer cancel()
		return get(ctx)
	}
	return resumed(ctx, d.scene, rng, get)
}

// locate waits for an object, and asks where it is.
func (d *depot) locate(ctx context.Context, id string, length int) error {
	if got, err := d.store.Wait(ctx, id); err != nil {
		return err
	} else if got != id {
		return fmt.Errorf("a Wait for %q returned %q", id, got)
	}
	at, err := d.store.Locations(ctx, id)
	if err != nil {
		return err
	}
	if at.Size != int64(4*length) || at.Complete > len(at.Ranks) || slices.ContainsFunc(at.Ranks, func(r gaspi.Rank) bool { return !slices.Contains(d.members, r) }) {
		return fmt.Errorf("locations of %q, %d elements: %+v", id, length, at)
	}
	return nil
}

// remove deletes the objects of which this rank is the owner, or the caller.
func (d *depot) remove(ctx context.Context, rng *rand.Rand) error {
	for _, b := range d.batches {
		ids := append(slices.Clone(b.sources), b.name)
		for j, owner := range append(slices.Clone(b.owners), b.caller) {
			if owner != d.me || d.mutant("not deleted") {
				continue
			}
			if err := d.resume(ctx, rng, func(ctx context.Context) error { return d.store.Delete(ctx, ids[j]) }); err != nil {
				return fmt.Errorf("delete of %q: %w", ids[j], err)
			}
			d.did(1)
		}
	}
	return nil
}

// absent looks for objects that were deleted, and must find none.
func (d *depot) absent(ctx context.Context, rng *rand.Rand) error {
	for _, b := range d.batches {
		id := pick(rng, append(slices.Clone(b.sources), b.name)...)
		short, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(2000))*time.Microsecond)
		_, err := hoplite.Get[uint32](short, d.store, id)
		cancel()
		if !timeLimit(err) || ctx.Err() != nil {
			return fmt.Errorf("get of %q after its delete: %v, want the end of the context", id, err)
		}
	}
	return nil
}
