package ssp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/gaspi-go/gaspi-go/launcher"
	"github.com/gaspi-go/gaspi-go/ssp"
)

// roleEnv makes this test binary a rank of a job: its value says what to do.
const roleEnv = "SSP_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := play(role); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(role string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	p, err := gaspi.Init(ctx, gaspi.Config{Transport: "shm"})
	if err != nil {
		return err
	}
	defer p.Close()
	name, arg, _ := strings.Cut(role, ":")
	slack, err := strconv.Atoi(arg)
	if err != nil {
		return err
	}
	if name == "dies" {
		return playDeath(ctx, p, slack)
	}
	return playTags(ctx, p, slack)
}

// playTags checks what TestStressEveryContributionOnceAndWithinSlack does, with
// ranks that stop at different clocks.
func playTags(ctx context.Context, p *gaspi.Proc, slack int) error {
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
func playDeath(ctx context.Context, p *gaspi.Proc, slack int) error {
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

// job runs this test binary as ranks.
func job(t *testing.T, ranks int, role string, onFailure launcher.OnFailure) (launcher.Result, string) {
	t.Helper()
	var out bytes.Buffer
	res, err := launcher.Run(t.Context(), launcher.Config{
		Program: "/proc/self/exe", Ranks: ranks, Env: []string{roleEnv + "=" + role},
		Stdout: &out, Stderr: &out, OnFailure: onFailure, Timeout: 90 * time.Second,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return res, out.String()
}

func TestAcrossProcesses(t *testing.T) {
	for _, ranks := range []int{2, 3, 4, 6} {
		if testing.Short() && ranks != 3 {
			continue
		}
		for _, slack := range []int{0, 2} {
			t.Run(fmt.Sprintf("ranks=%d/slack=%d", ranks, slack), func(t *testing.T) {
				res, out := job(t, ranks, fmt.Sprintf("tags:%d", slack), launcher.Abort)
				if res.ExitCode != 0 {
					t.Fatalf("%s\n%s", res.Sentence, out)
				}
			})
		}
	}
}

func TestDeadProcessIsNamed(t *testing.T) {
	for _, ranks := range []int{2, 3, 4} {
		res, out := job(t, ranks, "dies:2", launcher.Continue)
		if named := strings.Count(out, "named\n"); named != ranks-1 || res.ExitCode != 3 {
			t.Errorf("%d ranks: %d survivors named the dead one, exit code %d\n%s", ranks, named, res.ExitCode, out)
		}
	}
}
