package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A rank that falls silent is gone for the others, and they for it.
func TestSilentRank(t *testing.T) {
	cfg := small
	cfg.Emulate, cfg.KeepGoing = "latency=100us,loss-of-rank=1@50ms,detect=50ms", true
	err := gaspi.Local(t.Context(), 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		for {
			err := p.Barrier(ctx, p.World())
			var gone *gaspi.RankError
			switch {
			case err == nil:
			case !errors.As(err, &gone):
				return err
			case p.Rank() != 1 && gone.Rank != 1:
				return fmt.Errorf("rank %d is gone: %w", gone.Rank, err)
			default:
				return nil
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}
