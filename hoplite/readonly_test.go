package hoplite_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Goal: an object is read where another rank of the host has put it, though this rank has no room for a copy; and
// that rank has the memory for something else when the last has released it, not when the object is deleted.
func TestReadOnlyTakesNoRoom(t *testing.T) {
	const n = 16 << 10
	job(t, 3, hoplite.Config{Capacity: 12 * n}, func(ctx context.Context, p *gaspi.Proc, s *hoplite.Store) error {
		mine := numbers(int(p.Rank()), n)
		if err := hoplite.Put(ctx, s, fmt.Sprint(p.Rank()), mine); err != nil {
			return err
		}
		if p.Rank() == 0 {
			if err := p.Barrier(ctx, p.World()); err != nil { // the others read it
				return err
			}
			if err := s.Delete(ctx, "0"); err != nil {
				return err
			}
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
			return hoplite.Put(ctx, s, "again", numbers(9, n))
		}
		if _, err := hoplite.Get[int64](ctx, s, "0"); !errors.Is(err, hoplite.ErrFull) {
			return fmt.Errorf("a copy without room: %v, want %v", err, hoplite.ErrFull)
		}
		ref, err := hoplite.GetReadOnly[int64](ctx, s, "0")
		if err != nil {
			return err
		}
		for range 2 { // it is there, and then it is deleted
			if err := p.Barrier(ctx, p.World()); err != nil {
				return err
			}
		}
		err = same(ref.Data(), numbers(0, n))
		ref.Release()
		if err != nil {
			return err
		}
		again, err := hoplite.GetReadOnly[int64](ctx, s, "again")
		if err != nil {
			return err
		}
		defer again.Release()
		return same(again.Data(), numbers(9, n))
	})
}

// Goal: what a program reads in the store of another process stays when that is killed. A later Get is told that the object
// is lost.
func TestReadOnlyOutlivesItsOwner(t *testing.T) {
	res := ranktest.Run(t, launcher.Config{Ranks: 3, Transport: "shm", OnFailure: launcher.Continue}, "heir")
	for _, r := range res.Ranks {
		if r.Failed() != (r.Rank == 0) {
			t.Errorf("rank %d ended with %d\n%s\n%s", r.Rank, r.Code(), res.Sentence, res.Output)
		}
	}
}

// playHeir has ranks read an object of rank 0, which is killed by rank 1.
func playHeir(ctx context.Context, p *gaspi.Proc, _ []string) error {
	const n = 100_000
	s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 16 * n})
	if err != nil {
		return err
	}
	if p.Rank() == 0 {
		if err := hoplite.Put(ctx, s, "legacy", numbers(7, n)); err != nil {
			return err
		}
		_, err := hoplite.Get[int64](ctx, s, "nothing") // until it is killed
		return err
	}
	ref, err := hoplite.GetReadOnly[int64](ctx, s, "legacy")
	if err != nil {
		return err
	}
	if err := hoplite.Put(ctx, s, fmt.Sprint("read by ", p.Rank()), []int64{1}); err != nil {
		return err
	}
	if p.Rank() == 1 {
		if _, err := hoplite.Get[int64](ctx, s, "read by 2"); err != nil {
			return err
		}
		if err := p.Kill(ctx, 0); err != nil {
			return err
		}
		if err := hoplite.Put(ctx, s, "killed", []int64{1}); err != nil {
			return err
		}
	}
	if _, err := hoplite.Get[int64](ctx, s, "killed"); err != nil {
		return err
	}
	if _, err := hoplite.Get[int64](ctx, s, "legacy"); !errors.Is(err, hoplite.ErrLost) {
		return fmt.Errorf("a Get after the death of the only owner: %v, want %v", err, hoplite.ErrLost)
	}
	if err := same(ref.Data(), numbers(7, n)); err != nil {
		return err
	}
	ref.Release()
	return s.Close(ctx)
}
