// Package kills is what tests share that kill ranks at random moments: how many jobs, drawn
// from which seed, and a job of the test program whose ranks are killed by signal 9. It knows
// nothing of what the ranks do. It is for tests alone.
package kills

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const (
	// EnvCounts says how many jobs of each kind a test starts: "500,200".
	EnvCounts = "GASPI_TEST_KILLS"
	// EnvSeed says from which seed their kills are drawn.
	EnvSeed = "GASPI_TEST_SEED"
)

// A Campaign is the jobs of a test.
type Campaign struct {
	Counts []int  // of jobs; index is the kind
	Seed   uint64 // random unless EnvSeed is set
}

// NewCampaign returns a campaign of so many jobs of each kind, unless EnvCounts says how
// many. It logs the seed.
func NewCampaign(t *testing.T, counts ...int) Campaign {
	t.Helper()
	c := Campaign{Counts: slices.Clone(counts), Seed: rand.Uint64() >> 1}
	if err := c.set(os.Getenv(EnvCounts), os.Getenv(EnvSeed)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s=%d", EnvSeed, c.Seed)
	return c
}

// set takes numbers from texts that are not empty.
func (c *Campaign) set(counts, seed string) (err error) {
	if counts != "" {
		words := strings.Split(counts, ",")
		if len(words) != len(c.Counts) {
			return fmt.Errorf("%s=%s has %d numbers; want %d, with commas between", EnvCounts, counts, len(words), len(c.Counts))
		}
		for i, word := range words {
			if c.Counts[i], err = strconv.Atoi(word); err != nil {
				return fmt.Errorf("%s=%s: %w", EnvCounts, counts, err)
			}
		}
	}
	if seed != "" {
		if c.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return fmt.Errorf("%s=%s: %w", EnvSeed, seed, err)
		}
	}
	return nil
}

// Draw returns the random numbers of one job.
func (c Campaign) Draw(job uint64) *rand.Rand { return rand.New(rand.NewPCG(c.Seed, job)) }

// A Kill ends a rank by signal 9.
type Kill struct {
	Rank  int
	After time.Duration // its first line, which is "process" and its process id
	At    time.Time     // when it was done; zero if the rank was over before
}

// Before returns a random time below one of limits.
func Before(draw *rand.Rand, limits ...time.Duration) time.Duration {
	return time.Duration(draw.Int64N(int64(limits[draw.IntN(len(limits))])))
}

// A Trial is a job of the test program, some ranks of which are killed. Its ranks print
// "process" and their process id first.
type Trial struct {
	Ranks    int
	Role     string   // of testenv.Main
	RoleArgs []string // its arguments
	Args     []string // of the program
	Kills    []Kill
	Over     *regexp.Regexp // a line of a rank, without its label, after which it is not killed; nil for none

	mu    sync.Mutex
	over  map[int]bool // guarded by mu; ranks that have printed Over
	doing sync.WaitGroup
}

// Run runs the job, kills its ranks, and returns all that they have printed, each line with
// the label of its rank. Kills says then when that was. Any output on standard error is an
// error.
func (x *Trial) Run(t *testing.T) (text string, err error) {
	t.Helper()
	x.over = map[int]bool{}
	o := ranktest.Run(t, launcher.Config{Args: x.Args, Ranks: x.Ranks, Stdout: x, OnFailure: launcher.Continue}, x.Role, x.RoleArgs...)
	x.doing.Wait()
	if o.Stderr != "" {
		err = fmt.Errorf("standard error:\n%s", o.Stderr)
	}
	return o.Stdout, err
}

var (
	labelled = regexp.MustCompile(`^\[(\d+)\] (.*)\n$`)
	begun    = regexp.MustCompile(`^process (\d+)$`)
)

// Write takes whole lines of output.
func (x *Trial) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if m := labelled.FindStringSubmatch(line); m != nil {
			rank, _ := strconv.Atoi(m[1])
			x.hearLocked(rank, m[2])
		}
	}
	return len(p), nil
}

// hearLocked takes a line of a rank.
func (x *Trial) hearLocked(rank int, line string) {
	if x.Over != nil && x.Over.MatchString(line) {
		x.over[rank] = true
	}
	m := begun.FindStringSubmatch(line)
	i := slices.IndexFunc(x.Kills, func(k Kill) bool { return k.Rank == rank })
	if m == nil || i < 0 {
		return
	}
	pid, _ := strconv.Atoi(m[1])
	x.doing.Go(func() {
		time.Sleep(x.Kills[i].After) // sleep: the moment of the kill
		x.mu.Lock()
		defer x.mu.Unlock()
		at := time.Now()
		if !x.over[rank] && syscall.Kill(pid, syscall.SIGKILL) == nil {
			x.Kills[i].At = at
		}
	})
}

// Killed are the ranks that were killed.
func (x *Trial) Killed() (ranks []int) {
	for _, k := range x.Kills {
		if !k.At.IsZero() {
			ranks = append(ranks, k.Rank)
		}
	}
	return ranks
}
