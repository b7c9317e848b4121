package main

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv/kills"
)

// TestKills kills ranks at random moments from the start on, and sees that all others come to
// the end, with the total that follows from whom they have lost when. In the jobs of the first
// kind one rank is killed, in those of the second two.
func TestKills(t *testing.T) {
	campaign := kills.NewCampaign(t, 4, 2)
	for i, n := range campaign.Counts {
		hit, survivors := 0, 0
		for trial := range n {
			name, job := drawJob(campaign, uint64(trial), i+1)
			runTrial(t, name, job)
			hit += len(job.Killed())
			survivors += job.Ranks - len(job.Killed())
		}
		t.Logf("%d jobs with %d kills: %d ranks killed while they ran, %d others came to the end", n, i+1, hit, survivors)
	}
}

const killedSteps = 60

// drawJob draws a job in which so many ranks are killed.
func drawJob(campaign kills.Campaign, trial uint64, victims int) (name string, job *kills.Trial) {
	draw := campaign.Draw(trial*8 + uint64(victims))
	job = &kills.Trial{
		Ranks: victims + 1 + draw.IntN(4), Args: []string{"--steps", strconv.Itoa(killedSteps), "--work", "2ms"},
		Role: program, Over: regexp.MustCompile(`^step \d+: the total`),
	}
	name = fmt.Sprintf("trial %d: %d ranks", trial, job.Ranks)
	for _, r := range draw.Perm(job.Ranks)[:victims] {
		after := kills.Before(draw, 5*time.Millisecond, 50*time.Millisecond, 400*time.Millisecond)
		job.Kills = append(job.Kills, kills.Kill{Rank: r, After: after})
		name += fmt.Sprintf(", %d killed %v after it began", r, after)
	}
	return name, job
}

// runTrial runs a job and checks how it ended.
func runTrial(t *testing.T, name string, job *kills.Trial) {
	t.Helper()
	text, err := job.Run(t)
	if err == nil {
		err = checkTotals(text, job.Ranks, job.Killed(), killedSteps)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
}
