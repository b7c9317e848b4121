package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
	"github.com/google/go-cmp/cmp"
)

// An ending is what a rank of a test job leaves behind.
type ending struct {
	Code   int
	Stderr string
}

// playJob runs the program's job on n ranks in this process, as main does after
// Init, and returns rank 0's output and how each rank ended.
func playJob(t *testing.T, n int, args ...string) (stdout string, ends []ending) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var (
		mu   sync.Mutex
		outs = make([]bytes.Buffer, n)
	)
	ends = make([]ending, n)
	err := gaspi.Local(ctx, n, gaspi.Config{}, func(ctx context.Context, p *gaspi.Proc) error {
		var stderr bytes.Buffer
		opts, err := parse(args)
		if err != nil {
			err = program.UsageError{Err: err}
		} else {
			j := job{opts: opts, proc: p, out: &outs[p.Rank()]}
			err = j.run(ctx)
		}
		code := program.Program{Name: "mfsgd", Stderr: &stderr}.Leave(ctx, p, err)
		mu.Lock()
		defer mu.Unlock()
		ends[p.Rank()] = ending{code, stderr.String()}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank := 1; rank < n; rank++ {
		if outs[rank].Len() > 0 {
			t.Errorf("rank %d prints %q", rank, outs[rank].String())
		}
	}
	return outs[0].String(), ends
}

// TestJobReports runs two slacks on several numbers of ranks and checks the
// report against itself and the error against what can be learned.
func TestJobReports(t *testing.T) {
	for _, n := range []int{1, 3, 8} {
		t.Run(fmt.Sprintf("ranks=%d", n), func(t *testing.T) {
			dir := t.TempDir()
			jsonFile, plotFile := filepath.Join(dir, "r.json"), filepath.Join(dir, "r.svg")
			stdout, ends := playJob(t, n, "--synthetic", "1000x300x40000", "--rank", "8", "--slack", "0,3",
				"--iterations", "40", "--json", jsonFile, "--plot", plotFile)
			if diff := cmp.Diff(make([]ending, n), ends); diff != "" {
				t.Fatalf("endings (-want +got):\n%s", diff)
			}
			for _, want := range []string{"1000 users, 300 items", "slack 0  iteration  1/40", "slack 3  iteration 40/40", "staleness mean", "To a held-out RMSE of"} {
				if !strings.Contains(stdout, want) {
					t.Errorf("the output lacks %q:\n%s", want, stdout)
				}
			}
			text, err := os.ReadFile(jsonFile)
			if err != nil {
				t.Fatal(err)
			}
			var r Report
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			checkReport(t, &r, n)
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			if diff := cmp.Diff([]string{jsonFile, filepath.Join(dir, "r.svg")}, files); err != nil || diff != "" {
				t.Errorf("%v; files (-want +got):\n%s", err, diff)
			}
		})
	}
}

// checkReport looks for contradictions.
func checkReport(t *testing.T, r *Report, ranks int) {
	t.Helper()
	if r.Format != reportFormat || r.Ranks != ranks || r.Data.Train+r.Data.HeldOut != 40_000 || len(r.Runs) != 2 {
		t.Fatalf("report of %d ranks and %d runs: %+v", r.Ranks, len(r.Runs), r.Data)
	}
	for _, run := range r.Runs {
		if run.RMSE > 0.85 || run.RMSE < 0.65 {
			t.Errorf("slack %d: held-out RMSE %v, want about 0.8", run.Slack, run.RMSE)
		}
		if run.Iterations != 40 || run.StalenessMax > run.Slack || run.StalenessMean > float64(run.Slack) {
			t.Errorf("slack %d: %d iterations, staleness %v, at most %d", run.Slack, run.Iterations, run.StalenessMean, run.StalenessMax)
		}
		if run.Waiting < 0 || run.Waiting > 1 {
			t.Errorf("slack %d: waited %v of the time", run.Slack, run.Waiting)
		}
		for name, s := range map[string]Series{"rank 0": run.Rank0, "mean": run.Mean} {
			if len(s.Seconds) != 40 || len(s.RMSE) != 40 || len(s.Waited) != 40 || len(s.Staleness) != 40 {
				t.Errorf("slack %d: %s has columns of %d, %d, %d, %d", run.Slack, name, len(s.Seconds), len(s.RMSE), len(s.Waited), len(s.Staleness))
				continue
			}
			if !(s.RMSE[39] < s.RMSE[10]) || math.Abs(s.RMSE[39]-run.RMSE) > 0.05 {
				t.Errorf("slack %d: %s error goes from %v to %v, in the end %v", run.Slack, name, s.RMSE[10], s.RMSE[39], run.RMSE)
			}
		}
	}
}

// TestJobReadsRatings learns from the fixture on as many ranks as make sense.
func TestJobReadsRatings(t *testing.T) {
	for _, n := range []int{1, 5} {
		stdout, ends := playJob(t, n, "--ratings", "testdata/ratings.csv", "--slack", "1", "--iterations", "20")
		if diff := cmp.Diff(make([]ending, n), ends); diff != "" {
			t.Fatalf("%d ranks: endings (-want +got):\n%s", n, diff)
		}
		if !strings.Contains(stdout, "testdata/ratings.csv: 24 users, ") {
			t.Errorf("%d ranks:\n%s", n, stdout)
		}
	}
}

// TestJobUntil stops at a target, and fails where it is out of reach.
func TestJobUntil(t *testing.T) {
	args := []string{"--synthetic", "1000x300x40000", "--rank", "4", "--slack", "4"}
	stdout, ends := playJob(t, 4, append(args, "--until-rmse", "0.88")...)
	if diff := cmp.Diff(make([]ending, 4), ends); diff != "" {
		t.Fatalf("endings (-want +got):\n%s", diff)
	}
	if !strings.Contains(stdout, "to reach 0.88") {
		t.Errorf("output:\n%s", stdout)
	}
	_, ends = playJob(t, 4, append(args, "--until-rmse", "0.3", "--iterations", "6")...)
	want := []ending{{1, "mfsgd: slack 4 did not reach a held-out RMSE of 0.3 in 6 iterations; allow more with --iterations or ask for less\n"}, {Code: 1}, {Code: 1}, {Code: 1}}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Errorf("endings (-want +got):\n%s", diff)
	}
}

