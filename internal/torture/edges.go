package torture

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/collectives"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// edges are arguments at the limits of what makes sense, and calls that do not match.
func edges(ctx context.Context, s *scene) error {
	if err := refuse(ctx, s, (*bad).limits); err != nil {
		return err
	}
	for _, scenario := range []struct {
		name string
		play func(ctx context.Context, s *scene) error
	}{
		{"a store that is full", fullStore},
		{"objects that do not fit", misfits},
		{"reductions that do not match", mismatchedReductions},
		{"collective calls that do not match", mismatchedCalls},
	} {
		if err := scenario.play(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", scenario.name, err)
		}
		s.did(1)
	}
	return s.barrier(ctx, s.own(3))
}

// limits are refusals of calls that move nothing, or that come after the end.
func (b *bad) limits() []refusal {
	size := b.seg.Size()
	wild := b.seg.At(b.peer, size+1)
	empty, err := b.seg.Span(0, 0)
	if err != nil {
		panic(err) // it is inside
	}
	note := gaspi.Notification{ID: 3, Value: 1}
	list := []gaspi.Transfer{{Local: empty, Remote: wild}}
	gone := func() *gaspi.Segment {
		seg, err := b.p.AllocSegment(b.base+6, 64)
		if err == nil {
			err = seg.Delete()
		}
		if err != nil {
			panic(err) // the id is free
		}
		return seg
	}
	return []refusal{
		{"WriteNotify of nothing beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.WriteNotify(wild, empty, note) }},
		{"Write of nothing beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.Write(wild, empty) }},
		{"Read of nothing beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.Read(empty, wild) }},
		{"WriteList of nothing beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.WriteList(list) }},
		{"ReadList of nothing beyond the end", gaspi.ErrOutOfRange, func() error { return b.q.ReadList(list) }},
		{"Reset after Delete", gaspi.ErrClosed, func() error { _, err := gone().Reset(0); return err }},
		{"WaitSome after Delete", gaspi.ErrClosed, func() error { _, err := gone().WaitSome(b.ctx, 0, 1); return err }},
		{"Delete after Delete", gaspi.ErrClosed, func() error { return gone().Delete() }},
	}
}

// fullStore puts an object that takes all of a store, whatever its capacity.
func fullStore(ctx context.Context, s *scene) error {
	capacity := pick(s.plan, 1<<20, 1_500_000, 100_000+s.plan.IntN(100_000))
	store, err := hoplite.Open(ctx, s.g, hoplite.Config{Capacity: int64(capacity)})
	if err != nil {
		return err
	}
	data := make([]byte, capacity)
	fill(data, s.key)
	if s.me == 0 {
		if err := hoplite.Put(ctx, store, "all", data); err != nil {
			return fmt.Errorf("put of %d bytes into an empty store of that capacity: %w", capacity, err)
		}
		if err := hoplite.Put(ctx, store, "more", data[:90_000]); !errors.Is(err, hoplite.ErrFull) {
			return fmt.Errorf("put into a store that is full: %v, want %v", err, hoplite.ErrFull)
		}
	}
	ref, err := hoplite.GetReadOnly[byte](ctx, store, "all")
	if err != nil {
		return fmt.Errorf("get of %d bytes into a store of that capacity: %w", capacity, err)
	}
	if at := differ(ref.Data(), data); at >= 0 {
		return fmt.Errorf("byte %d of %d is wrong", at, capacity)
	}
	ref.Release()
	return store.Close(ctx)
}

// misfits are objects whose names, sizes and types do not fit.
func misfits(ctx context.Context, s *scene) error {
	store, err := hoplite.Open(ctx, s.g, hoplite.Config{Capacity: 1 << 20})
	if err != nil {
		return err
	}
	id := func(what string) string { return fmt.Sprint(what, " of ", s.me) }
	err = errors.Join(hoplite.Put(ctx, store, id("five"), []byte{1, 2, 3, 4, 5}), hoplite.Put(ctx, store, id("six"), make([]byte, 6)),
		hoplite.Put(ctx, store, id("five"), []byte{1, 2, 3, 4, 5}), hoplite.Put(ctx, store, id("none"), []byte{}), store.Delete(ctx, id("nothing")))
	if err != nil {
		return err
	}
	for _, r := range []refusal{
		{"another size under the same id", hoplite.ErrExists, func() error { return hoplite.Put(ctx, store, id("five"), []byte{1}) }},
		{"another content under the same id", hoplite.ErrExists, func() error { return hoplite.Put(ctx, store, id("five"), []byte{1, 2, 3, 4, 6}) }},
		{"no whole number of elements", hoplite.ErrMismatch, func() error { _, err := hoplite.Get[uint32](ctx, store, id("five")); return err }},
		{"longer than the destination", hoplite.ErrMismatch, func() error { _, err := hoplite.GetInto(ctx, store, id("five"), make([]byte, 4)); return err }},
		{"sources of two sizes", hoplite.ErrMismatch, func() error {
			_, err := hoplite.Reduce[byte](ctx, store, id("sum"), []string{id("five"), id("six")}, hoplite.Sum)
			return err
		}},
		{"a target that exists", hoplite.ErrExists, func() error {
			_, err := hoplite.Reduce[byte](ctx, store, id("six"), []string{id("five")}, hoplite.Sum)
			return err
		}},
	} {
		if err := r.call(); !errors.Is(err, r.want) {
			return fmt.Errorf("%s: %v, want %v", r.name, err, r.want)
		}
	}
	none, err := hoplite.Get[byte](ctx, store, id("none"))
	if err != nil || len(none) != 0 {
		return fmt.Errorf("an empty object: %v, %w", none, err)
	}
	if err := store.Close(ctx); err != nil {
		return err
	}
	if err := hoplite.Put(ctx, store, "late", none); !errors.Is(err, hoplite.ErrClosed) {
		return fmt.Errorf("put after Close: %v, want %v", err, hoplite.ErrClosed)
	}
	return nil
}

// mismatchedReductions are made by members that do not agree: all get the error.
func mismatchedReductions(ctx context.Context, s *scene) error {
	if len(s.members) == 1 {
		return nil
	}
	n := 5
	if s.me == s.plan.IntN(len(s.members)) {
		n = 6
	}
	g, err := s.subgroup(ctx, s.own(4), s.members, s.key)
	if err != nil {
		return err
	}
	if _, err := ssp.New[float64](ctx, g.g, n, ssp.Sum, 1); !errors.Is(err, gaspi.ErrMismatch) {
		return fmt.Errorf("calls of New with different lengths: %v, want %v", err, gaspi.ErrMismatch)
	}
	if err := s.barrier(ctx, s.own(5)); err != nil {
		return err
	}
	return g.g.Delete()
}

// mismatchedCalls has one member call something else; after Reset the team is as new.
func mismatchedCalls(ctx context.Context, s *scene) error {
	team, err := collectives.NewTeam(ctx, s.g, collectives.Config{})
	if err != nil {
		return err
	}
	odd, n := s.plan.IntN(len(s.members)), 3
	if s.me == odd {
		n = 4
	}
	buf := make([]int32, n)
	err = collectives.AllReduce(ctx, team, buf, collectives.Sum)
	if len(s.members) > 1 && !errors.Is(err, gaspi.ErrMismatch) {
		return fmt.Errorf("an AllReduce of %d elements, where member %d has another number: %v, want %v", n, odd, err, gaspi.ErrMismatch)
	}
	if len(s.members) > 1 {
		if err := collectives.Barrier(ctx, team); err == nil {
			return errors.New("the team can be used before Reset")
		}
	}
	if err := team.Reset(ctx); err != nil {
		return fmt.Errorf("team.Reset: %w", err)
	}
	one := []int32{int32(s.me)}
	if err := collectives.AllReduce(ctx, team, one, collectives.Max); err != nil || one[0] != int32(len(s.members)-1) {
		return fmt.Errorf("after Reset the greatest number is %d, %w", one[0], err)
	}
	if err := s.barrier(ctx, s.own(6)); err != nil {
		return err
	}
	return team.Close()
}
