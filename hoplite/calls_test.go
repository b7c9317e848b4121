package hoplite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
)

// wants says that err is not what it should match.
func wants(what string, err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("%s: %v, want %v", what, err, want)
}

// brief is ctx with a time after which what waits would wait for ever.
func brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 20*time.Millisecond)
}

func TestArgumentsThatMakeNoSense(t *testing.T) {
	job(t, 1, hoplite.Config{Capacity: 1 << 16}, func(ctx context.Context, _ *gaspi.Proc, s *hoplite.Store) error {
		long := strings.Repeat("x", 1025)
		_, getErr := hoplite.Get[byte](ctx, s, long)
		_, ptrErr := hoplite.Get[*int](ctx, s, "x")
		_, waitErr := s.Wait(ctx)
		_, noneErr := hoplite.Reduce[int32](ctx, s, "t", nil, hoplite.Sum)
		_, twiceErr := hoplite.Reduce[int32](ctx, s, "t", []string{"a", "b", "a"}, hoplite.Sum)
		_, selfErr := hoplite.Reduce[int32](ctx, s, "t", []string{"a", "t"}, hoplite.Sum)
		_, manyErr := hoplite.ReduceFirst[int32](ctx, s, "t", []string{"a"}, 2, hoplite.Sum)
		_, opErr := hoplite.Reduce[float32](ctx, s, "t", []string{"a"}, hoplite.Xor)
		for want, err := range map[string]error{
			`hoplite: put: an id of 0 bytes`: hoplite.Put(ctx, s, "", []byte{1}),
			`hoplite: get "xxx`:              getErr,
			`hoplite: get "x": sizes do not fit: elements of type *int have pointers`: ptrErr,
			`elements of type struct {} have no size`:                                 hoplite.Put(ctx, s, "x", make([]struct{}, 3)),
			`elements of type string have pointers`:                                   hoplite.Put(ctx, s, "x", []string{"a"}),
			`hoplite: wait: no ids`:                                                   waitErr,
			`0 of 0 sources`:                                                          noneErr,
			`"a" is named twice`:                                                      twiceErr,
			`"t" is named twice`:                                                      selfErr,
			`2 of 1 sources`:                                                          manyErr,
			`xor is not defined for`:                                                  opErr,
			`hoplite: delete: an id of 0 bytes`:                                       s.Delete(ctx, ""),
		} {
			var e *hoplite.Error
			if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &e) {
				t.Errorf("got %v, want an *Error that says %q", err, want)
			}
		}
		return hoplite.Put(ctx, s, long[:1024], []byte{1})
	})
}

