package ssp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
	"github.com/gaspi-go/gaspi-go/ssp"
)

func TestMain(m *testing.M) {
	cfg := gaspi.Config{Transport: "shm"}
	testenv.Main(m, map[string]testenv.Role{"tags": ranktest.Rank(cfg, playTags), "dies": ranktest.Rank(cfg, playDeath)})
}

// playTags checks what TestStressEveryContributionOnceAndWithinSlack does, with
// ranks that stop at different clocks. Its argument is the slack, as that of playDeath is.
func playTags(ctx context.Context, p *gaspi.Proc, args []string) error {
	slack, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	ranks := p.Size()
	n := ranks * (8192 / ranks)
	r, err := ssp.New[float64](ctx, p.World(), n, ssp.Sum, slack)
	if err != nil {
		return err
	}
	calls := func(rank int) int64 { return 300 - int64(rank)*20 }
	wait := newJitter(uint64(slack), p.Rank(), 200)
	mine := make([]float64, n)
	for clock := int64(1); clock <= calls(int(p.Rank())); clock++ {
		wait.pause()
		tag(mine, ranks, p.Rank(), clock)
		res, err := r.AllReduce(ctx, mine)
		if err != nil {
			return err
		}
		if clock <= calls(ranks-1) { // nobody has stopped yet
			err = checkResult(res, ranks, p.Rank(), clock, int64(slack))
		} else {
			_, err = clocks(res.Values, ranks)
		}
		if err != nil {
			return err
		}
	}
	return r.Close(ctx)
}

// playDeath has rank 1 die without a word after a few calls.
func playDeath(ctx context.Context, p *gaspi.Proc, args []string) error {
	slack, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	r, err := ssp.New[float64](ctx, p.World(), 100, ssp.Sum, slack)
	if err != nil {
		return err
	}
	mine := make([]float64, 100)
	for calls := 0; err == nil; calls++ {
		if p.Rank() == 1 && calls == 5 {
			os.Exit(3)
		}
		_, err = r.AllReduce(ctx, mine)
	}
	var dead *gaspi.RankError
	if !errors.As(err, &dead) || dead.Rank != 1 {
		return fmt.Errorf("got %v, which does not name rank 1", err)
	}
	if err := p.ResetState(); err != nil {
		return err
	}
	return waitForSurvivors(ctx, p)
}

// waitForSurvivors keeps a survivor until all have named rank 1.
func waitForSurvivors(ctx context.Context, p *gaspi.Proc) error {
	var left []gaspi.Rank
	for rank := range gaspi.Rank(p.Size()) {
		if rank != 1 {
			left = append(left, rank)
		}
	}
	g, err := p.NewGroup(left...)
	if err != nil {
		return err
	}
	if err := g.Commit(ctx); err != nil {
		return err
	}
	fmt.Println("named")
	return p.Barrier(ctx, g)
}

func TestAcrossProcesses(t *testing.T) {
	for _, ranks := range []int{2, 3, 4, 6} {
		if testing.Short() && ranks != 3 {
			continue
		}
		for _, slack := range []int{0, 2} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				ranktest.Succeeds(t, launcher.Config{Ranks: ranks}, "tags", strconv.Itoa(slack))
			})
		}
	}
}

func TestDeadProcessIsNamed(t *testing.T) {
	for _, ranks := range []int{2, 3, 4} {
		o := ranktest.Run(t, launcher.Config{Ranks: ranks, OnFailure: launcher.Continue}, "dies", "2")
		if named := strings.Count(o.Stdout, "named\n"); named != ranks-1 || o.ExitCode != 3 {
			t.Errorf("%d ranks: %d survivors named the dead one, exit code %d\n%s", ranks, named, o.ExitCode, o.Output)
		}
	}
}
