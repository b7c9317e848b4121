package gaspi_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

// A rank that falls silent is gone for the others, and they for it. All stay until all know:
// each has a clock of its own, and who leaves is gone for those that do not know yet.
func TestSilentRank(t *testing.T) {
	for _, loss := range []string{
		"loss-of-rank=1@50ms,detect=50ms",
		"loss-of-rank=1@1ns,detect=1ns", // while ranks are being started
	} {
		t.Run(loss, func(t *testing.T) { loseSilentRank(t, loss) })
	}
}

func loseSilentRank(t *testing.T, loss string) {
	var known sync.WaitGroup
	known.Add(3)
	cfg := small
	cfg.Emulate, cfg.KeepGoing = "latency=100us,"+loss, true
	err := gaspi.Local(t.Context(), 3, cfg, func(ctx context.Context, p *gaspi.Proc) error {
		defer known.Wait()
		defer known.Done()
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
