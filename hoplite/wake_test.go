package hoplite

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite/internal/core"
)

// Goal: a caller that waits, and does turns meanwhile, is woken by the call of another goroutine
// of its rank that ends its own, although nothing arrives from another rank.
func TestCallsOfARankWakeEachOther(t *testing.T) {
	for _, call := range callsThatWait() {
		for _, size := range []int{1, 100000} {
			for ranks := 1; ranks <= 3; ranks++ {
				t.Run(fmt.Sprintf("%s/%d elements/%d ranks", call.name, size, ranks), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { wakeEachOther(t, ranks, size, call.wait) })
				})
			}
		}
	}
}

type callThatWaits struct {
	name string
	wait func(ctx context.Context, s *Store, id string) error // for the object, of uint32
}

func callsThatWait() []callThatWaits {
	return []callThatWaits{
		{"Get", func(ctx context.Context, s *Store, id string) error {
			_, err := Get[uint32](ctx, s, id)
			return err
		}},
		{"GetReadOnly", func(ctx context.Context, s *Store, id string) error {
			ref, err := GetReadOnly[uint32](ctx, s, id)
			if err == nil {
				ref.Release()
			}
			return err
		}},
		{"Wait", func(ctx context.Context, s *Store, id string) error {
			_, err := s.Wait(ctx, id)
			return err
		}},
		{"Locations", func(ctx context.Context, s *Store, id string) error {
			_, err := s.Locations(ctx, id)
			return err
		}},
		{"Reduce", func(ctx context.Context, s *Store, id string) error {
			_, err := Reduce[uint32](ctx, s, "sum of "+id, []string{id}, Sum)
			return err
		}},
	}
}

// wakeEachOther makes a call wait for several objects in turn, each of which another goroutine of
// its rank puts when all goroutines of the job are asleep. By the clock of the bubble the call
// takes no time after that.
func wakeEachOther(t *testing.T, ranks, size int, wait func(ctx context.Context, s *Store, id string) error) {
	const objects = 4
	cfg := gaspi.Config{Spin: -1, Yield: -1}
	err := gaspi.Local(t.Context(), ranks, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		s, err := Open(ctx, p.World(), Config{Capacity: 4 << 20})
		if err != nil {
			return err
		}
		for i := 0; i < objects && p.Rank() == 0; i++ {
			id := fmt.Sprintf("object %d", i)
			ended := make(chan error)
			go func() {
				limited, cancel := context.WithTimeout(ctx, time.Minute)
				defer cancel()
				ended <- wait(limited, s, id)
			}()
			synctest.Wait()
			begun := time.Now()
			if err := Put(ctx, s, id, make([]uint32, size)); err != nil {
				return err
			}
			if err := <-ended; err != nil || time.Since(begun) > 0 {
				t.Errorf("%s: ended after %v with %v", id, time.Since(begun), err)
			}
		}
		if err := p.Barrier(ctx, p.World()); err != nil {
			return err
		}
		return s.Close(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}

// Goal: a caller does the turns of its call from the start, so that the loop, which an answer wakes, leaves them to it;
// and it wakes the loop for none of them.
func TestCallerDoesTurnsFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := gaspi.Local(t.Context(), 1, gaspi.Config{Spin: -1, Yield: -1}, func(ctx context.Context, p *gaspi.Proc) error {
			s, err := Open(ctx, p.World(), Config{Capacity: 1 << 20})
			if err != nil {
				return err
			}
			var c *openCall
			c = newCall(func(k *core.Core, id core.CallID) {
				if s.front.Load() != c {
					t.Error("a call begins in a turn that its caller may not do")
				}
				k.Get(id, "x")
			})
			if err := Put(ctx, s, "x", []byte{1}); err != nil {
				return err
			}
			synctest.Wait() // the loop sleeps
			// A call that meets a turn of the loop wakes it, as that Put may have; nobody takes the notification.
			if _, err := s.seg.Reset(s.lay.doorbell()); err != nil {
				return err
			}
			res, err := s.run(ctx, "get", "x", c)
			if err != nil {
				return err
			}
			if s.seg.Peek(s.lay.doorbell()) != 0 {
				t.Error("a caller has woken the loop, and had the result itself")
			}
			if s.front.Load() != nil {
				t.Error("a call that has ended does turns")
			}
			s.letGo(res.Ref)
			return s.Close(ctx)
		})
		if err != nil {
			t.Error(err)
		}
	})
}
