package system

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestQuickstartBySlurm starts the quickstart in every way that Slurm knows.
func TestQuickstartBySlurm(t *testing.T) {
	t.Parallel()
	s := newSite(t, 4, "quickstart")
	s.StartSlurm()
	run, quickstart := s.program("gaspi-run"), s.program("quickstart")
	for _, c := range []struct {
		name     string
		labelled bool
		ranks    int
		command  []string
	}{
		{"srun alone", false, 8, []string{"srun", "--quiet", "--mpi=pmi2", "-N4", "-n8", quickstart}},
		{"srun on one node", false, 2, []string{"srun", "--quiet", "--mpi=pmi2", "-N1", "-n2", quickstart}},
		{"salloc and gaspi-run", true, 8, []string{"salloc", "--quiet", "-N4", "-n8", run, quickstart}},
		{"some ranks of an allocation", true, 3, []string{"salloc", "--quiet", "-N4", "-n8", run, "-n", "3", quickstart}},
		{"salloc and srun", false, 8, []string{"salloc", "--quiet", "-N4", "-n8", "srun", "--quiet", "--mpi=pmi2", quickstart}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkRing(t, c.ranks, c.labelled, succeeds(t, s.Head(), nil, c.command[0], c.command[1:]...))
			s.clean(t)
		})
	}
	t.Run("srun without PMI", func(t *testing.T) {
		key := []string{"GASPI_KEY_FILE=" + s.key(t, "key", "e")}
		checkRing(t, 8, false, succeeds(t, s.Head(), key, "srun", "--quiet", "--mpi=none", "-N4", "-n8", quickstart))
		s.clean(t)
	})
	t.Run("sbatch", func(t *testing.T) {
		succeeds(t, s.Head(), nil, "sbatch", "--quiet", "-N4", "-n8", "--output=batch.out", "--wrap="+run+" "+quickstart+"; echo status $?")
		// sbatch --wait looks every few seconds only.
		text, found := "", false
		// sleep: a batch job tells its end by its output alone
		for limit := time.Now().Add(jobLimit); !found && time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
			out, _ := os.ReadFile(filepath.Join(s.Dir(), "batch.out")) // not there until the job begins
			text, _, found = strings.Cut(string(out), "status 0\n")
		}
		checkRing(t, 8, true, text)
		s.clean(t)
	})
	t.Run("a program on this host alone", func(t *testing.T) {
		succeeds(t, s.Head(), nil, "cp", quickstart, "/run/here")
		j := start(t, s.Head(), nil, "salloc", "--quiet", "-N2", "-n4", run, "/run/here")
		if code := j.wait(); code != 127 || j.stderr.sentences(`^gaspi-run: host .*--stage`) != 1 {
			t.Errorf("exit code %d, want 127 and a sentence\n%v", code, j)
		}
		s.clean(t)
	})
	t.Run("a rank that fails", func(t *testing.T) {
		j := start(t, s.Head(), nil, "salloc", "--quiet", "-N2", "-n4", run, "sh", "-c", `test $GASPI_RANK != 2 || exit 7; sleep 1000`)
		if code := j.wait(); code != 7 || j.stderr.sentences(`^gaspi-run: rank 2 .*exited with status 7`) != 1 {
			t.Errorf("exit code %d, want 7 and a sentence\n%v", code, j)
		}
		s.clean(t)
	})
}
