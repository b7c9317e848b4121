package python

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// inTorch is the variable by which .ci/run torch asks for TestTorch.
const inTorch = "GASPI_TEST_TORCH"

// TestTorch tests the backend of torch.distributed, with Debian's PyTorch, beside Gloo.
func TestTorch(t *testing.T) {
	testenv.NeedStep(t, inTorch, "torch")
	testenv.Need(t, interpreter, "make", "cc")
	testenv.NeedSuccess(t, "import torch", interpreter, "-c", "import torch")
	b := build(t)
	const ranks = "python/tests/torch_ranks.py"
	for _, c := range []struct {
		transport string
		ranks     int
	}{{"shm", 1}, {"shm", 2}, {"shm", 4}, {"tcp", 3}} {
		t.Run(fmt.Sprintf("%s/%d", c.transport, c.ranks), func(t *testing.T) {
			succeeds(t, b, launcher.Config{Ranks: c.ranks, Transport: c.transport}, ranks)
		})
	}
	t.Run("torchrun", func(t *testing.T) { torchrun(t, b, ranks) })
	t.Run("killed", func(t *testing.T) {
		res, out := job(t, b, launcher.Config{Ranks: 3, OnFailure: launcher.Continue}, ranks, "killed")
		t.Log(out)
		if strings.Count(out, "rank 2 is gone") != 2 || strings.Contains(out, "Traceback") || res.ExitCode != 128+9 {
			t.Errorf("exit code %d; want 137, that of rank 2, and its name in the errors of ranks 0 and 1\n%s", res.ExitCode, out)
		}
		for _, rank := range res.Ranks[:2] {
			if rank.Failed() {
				t.Errorf("rank %d ended with %d; want 0, since it has the error that it waits for", rank.Rank, rank.Code())
			}
		}
	})
	t.Run("after init", func(t *testing.T) {
		const script = "import gaspi; proc = gaspi.init(); import gaspi.torch, torch.distributed as d; d.init_process_group('gaspi'); " +
			"print('as told' if (d.get_rank(), d.get_world_size()) == (proc.rank, proc.size) else 'otherwise')"
		out := output(t, command(t, b, interpreter, "-m", "gaspi.run", "-n", "2", "-c", script))
		if strings.Count(out, "as told") != 2 {
			t.Errorf("%s", out)
		}
	})
	t.Run("ddp.py", func(t *testing.T) {
		out := output(t, command(t, b, interpreter, "-m", "gaspi.run", "-n", "2", "examples/python/ddp.py", "--steps", "60"))
		if !regexp.MustCompile(`(9\d|100)\.\d% of new pictures .* 2 ranks are equal`).MatchString(out) {
			t.Errorf("%s", out)
		}
	})
	t.Run("bench", func(t *testing.T) { bench(t, b) })
}

// torchrun starts ranks by PyTorch's launcher, whose store carries the key of the job. Redirection to files is
// asked for since that of Debian 12 fails without: an enumeration has no zero there since Python 3.11.
func torchrun(t *testing.T, b built, ranks string) {
	output(t, command(t, b, interpreter, "-m", "torch.distributed.run", "--nproc_per_node", "2",
		"--redirects", "1", "--tee", "1", "--log_dir", t.TempDir(), ranks))
}

// bench checks the rows of the comparison with Gloo, not their times.
func bench(t *testing.T, b built) {
	file := filepath.Join(t.TempDir(), "rows.json")
	out := output(t, command(t, b, interpreter, "-m", "gaspi.bench", "--ranks", "2", "--sizes", "8,64K", "--rounds", "1",
		"--width", "64", "--json", file, "--", "--transport", "tcp"))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		var row struct {
			Name, Flags string
			Ranks       int
			Gaspi       float64 `json:"gaspi_us"`
			Gloo        float64 `json:"gloo_us"`
			Ratio       float64
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if row.Ranks != 2 || row.Flags != "--transport tcp" || row.Gaspi <= 0 || row.Gloo <= 0 || row.Ratio <= 0 {
			t.Errorf("%s", line)
		}
		names = append(names, row.Name)
	}
	const want = "allreduce of 8 B, allreduce of 64 KiB, step of DDP, step of DDP, bucket_hook"
	if got := strings.Join(names, ", "); got != want || strings.Count(out, "\n| ") != 1+len(names) {
		t.Errorf("rows %s; want %s, and as many lines of a table\n%s", got, want, out)
	}
}
