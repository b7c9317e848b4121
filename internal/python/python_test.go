// Package python tests the package for Python, the backend of torch.distributed and the programs of
// examples that are not written in Go, as jobs. Nobody imports it.
package python

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

const (
	// inStep is the variable by which .ci/run python asks for these tests.
	inStep = "GASPI_TEST_PYTHON"
	// interpreter belongs to the system, which has numpy for it by .ci/run.
	interpreter = "/usr/bin/python3"
)

// A built is what tests need: the library, gaspi-run and the root of the checkout.
type built struct{ root, library, run string }

// build builds the library for C and gaspi-run once for the tests of t.
func build(t *testing.T) built {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	b := built{root, filepath.Join(dir, "libgaspi.so"), filepath.Join(dir, "gaspi-run")}
	output(t, command(t, b, "make", "-C", "capi", "shared", "BUILD="+dir))
	output(t, command(t, b, "go", "build", "-o", b.run, "./cmd/gaspi-run"))
	return b
}

// environ is the environment of a process that uses the package.
func (b built) environ() []string {
	return []string{
		"GASPI_LIBRARY=" + b.library, "GASPI_RUN=" + b.run, "PYTHONPATH=" + filepath.Join(b.root, "python"),
		"PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1",
	}
}

func command(t *testing.T, b built, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(testenv.Context(t), name, args...)
	cmd.Dir, cmd.Env = b.root, append(os.Environ(), b.environ()...)
	return cmd
}

// output runs a command and returns its output. The test ends if it fails.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// job runs a script with n ranks and returns its output.
func job(t *testing.T, b built, cfg launcher.Config, script string, args ...string) (launcher.Result, string) {
	t.Helper()
	var out bytes.Buffer
	cfg.Program, cfg.Args = interpreter, append([]string{filepath.Join(b.root, script)}, args...)
	cfg.Env = append(cfg.Env, b.environ()...)
	cfg.Timeout, cfg.Stdout, cfg.Stderr = testenv.Limit(t), &out, &out
	res, err := launcher.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res, out.String()
}

// succeeds is job for ranks that all end well.
func succeeds(t *testing.T, b built, cfg launcher.Config, script string, args ...string) string {
	t.Helper()
	res, out := job(t, b, cfg, script, args...)
	if res.ExitCode != 0 {
		t.Errorf("exit code %d, %s\n%s", res.ExitCode, res.Sentence, out)
	}
	return out
}

func TestPackage(t *testing.T) {
	testenv.NeedStep(t, inStep, "python")
	testenv.Need(t, interpreter, "make", "cc")
	b := build(t)
	t.Run("alone", func(t *testing.T) { output(t, command(t, b, interpreter, "python/tests/alone.py")) })
	for _, c := range []struct {
		transport string
		ranks     int
	}{{"shm", 1}, {"shm", 2}, {"shm", 3}, {"shm", 5}, {"tcp", 2}, {"tcp", 4}} {
		t.Run(fmt.Sprintf("%s/%d", c.transport, c.ranks), func(t *testing.T) {
			succeeds(t, b, launcher.Config{Ranks: c.ranks, Transport: c.transport}, "python/tests/ranks.py")
		})
	}
	t.Run("hang", func(t *testing.T) { hang(t, b) })
	t.Run("mfsgd.py", func(t *testing.T) {
		out := output(t, command(t, b, interpreter, "-m", "gaspi.run", "-n", "3", "examples/python/mfsgd.py", "--slack", "1"))
		if !regexp.MustCompile(`root mean square error 0\.[01]\d\d after 150 steps; contributions were [01] steps old`).MatchString(out) {
			t.Errorf("%s", out)
		}
	})
	t.Run("stencil.c", func(t *testing.T) { stencil(t, b) })
}

// hang has ranks wait for ever, in calls that the package makes in slices: the stall report names them, and ends the job.
func hang(t *testing.T, b built) {
	const some, sum, barrier = "Segment.WaitSome for notification 3 of segment 0", "allreduce (sum of 3 float64)", "Proc.Barrier of world"
	for _, c := range []struct {
		calls [2]string
		want  []string
	}{
		{[2]string{"wait_some", "barrier"}, []string{"rank 0 waits in " + some}},
		{[2]string{"allreduce", "wait_some"}, []string{"rank 1 waits in " + some}},
		{[2]string{"allreduce", "barrier"}, []string{"rank 0 is in " + sum, "rank 1 is in " + barrier, "do not match"}},
		{[2]string{"barrier", "passive_receive"}, []string{"rank 1 waits in Proc.PassiveReceive"}},
	} {
		t.Run(strings.Join(c.calls[:], " and "), func(t *testing.T) {
			cfg := launcher.Config{Ranks: 2, Transport: "shm", StallTimeout: time.Second, StallAbort: true}
			res, out := job(t, b, cfg, "python/tests/hang.py", c.calls[:]...)
			for _, want := range c.want {
				if res.ExitCode != 124 || !strings.Contains(res.Sentence, want) {
					t.Errorf("exit code %d, %q, want 124 and %q\n%s", res.ExitCode, res.Sentence, want, out)
				}
			}
		})
	}
}

// stencil runs the program in C on several numbers of ranks, which all come to the same plate.
func stencil(t *testing.T, b built) {
	prints := map[string]bool{}
	for _, n := range []string{"1", "2", "3"} {
		out := output(t, command(t, b, "make", "-C", "examples/stencil", "run", "N="+n, "ARGS=60 50",
			"BUILD="+t.TempDir(), "GASPI_LIB="+filepath.Dir(b.library), "GASPI_RUN="+b.run))
		prints[regexp.MustCompile(`fingerprint [0-9a-f]{16}`).FindString(out)] = true
	}
	if len(prints) != 1 || prints[""] {
		t.Errorf("1, 2 and 3 ranks make plates with the fingerprints %v; want one", prints)
	}
}