func TestTwoPutsOfOneID(t *testing.T) {
	job(t, 3, hoplite.Config{Capacity: 1 << 20, Chunk: 4096}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		for _, n := range []int{0, 1, 512, 513, 10_000} {
			id := fmt.Sprint(n)
			if err := hoplite.Put(ctx, s, id, numbers(1, n)); err != nil {
				return fmt.Errorf("the same bytes: %w", err)
			}
			if err := hoplite.Put(ctx, s, id, numbers(1, n)); err != nil {
				return fmt.Errorf("the same bytes again: %w", err)
			}
			if err := wants("another size", hoplite.Put(ctx, s, id, numbers(1, n+1)), hoplite.ErrExists); err != nil {
				return err
			}
			if n == 0 || n > 512 {
				continue
			}
			if err := wants("another content", hoplite.Put(ctx, s, id, numbers(2, n)), hoplite.ErrExists); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestGetWaitsForPutAlsoAfterDelete(t *testing.T) {
	job(t, 3, hoplite.Config{Capacity: 1 << 20, Inline: 64}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		for round, n := range []int{1, 1000} {
			id := name("x", round)
			if p.Rank() == 0 {
				short, cancel := brief(ctx)
				_, err := hoplite.Get[int64](short, s, id)
				cancel()
				if err := wants("nobody has put it", err, context.DeadlineExceeded); err != nil {
					return err
				}
			}
			if err := meet(ctx, p); err != nil {
				return err
			}
			for tag := range 3 {
				var got []int64
				var err error
				done := make(chan struct{})
				go func() {
					defer close(done)
					got, err = hoplite.Get[int64](ctx, s, id)
				}()
				if int(p.Rank()) == tag {
					if err := hoplite.Put(ctx, s, id, numbers(tag, n)); err != nil {
						return err
					}
				}
				<-done
				if err != nil {
					return err
				}
				if err := same(got, numbers(tag, n)); err != nil {
					return err
				}
				if err := meet(ctx, p); err != nil {
					return err
				}
				if p.Rank() == 1 {
					if err := s.Delete(ctx, id); err != nil {
						return err
					}
				}
				if err := meet(ctx, p); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func meet(ctx context.Context, p *gaspi.Proc) error { return p.Barrier(ctx, p.World()) }

func TestFullStore(t *testing.T) {
	job(t, 2, hoplite.Config{Capacity: 64 << 10, Inline: -1}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		mine, other := name("x", int(p.Rank())), name("x", 1-int(p.Rank()))
		if err := hoplite.Put(ctx, s, mine, numbers(1, 6000)); err != nil {
			return err
		}
		if err := wants("a second that does not fit", hoplite.Put(ctx, s, "y"+mine, numbers(1, 6000)), hoplite.ErrFull); err != nil {
			return err
		}
		if err := meet(ctx, p); err != nil {
			return err
		}
		_, err := hoplite.Get[int64](ctx, s, other)
		if err := wants("get without room", err, hoplite.ErrFull); err != nil {
			return err
		}
		if err := wants("larger than the store", hoplite.Put(ctx, s, "z"+mine, numbers(1, 9000)), hoplite.ErrFull); err != nil {
			return err
		}
		if err := meet(ctx, p); err != nil {
			return err
		}
		if p.Rank() == 1 {
			return meet(ctx, p)
		}
		if err := s.Delete(ctx, mine); err != nil {
			return err
		}
		// A copy makes room for another one by itself.
		for range 3 {
			got, err := hoplite.Get[int64](ctx, s, other)
			if err != nil {
				return err
			}
			if err := same(got, numbers(1, 6000)); err != nil {
				return err
			}
			if err := hoplite.Put(ctx, s, "z", numbers(3, 6000)); err != nil {
				return fmt.Errorf("in place of a copy: %w", err)
			}
			if err := s.Delete(ctx, "z"); err != nil {
				return err
			}
		}
		return meet(ctx, p)
	})
}

// A Ref shows the object until it is released, whatever becomes of the object.
func TestRefOutlivesItsObject(t *testing.T) {
	job(t, 2, hoplite.Config{Capacity: 64 << 10, Inline: 100}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		if p.Rank() == 1 {
			return nil
		}
		for _, n := range []int{0, 5, 4000} {
			if err := hoplite.Put(ctx, s, "x", numbers(1, n)); err != nil {
				return err
			}
			ref, err := hoplite.GetReadOnly[int64](ctx, s, "x")
			if err != nil {
				return err
			}
			if err := s.Delete(ctx, "x"); err != nil {
				return err
			}
			if n == 4000 { // the next object has to wait for the reference
				short, cancel := brief(ctx)
				err := hoplite.Put(short, s, "y", numbers(2, 8100))
				cancel()
				if err := wants("no room while it is held", err, context.DeadlineExceeded); err != nil {
					return err
				}
			} else if err := hoplite.Put(ctx, s, "y", numbers(2, 8100)); err != nil {
				return err
			}
			if err := same(ref.Data(), numbers(1, n)); err != nil {
				return err
			}
			ref.Release()
			ref.Release()
			if err := hoplite.Put(ctx, s, "y", numbers(2, 8100)); err != nil {
				return err
			}
			if err := s.Delete(ctx, "y"); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestGetOfOtherTypesAndSizes(t *testing.T) {
	job(t, 1, hoplite.Config{Capacity: 1 << 20}, func(ctx context.Context, _ *gaspi.Proc, s *hoplite.Store) error {
		type pair struct {
			A int32
			B float32
		}
		if err := hoplite.Put(ctx, s, "pairs", []pair{{1, 2}, {3, 4}, {5, 6}}); err != nil {
			return err
		}
		pairs, err := hoplite.Get[pair](ctx, s, "pairs")
		if err != nil {
			return err
		}
		if err := same(pairs, []pair{{1, 2}, {3, 4}, {5, 6}}); err != nil {
			return err
		}
		_, err = hoplite.Get[[5]byte](ctx, s, "pairs")
		if err := wants("24 bytes by 5", err, hoplite.ErrMismatch); err != nil {
			return err
		}
		dst := make([]int32, 8)
		if n, err := hoplite.GetInto(ctx, s, "pairs", dst); err != nil || n != 6 || dst[4] != 5 || dst[6] != 0 {
			return fmt.Errorf("got %d elements %v, %v", n, dst, err)
		}
		_, err = hoplite.GetInto(ctx, s, "pairs", dst[:5])
		return wants("into too little", err, hoplite.ErrMismatch)
	})
}

func TestWaitAndLocations(t *testing.T) {
	job(t, 3, hoplite.Config{Capacity: 1 << 20, Inline: -1}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		if p.Rank() == 1 {
			if err := hoplite.Put(ctx, s, "b", numbers(1, 100)); err != nil {
				return err
			}
		}
		id, err := s.Wait(ctx, "a", "b", "c")
		if err != nil || id != "b" {
			return fmt.Errorf("waited for %q, %w", id, err)
		}
		if err := meet(ctx, p); err != nil {
			return err
		}
		where, err := s.Locations(ctx, "b")
		if err != nil || where.Size != 800 || where.Complete != 1 || len(where.Ranks) != 1 || where.Ranks[0] != 1 {
			return fmt.Errorf("it is at %+v, %w; want rank 1", where, err)
		}
		if err := meet(ctx, p); err != nil {
			return err
		}
		if p.Rank() == 2 {
			_, err := hoplite.Get[int64](ctx, s, "b")
			return err
		}
		// The copies are seen to grow.
		for where, err := range s.Watch(ctx, "b") {
			if err != nil {
				return err
			}
			if where.Complete == 2 {
				break
			}
		}
		for _, err := range s.Watch(ctx, "") {
			if err == nil {
				return errors.New("an empty id was watched")
			}
		}
		short, cancel := brief(ctx)
		defer cancel()
		for _, err := range s.Watch(short, "never") {
			if err := wants("watching nothing", err, context.DeadlineExceeded); err != nil {
				return err
			}
		}
		return nil
	})
}

// Many goroutines of a rank call at once.
func TestGASPIConcurrentStoreInManyGoroutines(t *testing.T) {
	job(t, 3, hoplite.Config{Capacity: 4 << 20, Inline: 256, Chunk: 1024, Slots: 64}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		errs := make([]error, 12)
		var all sync.WaitGroup
		for g := range errs {
			all.Go(func() {
				for round := 0; round < 10 && errs[g] == nil; round++ {
					n := 1 + g*97
					what := fmt.Sprintf("%d.%d", g, round)
					if errs[g] = reduceOnce(ctx, p, s, what, n); errs[g] == nil && p.Rank() == 0 && round%2 == 0 {
						continue // left to lie
					}
				}
			})
		}
		all.Wait()
		return errors.Join(errs...)
	})
}
