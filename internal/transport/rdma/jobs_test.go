//go:build rdma && cgo && linux

package rdma

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const module = "github.com/gaspi-go/gaspi-go/"

// build makes programs of the module with this transport and returns their folder.
func build(t *testing.T, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"build", "-buildvcs=false", "-tags", "rdma", "-o", dir + "/"}
	for _, name := range packages {
		args = append(args, module+name)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return dir
}

// jobLimit is what no job here comes near, unless it hangs or others keep the machine
// busy.
const jobLimit = 2 * time.Minute

// runJob runs a program of dir, which starts the ranks, and returns what it printed.
// One that takes too long is stopped, with its ranks.
func runJob(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, program), args...)
	cmd.Env = append(os.Environ(), "GASPI_RDMA_PROVIDER="+providerName())
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = generous
	limit := time.AfterFunc(jobLimit, func() { _ = cmd.Cancel() })
	defer limit.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestJobs runs programs whose ranks are connected by libfabric.
func TestJobs(t *testing.T) {
	dir := build(t, "cmd/gaspi-run", "cmd/gaspi-bench", "examples/mfsgd")
	t.Run("allreduce", func(t *testing.T) { allReduce(t, dir) })
	t.Run("factorize", func(t *testing.T) { factorize(t, dir) })
	t.Run("gaspi-run", func(t *testing.T) { ofGaspiRun(t, dir) })
}

// Every algorithm for an allreduce, by two, three and four ranks, with every result
// checked.
func allReduce(t *testing.T, dir string) {
	for _, n := range []int{2, 3, 4} {
		for _, kind := range [][]string{{"--dtype", "float32", "--sizes", "12,4004,256KiB"}, {"--dtype", "int64", "--sizes", "8,80008"}} {
			args := append([]string{
				"allreduce", "-n", fmt.Sprint(n), "--transport", "rdma", "--algorithm", "all", "--time", "10us", "--side", "gaspi", "--verify",
			}, kind...)
			out := runJob(t, dir, "gaspi-bench", args...)
			rows := regexp.MustCompile(`(?m)allreduce +\S+  gaspi .*$`).FindAllString(out, -1)
			if head := fmt.Sprintf("%d ranks over rdma", n); len(rows) < 10 || !strings.Contains(out, head) {
				t.Errorf("%d rows, want at least 10, and a head with %q:\n%s", len(rows), head, out)
			}
		}
	}
}

// The factorization with a slack flag by one and the same command line over shared
// memory and over libfabric: what has no slack learns the same to the last bit.
func factorize(t *testing.T, dir string) {
	learnt := map[string]float64{}
	for _, transport := range []string{"shm", "rdma"} {
		file := filepath.Join(dir, transport+".json")
		runJob(t, dir, "gaspi-run", "-n", "4", "--transport", transport, filepath.Join(dir, "mfsgd"),
			"--synthetic", "400x100x20000", "--slack", "0,2", "--iterations", "10", "--seed", "1", "--json", file)
		text, err := os.ReadFile(file)
		ok(t, err)
		var saved struct {
			Ranks int
			Runs  []struct{ RMSE float64 }
		}
		ok(t, json.Unmarshal(text, &saved))
		if saved.Ranks != 4 || len(saved.Runs) != 2 {
			t.Fatalf("over %s: %d runs of %d ranks, want 2 of 4", transport, len(saved.Runs), saved.Ranks)
		}
		learnt[transport] = saved.Runs[0].RMSE
	}
	if learnt["rdma"] != learnt["shm"] || learnt["rdma"] == 0 {
		t.Errorf("held-out error %v over rdma, %v over shm; want the same", learnt["rdma"], learnt["shm"])
	}
}

// The ranks of gaspi-run are connected as it was told.
func ofGaspiRun(t *testing.T, dir string) {
	out := runJob(t, dir, "gaspi-run", "-n", "2", "--transport", "rdma", "--rdma-provider", providerName(),
		filepath.Join(dir, "gaspi-bench"), "barrier", "--time", "1ms")
	if want := "2 ranks over rdma"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}
