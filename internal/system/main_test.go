package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/internal/testenv/cluster"
)

func TestMain(m *testing.M) { testenv.Main(sharedBuild{m}, roles()) }

// jobLimit is what no job here comes near, unless it hangs.
const jobLimit = 90 * time.Second

// gate skips these tests unless they were asked for.
func gate(t *testing.T) {
	t.Helper()
	testenv.NeedStep(t, "GASPI_TEST_CLUSTER", "cluster")
}

// A site is a cluster with the programs of this project on it.
type site struct {
	*cluster.Cluster
	bin string // where the programs are
}

const module = "github.com/gaspi-go/gaspi-go/"

// built is the folder of the programs of all sites, which the first site builds.
var built struct {
	dir  string
	once sync.Once
	err  error
}

// sharedBuild is the tests, which share a folder for programs.
type sharedBuild struct{ *testing.M }

// Run makes the folder, which is empty, and runs the tests.
func (m sharedBuild) Run() int {
	dir, err := cluster.NewDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built.dir = dir
	return m.M.Run()
}

// build builds the programs, unless another test has.
func build() error {
	built.once.Do(func() {
		args := []string{"build", "-buildvcs=false", "-o", built.dir + "/"}
		for _, p := range []string{"cmd/gaspi-run", "examples/mfsgd", "examples/quickstart", "examples/recover"} {
			args = append(args, module+p)
		}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	return built.err
}

// newSite makes a cluster with gaspi-run and other programs of this project.
func newSite(t *testing.T, hosts int, programs ...string) *site {
	t.Helper()
	gate(t)
	s := &site{Cluster: cluster.New(t, hosts)}
	s.bin = filepath.Join(s.Dir(), "bin")
	err := errors.Join(build(), os.Mkdir(s.bin, 0o755))
	for _, p := range append(programs, "gaspi-run") {
		// A link, since a program that this process writes cannot be executed while a child
		// that another test starts has the file open, too.
		err = errors.Join(err, os.Link(filepath.Join(built.dir, p), s.program(p)))
	}
	if err != nil {
		t.Fatal(err)
	}
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
	if code := j.wait(); code != 0 || j.stderr.complaints() != "" {
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
