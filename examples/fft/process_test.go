package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const role = "program" // the role in which the test program is the example itself

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{role: testenv.Program(main)})
}

// TestProcesses runs what the command line offers on processes, and looks at the
// errors that the report states.
func TestProcesses(t *testing.T) {
	for _, c := range []struct {
		name      string
		ranks     int
		args      string
		tolerance float64
		runs      int
	}{
		{"one rank", 1, "--grid 8x8x8", 1e-13, 1},
		{"slabs", 4, "--grid 16x12x10 --overlap 0,2", 1e-13, 2},
		{"primes", 3, "--grid 7x11x13 --bands 5 --overlap 1", 1e-13, 1},
		{"pencils", 6, "--grid 9x10x7,8x8x8 --decomposition pencil", 1e-13, 2},
		{"pencils as told", 4, "--grid 9x10x7 --decomposition pencil --grid-ranks 1x4 --kind r2c", 1e-13, 1},
		{"real", 2, "--grid 12x6x9 --kind r2c", 1e-13, 1},
		{"single precision", 4, "--grid 16x16x16 --precision 32", 1e-5, 1},
		{"single precision, real", 2, "--grid 6x10x15 --precision 32 --kind r2c --alltoall direct", 1e-5, 1},
		{"pairwise", 3, "--grid 7x7x7 --alltoall pairwise", 1e-13, 1},
		{"bruck", 4, "--grid 8x8x8 --alltoall bruck", 1e-13, 1},
		{"emulated network", 2, "--grid 8x8x8 --alltoall direct", 1e-13, 1},
		{"sockets", 4, "--grid 9x12x10 --decomposition pencil --overlap 2", 1e-13, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			switch c.name {
			case "emulated network":
				t.Setenv("GASPI_EMULATE", "latency=200us,bandwidth=1GB/s")
			case "sockets":
				t.Setenv("GASPI_TRANSPORT", "tcp")
			}
			dir := t.TempDir()
			saved, drawn := filepath.Join(dir, "a.json"), filepath.Join(dir, "a.svg")
			args := append(strings.Fields(c.args), "--repeat", "2", "--verify", "--json", saved, "--plot", drawn)
			o := ranktest.Run(t, launcher.Config{Ranks: c.ranks, Args: args}, role)
			if o.ExitCode != 0 || o.Stderr != "" {
				t.Fatalf("exit code %d\n%s%s", o.ExitCode, o.Stdout, o.Stderr)
			}
			for line := range strings.Lines(o.Stdout) {
				if !strings.HasPrefix(line, "[0] ") {
					t.Errorf("another rank than 0 prints: %s", line)
				}
			}
			if svg, err := os.ReadFile(drawn); err != nil || !bytes.Contains(svg, []byte("<svg")) {
				t.Errorf("%v: no drawing", err)
			}
			text, err := os.ReadFile(saved)
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, text, c.ranks, c.runs, c.tolerance)
			if emulated := bytes.Contains(text, []byte(`"network":"latency=200`)); emulated != (c.name == "emulated network") {
				t.Errorf("emulated is %v", emulated)
			}
		})
	}
}

// checkReport looks at what a report must have.
func checkReport(t *testing.T, text []byte, ranks, runs int, tolerance float64) {
	t.Helper()
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Format != reportFormat || r.Ranks != ranks || len(r.Runs) != runs {
		t.Fatalf("%s of %d ranks with %d runs, want %d and %d", r.Format, r.Ranks, len(r.Runs), ranks, runs)
	}
	for _, run := range r.Runs {
		if run.P*run.Q != ranks || len(run.Split) != ranks || !(run.ForwardSeconds > 0) || !(run.InverseSeconds > 0) {
			t.Errorf("a run that cannot be: %+v", run)
		}
		e := run.Errors
		if !(e.Inverse <= tolerance) || !(e.Parseval <= tolerance) || e.Serial == nil || !(*e.Serial <= tolerance) {
			t.Errorf("%s: errors %+v, serial %v, want at most %g", run.Grid, e, e.Serial, tolerance)
		}
		for _, x := range run.Exchanges {
			if x.Smallest <= 0 || x.Largest < x.Smallest || x.Ranks < 2 {
				t.Errorf("%s: an exchange that cannot be: %+v", run.Grid, x)
			}
		}
		for rank, s := range run.Split {
			if !(s.Local > 0) || s.Exchange < 0 || s.Waiting < 0 {
				t.Errorf("%s: rank %d spent %+v", run.Grid, rank, s)
			}
		}
	}
}

func TestProcessesRefuse(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		args  string
		code  int
		want  string
	}{
		{"zero", 2, "--grid 0x8x8", program.ExitUsage, `"0x8x8" is no grid`},
		{"cannot be counted", 2, "--grid 1099511627776x1099511627776x1099511627776", program.ExitUsage, "is too large to be counted"},
		{"does not fit in memory", 2, "--grid 65536x65536x1024", program.ExitFailed, "on each of the 2 ranks of this host, which has"},
		{"bands do not fit in memory", 1, "--grid 1024x1024x64 --bands 65536", program.ExitFailed, "use a smaller grid, fewer bands"},
		{"too many ranks for slabs", 4, "--grid 3x8x8", program.ExitUsage, "have points for at most 3"},
		{"too many ranks for pencils", 5, "--grid 4x4x4 --decomposition pencil", program.ExitUsage, "cannot be shared by 5 ranks in any grid of ranks"},
		{"another number of ranks", 4, "--decomposition pencil --grid-ranks 3x2", program.ExitUsage, "--grid-ranks 3x2 is not for the 4 ranks of this job"},
		{"uneven bruck", 3, "--grid 8x8x8 --alltoall bruck", program.ExitUsage, "which bruck cannot exchange"},
		{"nowhere to write", 2, "--grid 4x4x4 --json /nowhere/at/all.json", program.ExitFailed, "cannot be written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ranktest.Run(t, launcher.Config{Ranks: c.ranks, Args: strings.Fields(c.args)}, role)
			if o.ExitCode != c.code || o.Stdout != "" && c.name != "nowhere to write" {
				t.Errorf("exit code %d, want %d\n%s", o.ExitCode, c.code, o.Stdout)
			}
			if strings.Count(o.Stderr, "fft: ") != 1 || !strings.Contains(o.Stderr, c.want) {
				t.Errorf("want one sentence with %q, got\n%s", c.want, o.Stderr)
			}
		})
	}
}

// Goal: a help or a result that cannot be written is one sentence and exit code 1.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"--help", "--grid 4x4x4"} {
		cmd := testenv.Command(t.Context(), role)
		cmd.Args = append(cmd.Args, strings.Fields(args)...)
		stderr, code := testenv.OnFullDisk(t, cmd)
		if code != 1 || !strings.HasSuffix(stderr, "write /dev/stdout: no space left on device\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, said %q; want 1 and one sentence", args, code, stderr)
		}
	}
}
