package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// TestStartedByMPI starts the example as an MPI program is started.
func TestStartedByMPI(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command string
		args    []string
	}{
		{"hydra", "mpiexec.mpich", nil},
		{"hydra with ports", "mpiexec.mpich", []string{"-pmi-port"}},
		{"hydra on two hosts", "mpiexec.mpich", []string{"-launcher", "fork", "-hosts", "a,b"}}, // both are this one
		{"open mpi", "mpirun.openmpi", []string{"--oversubscribe"}},
	} {
		for _, n := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("%s/%d", c.name, n), func(t *testing.T) {
				need(t, c.command)
				if slices.Contains(c.args, "-pmi-port") {
					testenv.NeedHostName(t)
				}
				cmd := exec.CommandContext(t.Context(), c.command, append(c.args, "-n", fmt.Sprint(n), self)...)
				cmd.Env = append(os.Environ(), testenv.AsRole(program), "GASPI_JOIN_TIMEOUT=5m", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
				testenv.KeepInputOpen(t, cmd)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Errorf("%v\n%s", err, stderr.String())
				}
				var want []string
				for r := range n {
					want = append(want, fmt.Sprintf("rank %d of %d got %d", r, n, 100+(r+n-1)%n))
				}
				got := strings.Split(strings.TrimSpace(stdout.String()), "\n")
				slices.Sort(got)
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("output (-want +got):\n%s", d)
				}
			})
		}
	}
}

// need skips the test without the command.
func need(t *testing.T, command string) {
	t.Helper()
	if command == "mpiexec.mpich" {
		testenv.Need(t, "mpiexec.mpich")
		return
	}
	testenv.Need(t, "mpirun.openmpi")
}

// TestStarterThatDoesNotSayHow is a process that is one of several and has no way to the others: it
// does not become a job of its own.
func TestStarterThatDoesNotSayHow(t *testing.T) {
	for _, announced := range []string{"PMI_SIZE=2", "OMPI_COMM_WORLD_SIZE=2", "WORLD_SIZE=2", "PMIX_RANK=0"} {
		cmd := testenv.Command(t.Context(), program)
		cmd.Env = append(cmd.Env, announced)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // its code is looked at
		name, _, _ := strings.Cut(announced, "=")
		if code := cmd.ProcessState.ExitCode(); code != 1 || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 ||
			!strings.Contains(stderr.String(), "start the program with gaspi-run") || !strings.Contains(stderr.String(), "unset "+name+" to run it alone") {
			t.Errorf("%s: code %d\n%s%s", announced, code, stdout.String(), stderr.String())
		}
	}
}
