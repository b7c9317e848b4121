//go:build !race

package threads

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// These tests start ranks as processes. The race detector knows nothing of orders in mapped
// memory, so they run without it.

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{
		"plays": ranktest.Rank(config, func(ctx context.Context, p *gaspi.Proc, args []string) error {
			seed, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return err
			}
			return play(ctx, p, seed, 6, 25)
		}),
		"loses": ranktest.Rank(config, func(ctx context.Context, p *gaspi.Proc, args []string) error {
			seed, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return err
			}
			return playToDeath(ctx, p, seed, 6, victim, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}),
	})
}

// victim is the rank that ends itself.
const victim = gaspi.Rank(1)

// TestThreadsOfSurvivors kills a rank while six goroutines of each are in all kinds of
// calls. The calls of the other ranks end.
func TestThreadsOfSurvivors(t *testing.T) {
	for _, transport := range []string{"auto", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			cfg := launcher.Config{Ranks: 4, Transport: transport, OnFailure: launcher.Continue}
			o := ranktest.Run(t, cfg, "loses", strconv.FormatUint(newSeed(t), 10))
			for _, r := range o.Ranks {
				if r.Failed() != (r.Rank == victim) {
					t.Errorf("rank %d: status %d, signal %v\n%s", r.Rank, r.Status, r.Signal, o.Output)
				}
			}
		})
	}
}

// TestThreadsOfProcesses plays with ranks that share memory, and with ranks that do not.
func TestThreadsOfProcesses(t *testing.T) {
	for _, transport := range []string{"auto", "tcp"} {
		for _, n := range []int{2, 4} {
			t.Run(fmt.Sprintf("%s %d", transport, n), func(t *testing.T) {
				cfg := launcher.Config{Ranks: n, Transport: transport}
				ranktest.Succeeds(t, cfg, "plays", strconv.FormatUint(newSeed(t), 10))
			})
		}
	}
}
