package distfft_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/kills"
)

// envBound says how late errors may be; without it the limit is that of a job.
const envBound = "GASPI_TEST_BOUND"

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{"transforms": transformForEver})
}

// transformForEver transforms until an error, says whom that names and when it came, and
// ends at once, as a program does that has lost a rank. Its argument is a grid of ranks such
// as "3x2".
func transformForEver(ctx context.Context, args []string) error {
	var cfg distfft.Config
	if _, err := fmt.Sscanf(args[0], "%dx%d", &cfg.P, &cfg.Q); err != nil {
		return err
	}
	cfg.Grid, cfg.Depth = distfft.Grid{NX: 12, NY: 12, NZ: 12}, 1
	p, err := gaspi.Init(ctx, gaspi.Config{})
	if err != nil {
		return err
	}
	fmt.Printf("process %d\n", os.Getpid())
	err = transforms(ctx, p, cfg)
	at, named := time.Now().UnixNano(), gaspi.Rank(-1)
	if gone, ok := errors.AsType[*gaspi.RankError](err); ok {
		named = gone.Rank
	}
	fmt.Printf("names %d at %d: %v\n", named, at, err)
	p.Close()
	os.Exit(1)
	return nil
}

func transforms(ctx context.Context, p *gaspi.Proc, cfg distfft.Config) error {
	plan, err := distfft.New[complex128, complex128](ctx, p.World(), cfg)
	if err != nil {
		return err
	}
	in, out := make([][]complex128, 3), make([][]complex128, 3)
	for i := range in {
		in[i], out[i] = make([]complex128, plan.Input().Count()), make([]complex128, plan.Output().Count())
	}
	for {
		if err := plan.ForwardBands(ctx, out, in); err != nil {
			return err
		}
	}
}

// TestKills kills a rank at a random moment from the start on, and sees that each other has
// an error that names it, also those that exchange nothing with it.
func TestKills(t *testing.T) {
	campaign, bound := kills.NewCampaign(t, 4), time.Minute
	if text := os.Getenv(envBound); text != "" {
		var err error
		if bound, err = time.ParseDuration(text); err != nil {
			t.Fatalf("%s: %v", envBound, err)
		}
	}
	var late []time.Duration
	for i := range campaign.Counts[0] {
		draw := campaign.Draw(uint64(i))
		grid, ranks := "2x2", 4
		if i%2 == 1 {
			grid, ranks = "3x2", 6
		}
		kill := kills.Kill{Rank: draw.IntN(ranks), After: kills.Before(draw, 20*time.Millisecond, 500*time.Millisecond)}
		job := &kills.Trial{Ranks: ranks, Role: "transforms", RoleArgs: []string{grid}, Kills: []kills.Kill{kill}}
		text, err := job.Run(t)
		var delays []time.Duration
		if err == nil {
			delays, err = checkErrors(text, ranks, job.Kills[0], bound)
		}
		if err != nil {
			t.Errorf("job %d: %s, rank %d killed %v after its start: %v\n%s", i, grid, kill.Rank, kill.After, err, text)
		}
		late = append(late, delays...)
	}
	if n := len(late); n > 0 {
		slices.Sort(late)
		t.Logf("%d kills: %d errors of others, half of them within %v, 99 of 100 within %v, all within %v",
			campaign.Counts[0], n, late[n/2], late[n*99/100], late[n-1])
	}
}

var told = regexp.MustCompile(`(?m)^\[(\d+)\] names (-?\d+) at (\d+): `)

// checkErrors returns how late the errors were that ranks have printed, and an error unless
// each but the one that was killed has printed one that names it and was in time.
func checkErrors(text string, ranks int, kill kills.Kill, bound time.Duration) (late []time.Duration, err error) {
	named := map[int]int{}
	for _, m := range told.FindAllStringSubmatch(text, -1) {
		var r, by int
		var ns int64
		if _, err := fmt.Sscan(m[1]+" "+m[2]+" "+m[3], &r, &by, &ns); err != nil {
			return nil, err
		}
		named[r] = by
		late = append(late, time.Unix(0, ns).Sub(kill.At))
		if late[len(late)-1] > bound {
			err = fmt.Errorf("an error of rank %d after %v", r, late[len(late)-1])
		}
	}
	for r := range ranks {
		if by, ok := named[r]; r != kill.Rank && (!ok || by != kill.Rank) {
			return late, fmt.Errorf("rank %d names %d (it has said so: %v)", r, by, ok)
		}
	}
	return late, err
}
