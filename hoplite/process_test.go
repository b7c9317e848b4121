package hoplite_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/hoplite"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestMain(m *testing.M) {
	cfg := gaspi.Config{Log: slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	testenv.Main(m, map[string]testenv.Role{"tour": ranktest.Rank(cfg, playTour), "mortal": ranktest.Rank(cfg, playMortal), "heir": ranktest.Rank(cfg, playHeir)})
}

// TestProcesses is a tour of the calls between processes: over shared memory, where what is
// written has landed at once, over TCP, and over a network that takes its time.
func TestProcesses(t *testing.T) {
	for _, c := range []struct{ name, transport, network string }{
		{"shm", "shm", ""},
		{"tcp", "tcp", ""},
		{"emulated", "auto", "latency=200us,bandwidth=100MB/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranktest.Succeeds(t, launcher.Config{Ranks: 4, Transport: c.transport, Env: []string{"GASPI_EMULATE=" + c.network}}, "tour")
		})
	}
}

func playTour(ctx context.Context, p *gaspi.Proc, _ []string) error {
	s, err := hoplite.Open(ctx, p.World(), hoplite.Config{Capacity: 32 << 20, Chunk: 16 << 10, Inline: 1000, Slots: 3})
	if err != nil {
		return err
	}
	for round, n := range []int{0, 1, 100, 125, 126, 10_000, 100_000} {
		for _, what := range []string{"a", "b"} {
			if err := reduceOnce(ctx, p, s, fmt.Sprintf("%s %d", what, round), n); err != nil {
				return fmt.Errorf("%d elements: %w", n, err)
			}
		}
	}
	if err := p.Barrier(ctx, p.World()); err != nil {
		return err
	}
	if p.Rank() == 2 {
		for round := range 7 {
			if err := s.Delete(ctx, fmt.Sprintf("a %d", round)); err != nil {
				return err
			}
		}
	}
	return s.Close(ctx)
}

// TestLeavingRanksAreNotKilled has ranks leave the job as soon as they have closed the store. Those that are
// still about to close it find connections closed before they are told why: no reason to end
// a rank for good.
func TestLeavingRanksAreNotKilled(t *testing.T) {
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 3 {
				ranktest.Succeeds(t, launcher.Config{Ranks: 4, Transport: "tcp"}, "tour")
			}
		})
	}
}
