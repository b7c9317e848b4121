package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// storeConfig has its links given, since nothing is measured in a bubble. Objects of more
// than 64 bytes lie with whoever has put them.
func storeConfig() hoplite.Config {
	return hoplite.Config{Capacity: 1 << 17, Inline: 64, Chunk: 1024, Slots: 16, Links: hoplite.Links{Bandwidth: 1e9, Latency: 1e-4}}
}

// elements is the length of the objects of a member: a store does not get full until the
// fault is known, also of those of a rank that is stopped, whose calls go on alone.
func (m *member) elements() int { return min(m.count, 300) }

// objects is how many objects each member has put before the call.
const objects = 4

func object(r gaspi.Rank, i int) string { return fmt.Sprintf("%d of %d", i%objects, r) }

// inStore makes an open of a call of a store, in which each member has put objects.
func inStore(do func(ctx context.Context, m *member, s *hoplite.Store, i int) error) func(context.Context, *member) (step, error) {
	return func(ctx context.Context, m *member) (step, error) {
		s, err := hoplite.Open(ctx, m.group, storeConfig())
		for i := 0; i < objects && err == nil; i++ {
			err = hoplite.Put(ctx, s, object(m.p.Rank(), i), make([]int64, m.elements()))
		}
		if err == nil {
			err = meet(ctx, m)
		}
		m.end = func(ctx context.Context, _ int) error { return s.Close(ctx) }
		return func(ctx context.Context, i int) error { return do(ctx, m, s, i) }, err
	}
}

// meet connects all members. A store holds its lock while it connects, which would stop
// the clock of a bubble.
func meet(ctx context.Context, m *member) error {
	for _, r := range m.group.Ranks() {
		if err := m.p.Ping(ctx, r); err != nil {
			return err
		}
	}
	return m.p.Barrier(ctx, m.group)
}

// unless returns err, but nil if it says that an object of a rank that this one has lost
// is lost. The directory may have heard of that a moment earlier.
func unless(err error, m *member, owners ...gaspi.Rank) error {
	if !errors.Is(err, hoplite.ErrLost) {
		return err
	}
	for range 100 {
		for _, r := range owners {
			if m.p.Failure(r) != nil {
				return nil
			}
		}
		pause(context.Background(), time.Millisecond)
	}
	return err
}

func hopliteRows() []row {
	own := func(m *member, i int) string { return fmt.Sprintf("own %d of %d", i, m.me) }
	rows := []row{
		{call: "hoplite.Open", needs: needsTeam, open: func(ctx context.Context, m *member) (step, error) {
			return func(ctx context.Context, _ int) error {
				s, err := hoplite.Open(ctx, m.group, storeConfig())
				if err != nil {
					return err
				}
				return s.Close(ctx)
			}, meet(ctx, m)
		}},
		{call: "hoplite.Store.Close", needs: needsNobody, once: true, open: inStore(func(ctx context.Context, m *member, s *hoplite.Store, _ int) error {
			return s.Close(ctx)
		})},
		{call: "hoplite.Put", needs: needsNobody, open: inStore(func(ctx context.Context, m *member, s *hoplite.Store, i int) error {
			return hoplite.Put(ctx, s, own(m, i), make([]int64, m.elements()))
		})},
		{call: "hoplite.Store.Delete", needs: needsNobody, open: inStore(func(ctx context.Context, m *member, s *hoplite.Store, i int) error {
			if err := hoplite.Put(ctx, s, own(m, i), make([]int64, m.elements())); err != nil {
				return err
			}
			return s.Delete(ctx, own(m, i))
		})},
	}
	return append(append(rows, getRows()...), reduceRows()...)
}

// getRows are calls that need an object of another member.
func getRows() []row {
	get := func(call string, do func(ctx context.Context, s *hoplite.Store, id string) error) row {
		return row{call: "hoplite." + call, needs: needsNobody, dark: true, open: inStore(func(ctx context.Context, m *member, s *hoplite.Store, i int) error {
			r := m.next(i)
			return unless(do(ctx, s, object(r, i/m.size())), m, r)
		})}
	}
	return []row{
		get("Get", func(ctx context.Context, s *hoplite.Store, id string) error {
			_, err := hoplite.Get[int64](ctx, s, id)
			return err
		}),
		get("GetInto", func(ctx context.Context, s *hoplite.Store, id string) error {
			_, err := hoplite.GetInto(ctx, s, id, make([]int64, 1<<12))
			return err
		}),
		get("GetReadOnly", func(ctx context.Context, s *hoplite.Store, id string) error {
			ref, err := hoplite.GetReadOnly[int64](ctx, s, id)
			if err == nil {
				ref.Release()
			}
			return err
		}),
		get("Store.Locations", func(ctx context.Context, s *hoplite.Store, id string) error {
			_, err := s.Locations(ctx, id)
			return err
		}),
		get("Store.Wait", func(ctx context.Context, s *hoplite.Store, id string) error {
			_, err := s.Wait(ctx, id)
			return err
		}),
		get("Store.Watch", func(ctx context.Context, s *hoplite.Store, id string) error {
			for _, err := range s.Watch(ctx, id) {
				return err // the first news is enough
			}
			return nil
		}),
	}
}

// reduceRows are calls that need an object of each member.
func reduceRows() []row {
	reduce := func(call string, do func(ctx context.Context, s *hoplite.Store, target string, ids []string) error) row {
		return row{call: "hoplite." + call, needs: needsNobody, dark: true, open: inStore(func(ctx context.Context, m *member, s *hoplite.Store, i int) error {
			var ids []string
			for _, r := range m.group.Ranks() {
				ids = append(ids, object(r, i))
			}
			return unless(do(ctx, s, fmt.Sprintf("sum %d of %d", i, m.me), ids), m, m.group.Ranks()...)
		})}
	}
	return []row{
		reduce("Reduce", func(ctx context.Context, s *hoplite.Store, target string, ids []string) error {
			_, err := hoplite.Reduce[int64](ctx, s, target, ids, hoplite.Sum)
			return err
		}),
		reduce("ReduceFirst", func(ctx context.Context, s *hoplite.Store, target string, ids []string) error {
			_, err := hoplite.ReduceFirst[int64](ctx, s, target, ids, (len(ids)+1)/2, hoplite.Sum)
			return err
		}),
	}
}
