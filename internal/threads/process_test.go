//go:build !race

package threads

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// These tests start ranks as processes: this test binary again. The race detector knows
// nothing of orders in mapped memory, so they run without it.
const envPlay = "GASPI_THREADS_PLAY"

// TestRankOfAJob is no test but what such a process runs.
func TestRankOfAJob(t *testing.T) {
	text := os.Getenv(envPlay)
	if text == "" {
		return
	}
	if err := playRank(text); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func playRank(text string) error {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p, err := gaspi.Init(ctx, config)
	if err != nil {
		return err
	}
	defer p.Close()
	if os.Getenv(envVictim) != "" {
		return playToDeath(ctx, p, seed, 6, victim, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	}
	return play(ctx, p, seed, 6, 25)
}

// envVictim makes a rank end itself.
const (
	envVictim = "GASPI_THREADS_VICTIM"
	victim    = gaspi.Rank(1)
)

// TestThreadsOfSurvivors kills a rank while six goroutines of each are in all kinds of
// calls. The calls of the other ranks end.
func TestThreadsOfSurvivors(t *testing.T) {
	for _, transport := range []string{"auto", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			var out strings.Builder
			result, err := launcher.Run(t.Context(), launcher.Config{
				Program: "/proc/self/exe", Args: []string{"-test.run=^TestRankOfAJob$"}, Ranks: 4,
				Env:    []string{fmt.Sprintf("%s=%d", envPlay, newSeed(t)), envVictim + "=1", "GASPI_TRANSPORT=" + transport},
				Stdout: &out, Stderr: &out, Timeout: patience, OnFailure: launcher.Continue,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range result.Ranks {
				if r.Failed() != (r.Rank == victim) {
					t.Errorf("rank %d: status %d, signal %v\n%s", r.Rank, r.Status, r.Signal, out.String())
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
				seed := newSeed(t)
				var out strings.Builder
				result, err := launcher.Run(t.Context(), launcher.Config{
					Program: "/proc/self/exe", Args: []string{"-test.run=^TestRankOfAJob$"}, Ranks: n,
					Env:    []string{fmt.Sprintf("%s=%d", envPlay, seed), "GASPI_TRANSPORT=" + transport},
					Stdout: &out, Stderr: &out, Timeout: patience,
				})
				if err != nil {
					t.Fatal(err)
				}
				if result.ExitCode != 0 {
					t.Errorf("exit code %d, %s\n%s", result.ExitCode, result.Sentence, out.String())
				}
			})
		}
	}
}
