package system

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

// envRole makes this test program a rank: its value says of what.
const envRole = "SYSTEM_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(envRole)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// jobLimit is what no job here comes near, unless it hangs.
const jobLimit = 90 * time.Second

// gate skips these tests unless they were asked for.
func gate(t *testing.T) {
	t.Helper()
	if os.Getenv("GASPI_TEST_CLUSTER") != "1" {
		t.Skip("GASPI_TEST_CLUSTER is not 1: it takes minutes and is run by .ci/run cluster")
	}
}

// A site is a cluster with the programs of this project on it.
type site struct {
	*cluster.Cluster
	bin string // where the programs are
}

const module = "github.com/gaspi-go/gaspi-go/"

// newSite makes a cluster and builds gaspi-run and other programs of the module.
func newSite(t *testing.T, hosts int, programs ...string) *site {
	t.Helper()
	gate(t)
	s := &site{Cluster: cluster.New(t, hosts)}
	packages := []string{module + "cmd/gaspi-run"}
	for _, p := range programs {
		packages = append(packages, module+p)
	}
	s.bin = s.Build(t, packages...)
	return s
}

// program is the path of one of them.
func (s *site) program(name string) string { return s.bin + "/" + name }

// A job is a command on a host, with how it ended.
type job struct {
	cmd            *exec.Cmd
	stdout, stderr output
	stop           context.CancelFunc
}

// start runs a command on a host, as a user would; the job ends with the test, or
// after jobLimit.
func start(t *testing.T, h *cluster.Host, env []string, name string, args ...string) *job {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), jobLimit)
	t.Cleanup(cancel)
	j := &job{cmd: h.Command(ctx, name, args...), stop: cancel}
	j.cmd.Env = append(j.cmd.Env, env...)
	j.cmd.Stdout, j.cmd.Stderr = &j.stdout, &j.stderr
	over := make(chan struct{})
	j.stdout.over, j.stderr.over = over, over
	if err := j.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(over)
		j.cmd.Wait()
	}()
	return j
}

// wait returns the exit code, -1 if the job did not end in time.
func (j *job) wait() int {
	<-j.stdout.over
	return j.cmd.ProcessState.ExitCode()
}

// String is all that the job printed, for messages.
func (j *job) String() string {
	return fmt.Sprintf("%s\nstdout:\n%s\nstderr:\n%s", strings.Join(j.cmd.Args, " "), j.stdout.String(), j.stderr.String())
}

// succeeds runs a job that has to end well and say nothing on standard error,
// and returns what it printed.
func succeeds(t *testing.T, h *cluster.Host, env []string, name string, args ...string) string {
	t.Helper()
	j := start(t, h, env, name, args...)
	if code := j.wait(); code != 0 || j.stderr.String() != "" {
		t.Fatalf("exit code %d\n%v", code, j)
	}
	return j.stdout.String()
}

// clean checks that a job left nothing on any host.
func (s *site) clean(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Clean(ctx); err != nil {
		t.Error(err)
	}
}
