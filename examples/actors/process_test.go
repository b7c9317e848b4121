package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun/programtest"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{programtest.Role: testenv.Program(main)})
}

func TestProcesses(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranks  int
		quorum int
		args   string
	}{
		{"a3c", 5, 2, ""},
		{"a3c, turns", 5, 2, "--naive"},
		{"a3c, only the table", 3, 1, "--params 144"},
		{"impala", 5, 3, "--algorithm impala --first 3"},
		{"impala, eager", 4, 1, "--algorithm impala --naive=eager"},
		{"two ranks", 2, 1, "--algorithm impala --sample 5001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			saved := filepath.Join(t.TempDir(), "a.json")
			args := append(strings.Fields("--params 40kB --updates 60 --step-time 10us "+c.args), "--json", saved)
			o := ranktest.Run(t, launcher.Config{Ranks: c.ranks, Args: args}, programtest.Role)
			if o.ExitCode != 0 || o.Stderr != "" {
				t.Fatalf("exit code %d\n%s%s", o.ExitCode, o.Stdout, o.Stderr)
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
			if !strings.Contains(o.Stdout, "[0] update 60 of 60") {
				t.Errorf("output:\n%s", o.Stdout)
			}
		})
	}
}

// TestLearnsByDefault runs the program as it is: in the last updates the actors reach the
// end. Which rollouts an update takes is up to the system; see
// corridor.TestLearningFromStaleRollouts for many seeds and every order.
func TestLearnsByDefault(t *testing.T) {
	all := []string{"--seed 1", "--seed 2", "--seed 1 --algorithm impala"}
	if testing.Short() { // corridor's tests learn from many seeds
		all = all[2:]
	}
	for _, args := range all {
		t.Run(args, func(t *testing.T) {
			saved := filepath.Join(t.TempDir(), "a.json")
			var stdout, stderr bytes.Buffer
			if code := run(append(strings.Fields(args), "--workers", "7", "--json", saved), &stdout, &stderr); code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, stdout.String(), stderr.String())
			}
			text, err := os.ReadFile(saved)
			if err != nil {
				t.Fatal(err)
			}
			var r Report
			if err := json.Unmarshal(text, &r); err != nil {
				t.Fatal(err)
			}
			reached := 0.0
			for _, part := range r.Reached[80:] {
				reached += part / 20
			}
			if reached < 0.95 {
				t.Errorf("in the last 20 updates %.0f %% reach the end; rollouts of %.1f steps", 100*reached, r.Lengths[80:])
			}
		})
	}
}

// refused are command lines and what is said of them.
func refused() []programtest.Refusal {
	return []programtest.Refusal{
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
	programtest.ParseRefuses(t, func(args []string) error { _, err := parse(args); return err }, refused())
}

func TestProcessesRefuse(t *testing.T) {
	for _, c := range []struct {
		code    int
		refusal programtest.Refusal
	}{
		{2, programtest.Refusal{"--algorithm dqn", "expected a3c or impala"}},
		{2, programtest.Refusal{"--workers 3", "--workers starts the workers within one process"}},
		{1, programtest.Refusal{"--json /nowhere/at/all.json", "/nowhere/at/all.json cannot be written"}},
	} {
		programtest.ProgramRefuses(t, "actors", c.code, c.refusal)
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
	programtest.HelpNames(t, help(), "algorithm", "params", "sample", "updates", "step-time")
}

// Goal: a help or a result that cannot be written is one sentence and exit code 1.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"--help", "--workers 2 --updates 2"} {
		cmd := testenv.Command(t.Context(), programtest.Role)
		cmd.Args = append(cmd.Args, strings.Fields(args)...)
		stderr, code := testenv.OnFullDisk(t, cmd)
		if code != 1 || !strings.HasSuffix(stderr, "write /dev/stdout: no space left on device\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, said %q; want 1 and one sentence", args, code, stderr)
		}
	}
}
