package gaspi_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// An error says which operation failed and where; its cause is within.
func ExampleOpError() {
	check(gaspi.Local(context.Background(), 2, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		seg, err := p.CreateSegment(ctx, 0, 64)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			all, err := seg.Span(0, 64)
			if err != nil {
				return err
			}
			err = p.MustQueue(0).Write(seg.At(1, 8), all) // 8 bytes too long for there
			if failed, ok := errors.AsType[*gaspi.OpError](err); ok {
				fmt.Println(failed.Op, failed.At)
			}
			fmt.Println(errors.Is(err, gaspi.ErrOutOfRange))
		}
		return p.Barrier(ctx, p.World())
	}))
	// Output:
	// write to rank 1 segment 0 [8:+64]
	// true
}

// A member that cannot go on ends the calls of the others, and all go on with another group.
func ExampleRevokedError() {
	check(gaspi.Local(context.Background(), 3, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			if err := p.World().Revoke(errors.New("the input is damaged")); err != nil {
				return err
			}
		}
		err := p.Barrier(ctx, p.World())
		revoked, ok := errors.AsType[*gaspi.RevokedError](err)
		if !ok {
			return fmt.Errorf("a barrier of a group that was revoked: %w", err)
		}
		if p.Rank() == 1 { // the cause is known where Revoke was called
			fmt.Println(revoked.Cause)
		}
		again, err := p.World().Shrink(ctx)
		if err != nil {
			return err
		}
		return p.Barrier(ctx, again)
	}))
	// Output:
	// the input is damaged
}

// A call that needs a rank which is gone fails, and the state vector says from then on that the
// rank is corrupt.
func ExampleHealth() {
	_ = gaspi.Local(context.Background(), 3, gaspi.Config{KeepGoing: true}, func(ctx context.Context, p *gaspi.Proc) error {
		if p.Rank() == 1 {
			return errors.New("a crash")
		}
		if err := p.Barrier(ctx, p.World()); !errors.Is(err, gaspi.ErrRankDead) {
			return fmt.Errorf("a barrier without rank 1: %w", err)
		}
		if p.Rank() == 0 {
			fmt.Println(p.State()[:2], p.Health(1) == gaspi.Corrupt) // rank 2 may have left meanwhile
		}
		return nil
	})
	// Output:
	// [healthy corrupt] true
}
