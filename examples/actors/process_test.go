package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// asRank makes the test program the example itself.
const asRank = "ACTORS_TEST_AS_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(asRank) != "" {
		main()
	}
	os.Exit(m.Run())
}

// launch runs the program on n processes, as gaspi-run does.
func launch(t *testing.T, n int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	result, err := launcher.Run(t.Context(), launcher.Config{
		Program: self, Args: args, Ranks: n, Env: []string{asRank + "=1"}, Stdout: &out, Stderr: &errs, Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.ExitCode, out.String(), errs.String()
}

func TestProcesses(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranks  int
		quorum int
		args   string
	}{
		{"a3c", 5, 2, ""},
		{"a3c, turns", 4, 2, "--naive"},
		{"a3c, only the table", 3, 1, "--params 144"},
		{"impala", 5, 3, "--algorithm impala --first 3"},
		{"impala, eager", 4, 2, "--algorithm impala --naive=eager"},
		{"two ranks", 2, 1, "--algorithm impala --sample 5001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			saved := filepath.Join(t.TempDir(), "a.json")
			args := append([]string{"--params", "40kB", "--updates", "60", "--step-time", "10us", "--json", saved}, strings.Fields(c.args)...)
			code, stdout, stderr := launch(t, c.ranks, args...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			text, err := os.ReadFile(saved)
			if err != nil {
				t.Fatal(err)
			}
			var r Report
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			if r.Format != reportFormat || r.Actors != c.ranks-1 || r.Quorum != c.quorum || len(r.Seconds) != 60 || r.Died != 0 ||
				r.Rollouts != 60*c.quorum || r.Steps < r.Rollouts || !(r.RolloutsPerSecond > 0) || !(r.StepsPerSecond > r.RolloutsPerSecond) {
				t.Errorf("a report that cannot be: %s", text)
			}
			if !strings.Contains(stdout, "[0] update 60 of 60") {
				t.Errorf("output:\n%s", stdout)
			}
		})
	}
}

// refused are command lines and what is said of them.
func refused() []struct{ args, want string } {
	return []struct{ args, want string }{
		{"--algorithm dqn", `invalid argument "dqn" for "--algorithm" flag: expected a3c or impala`},
		{"--params 143", `expected a number of bytes such as 4MiB, at least 144`},
		{"--sample 64KiB", `--sample is for --algorithm impala; with a3c an actor sends a gradient, which is as long as --params`},
		{"--algorithm impala --sample 100", `expected a number of bytes such as 4MiB, at least 2408`},
		{"--updates 0", `expected a whole number from 1 to 1000000`},
		{"--step-time -1s", `--step-time -1s: expected a time of 0 or more`},
		{"--chunk 1", `--chunk 1: expected a multiple of 64 bytes`},
		{"--json=", `--json needs the name of a file; found an empty one`},
		{"a3c", `unexpected argument "a3c"; everything is said with flags`},
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range refused() {
		_, err := parse(strings.Fields(c.args))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

func TestProcessesRefuse(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--algorithm dqn", 2, "expected a3c or impala"},
		{"--workers 3", 2, "--workers starts the workers within one process"},
		{"--json /nowhere/at/all.json", 1, "/nowhere/at/all.json cannot be written"},
	} {
		code, stdout, stderr := launch(t, 3, strings.Fields(c.args)...)
		if code != c.code || stdout != "" || strings.Count(stderr, "actors: ") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, want %d and one sentence with %q\n%s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
}

// TestActorsInOneProcess starts the program alone, both algorithms in all ways.
func TestActorsInOneProcess(t *testing.T) {
	for _, algorithm := range []string{"a3c", "impala"} {
		for _, way := range []string{"", " --naive", " --naive=eager"} {
			t.Run(algorithm+way, func(t *testing.T) {
				var stdout, stderr bytes.Buffer
				args := "--workers 3 --updates 20 --params 10001 --step-time 0s --algorithm " + algorithm + way
				if code := run(strings.Fields(args), &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "update 20 of 20") {
					t.Errorf("exit code %d\n%s%s", code, stdout.String(), stderr.String())
				}
			})
		}
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	text := help()
	for _, name := range []string{"algorithm", "params", "sample", "updates", "first", "naive", "workers", "step-time", "seed", "chunk", "emulate", "json"} {
		if !strings.Contains(text, "--"+name) {
			t.Errorf("--%s is not explained", name)
		}
	}
}