// TestJobRefuses sees that one rank says what is wrong, that all end with the
// same code, and that nothing is left behind.
func TestJobRefuses(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"usage", []string{"--slack", "-2"}, 2, `mfsgd: invalid argument "-2" for "--slack" flag: "-2" is no slack: expected a whole number from 0 to 10000; see mfsgd --help`},
		{"straggler", []string{"--jitter", "straggler:7,2"}, 2, `mfsgd: jitter straggler:7,2,20ms slows down rank 7, but the job has ranks 0 to 2 only; see mfsgd --help`},
		{"missing file", []string{"--ratings", "no.csv"}, 1, `mfsgd: --ratings "no.csv": no such file or directory; expected the ratings of a MovieLens data set (https://grouplens.org/datasets/movielens/)`},
		{"few users", []string{"--synthetic", "2x10x10"}, 1, `mfsgd: synthetic set 2x10x10 has 2 users, too few for 3 ranks: every rank needs at least one, so start at most 2`},
		{"nothing to measure on", []string{"--synthetic", "3x1x3"}, 1, `mfsgd: synthetic 3x1x3 has too few ratings: one in 10 is held out at random, which leaves 3 to learn from and 0 to measure the error on; use a larger set or another --seed`},
		{"unwritable JSON", []string{"--synthetic", "30x30x300", "--json", dir}, 1, `mfsgd: ` + dir + ` is a directory; give the name of a file in it`},
		{"unwritable plot", []string{"--synthetic", "30x30x300", "--json", dir + "/a", "--plot", dir + "/b/c"}, 1, `mfsgd: ` + dir + `/b/c cannot be written: no such file or directory`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdout, ends := playJob(t, 3, tt.args...)
			want := []ending{{tt.code, tt.want + "\n"}, {Code: tt.code}, {Code: tt.code}}
			if diff := cmp.Diff(want, ends); diff != "" {
				t.Errorf("endings (-want +got):\n%s", diff)
			}
			if stdout != "" {
				t.Errorf("output before the refusal:\n%s", stdout)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
