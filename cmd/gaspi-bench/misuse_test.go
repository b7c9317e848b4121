package main

import (
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/ranktest"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// Goal: ranks that are started with a command line that makes no sense say so in one line, all
// together, and end with the exit code for that; also where it only makes no sense in this job.
func TestMisuseUnderGaspiRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		args  string
		want  string
	}{
		{"another number of ranks", 3, "allreduce -n 2", "-n 2, but this job has 3 ranks; drop -n under gaspi-run"},
		{"too few ranks", 1, "latency", "this job has 1 rank; latency needs at least 2"},
		{"an emulated network of one", 1, "allreduce --emulate latency=100us,bandwidth=150MB/s", "--emulate: a network needs at least 2 ranks, and this job has 1; start more ranks"},
		{"a root that there is not", 2, "broadcast --root 5", "--root 5: there are ranks 0 to 1"},
		{"goroutines", 2, "barrier --transport loopback", "--transport loopback: it connects ranks of one process, and this job has several processes; use auto, shm or tcp; see gaspi-bench --help"},
		{"a command that starts ranks", 2, "tune", "tune starts its own ranks; run it without gaspi-run; see gaspi-bench --help"},
		{"the start of a job", 2, "startup", "startup starts the jobs that it measures; run it without gaspi-run; see gaspi-bench --help"},
		{"a command of figures", 2, "report", "report starts its own ranks; run it without gaspi-run; see gaspi-bench report --help"},
		{"an unknown operation", 4, "nope", `unknown operation "nope"; choose one of `},
		{"help on nothing", 4, "help nope", `there is no help on "nope"; choose one of `},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ranktest.Run(t, launcher.Config{Ranks: c.ranks, Args: strings.Fields(c.args)}, program)
			if o.ExitCode != exitUsage || o.Stdout != "" || !strings.HasPrefix(o.Stderr, "[0] gaspi-bench: "+c.want) || strings.Count(o.Stderr, "\n") != 1 {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d and one line with %q", o.ExitCode, o.Stdout, o.Stderr, exitUsage, c.want)
			}
		})
	}
}
