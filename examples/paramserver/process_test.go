package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun/programtest"
	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// mortalRole is the program with a rank that dies; its argument is a gate.
const mortalRole = "mortal"

func TestMain(m *testing.M) {
	testenv.Main(testenv.Waiting{M: m}, map[string]testenv.Role{programtest.Role: testenv.Program(main), mortalRole: playMortal})
}

// playMortal has rank 2 kill itself when the gate is open.
func playMortal(ctx context.Context, args []string) error {
	if os.Getenv("GASPI_RANK") == "2" {
		go dieAt(ctx, args[0])
	}
	main()
	return nil
}

func dieAt(ctx context.Context, gate string) {
	if err := testenv.AwaitGate(ctx, gate); err != nil {
		panic(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// A tripwire opens a gate in the middle of the training, when all workers have long begun.
type tripwire struct{ gate *testenv.Gate }

// Write implements io.Writer.
func (w tripwire) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("step 200 ")) {
		if err := w.gate.Open(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func TestProcesses(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		args  string
	}{
		{"sync", 4, ""},
		{"sync, turns", 4, "--naive"},
		{"async", 4, "--mode async"},
		{"async, eager", 4, "--mode async --naive=eager"},
		{"two ranks", 2, "--params 840"},
		{"odd size", 3, "--params 100003 --chunk 4096"},
		{"emulated", 3, "--emulate latency=200us,bandwidth=500MB/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			saved := filepath.Join(t.TempDir(), "a.json")
			args := append(strings.Fields("--params 40kB --iterations 20 --verify "+c.args), "--json", saved)
			o := ranktest.Run(t, launcher.Config{Ranks: c.ranks, Args: args}, programtest.Role)
			if o.ExitCode != 0 || o.Stderr != "" || !strings.Contains(o.Stdout, "bit by bit") {
				t.Fatalf("exit code %d\n%s%s", o.ExitCode, o.Stdout, o.Stderr)
			}
			for line := range strings.Lines(o.Stdout) {
				if !strings.HasPrefix(line, "[0] ") {
					t.Errorf("another rank than 0 prints: %s", line)
				}
			}
			text, err := os.ReadFile(saved)
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, text, c.ranks, strings.Contains(c.args, "emulate"))
		})
	}
}

// checkReport looks for contradictions.
func checkReport(t *testing.T, text []byte, ranks int, emulated bool) {
	t.Helper()
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Format != reportFormat || r.Workers != ranks-1 || len(r.Seconds) != 20 || len(r.Losses) != 21 || !r.Verified || r.Died != 0 {
		t.Errorf("a report of %d workers that cannot be: %s", ranks-1, text)
	}
	if !(r.Losses[20] < r.Losses[0]-0.5) || !(r.Throughput > 0) || !(r.StepSeconds > 0) {
		t.Errorf("nothing was learned: %s", text)
	}
	if emulated != (r.Network != "") {
		t.Errorf("emulated network %q", r.Network)
	}
}

// TestProcessesDie kills a worker in the middle of the training.
func TestProcessesDie(t *testing.T) {
	t.Parallel()
	ways := []string{"", "--naive", "--naive=eager"}
	if testing.Short() {
		ways = ways[:1]
	}
	for _, way := range ways {
		for _, mode := range []string{"async", "sync"} {
			t.Run(mode+way, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "die")
				wire := tripwire{testenv.NewGate(t, path)}
				args := strings.Fields("--params 40kB --work 2ms --verify --iterations 400 --mode " + mode + " " + way)
				o := ranktest.Run(t, launcher.Config{Ranks: 4, Args: args, OnFailure: launcher.Continue, Stdout: wire}, mortalRole, path)
				stdout, stderr := o.Stdout, o.Stderr
				if o.ExitCode == 0 {
					t.Errorf("a rank was killed, and the job succeeds\n%s%s", stdout, stderr)
				}
				said := strings.Count(stderr, "paramserver: ")
				if mode == "async" {
					if said != 0 || !strings.Contains(stdout, "step 400 of 400") || !strings.Contains(stdout, "1 of 3 workers died") ||
						!strings.Contains(stdout, "bit by bit") {
						t.Errorf("the others do not go on\n%s%s", stdout, stderr)
					}
					return
				}
				if said != 1 || !strings.Contains(stderr, "rank 2") || !strings.Contains(stderr, "needs all workers") || strings.Contains(stdout, "step 400") {
					t.Errorf("want one sentence that names rank 2\n%s%s", stdout, stderr)
				}
			})
		}
	}
}

func TestProcessesRefuse(t *testing.T) {
	for _, c := range refused()[:3] { // TestParseRefuses has them all
		programtest.ProgramRefuses(t, "paramserver", 2, c)
	}
	programtest.ProgramRefuses(t, "paramserver", 2, programtest.Refusal{"--workers 3", "--workers starts the workers within one process"})
	programtest.ProgramRefuses(t, "paramserver", 1, programtest.Refusal{"--json /nowhere/at/all.json", "/nowhere/at/all.json cannot be written"})
}

// TestWorkersInOneProcess starts the program alone.
func TestWorkersInOneProcess(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--workers 3 --iterations 5 --params 10kB --verify", 0, ""},
		{"--workers 2 --iterations 5 --mode async --verify --naive", 0, ""},
		{"--iterations 5", 2, "a job of 1 rank has no workers"},
		{"--emulate latency=1ms", 2, "a job of 1 rank has no workers"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(strings.Fields(c.args), &stdout, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.want) || (code == 0) != strings.Contains(stdout.String(), "bit by bit") {
				t.Errorf("exit code %d, want %d\n%s%s", code, c.code, stdout.String(), stderr.String())
			}
		})
	}
}

// TestHelpNamesEveryFlag sees that the help is complete and fits a terminal.
func TestHelpNamesEveryFlag(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--help"}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	programtest.HelpNames(t, stdout.String(), "params", "iterations", "mode", "batch", "work", "verify")
}

// Goal: a help or a result that cannot be written is one sentence and exit code 1.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range []string{"--help", "--workers 2 --iterations 2", "--workers 2 --iterations 2 --verify"} {
		cmd := testenv.Command(t.Context(), programtest.Role)
		cmd.Args = append(cmd.Args, strings.Fields(args)...)
		stderr, code := testenv.OnFullDisk(t, cmd)
		if code != 1 || !strings.HasSuffix(stderr, "write /dev/stdout: no space left on device\n") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: code %d, said %q; want 1 and one sentence", args, code, stderr)
		}
	}
}
