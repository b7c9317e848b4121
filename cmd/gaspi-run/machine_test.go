package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// buildRefuse builds the command that refuses system calls.
func buildRefuse(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "refuse")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", path, "github.com/gaspi-go/gaspi-go/internal/testenv/refuse")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	testenv.NeedSuccess(t, "have system calls refused", path, "EPERM", "perf_event_open", "true")
	return path
}

// A surrounding is something that a machine lacks, as the command that takes it away.
type surrounding struct {
	name string
	by   []string
	args []string // of gaspi-run
	code int
	says string // in what ranks print or gaspi-run says; empty for a job that ends well
}

// try runs a job of two ranks that meet.
func (s surrounding) try(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(append(append(s.by[1:len(s.by):len(s.by)], gaspiRun, "-n", "2", "--env", testenv.AsRole("barriers", "at once")), s.args...), self)
	l := startCommand(t, s.by[0], args...)
	var said strings.Builder
	for line := range l.lines {
		said.WriteString(line + "\n")
	}
	code := l.wait()
	if said.WriteString(l.complaints()); code != s.code || !strings.Contains(said.String(), s.says) {
		t.Errorf("exit code %d, want %d and %q; said:\n%s", code, s.code, s.says, &said)
	}
}

func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	refuse := buildRefuse(t)
	const pidfds, others = "pidfd_open,pidfd_send_signal,pidfd_getfd", "process_vm_readv,process_vm_writev,perf_event_open,io_uring_setup,membarrier,ptrace,statx"
	for _, s := range []surrounding{
		{"pidfds", []string{refuse, "EPERM", pidfds}, nil, 0, ""},
		{"pidfds unknown", []string{refuse, "ENOSYS", pidfds}, nil, 0, ""},
		{"pidfds, tcp", []string{refuse, "EPERM", pidfds}, []string{"--transport", "tcp"}, 0, ""},
		{"others", []string{refuse, "EPERM", others}, nil, 0, ""},
		{"others unknown", []string{refuse, "ENOSYS", others}, nil, 0, ""},
		{"memory files", []string{refuse, "EPERM", "memfd_create"}, nil, 1, "shared memory: memfd_create: operation not permitted: this kernel lacks it, or a filter of system calls (seccomp) such as a container's forbids it"},
	} {
		t.Run(s.name, s.try)
	}
	t.Run("the end of a rank is seen", func(t *testing.T) {
		l := startCommand(t, refuse, "EPERM", pidfds, gaspiRun, "-n", "2", "sh", "-c", `test $GASPI_RANK = 1 || exec sleep 1000; kill -9 $$`)
		if code, text := l.wait(), l.stderr.String(); code != 137 || !strings.Contains(text, "gaspi-run: rank 1 (pid ") || !strings.Contains(text, "was killed by signal 9 (killed)") {
			t.Errorf("exit code %d, stderr %q; want 137 and rank 1", code, text)
		}
	})
}

func TestWithoutOwnProc(t *testing.T) {
	t.Parallel()
	testenv.Need(t, "unshare")
	namespace := []string{"unshare", "--pid", "--fork"}
	testenv.NeedSuccess(t, "make a namespace of processes", "unshare", "--pid", "--fork", "true")
	for _, s := range []surrounding{
		{"shm", namespace, nil, 1, "ranks open each other's memory through /proc, which is not mounted here, or is that of another PID namespace: mount -t proc proc /proc, or use transport tcp"},
		{"tcp", namespace, []string{"--transport", "tcp"}, 0, ""},
	} {
		t.Run(s.name, s.try)
	}
	t.Run("a package is built", func(t *testing.T) {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":  "module example.test/m\n\ngo 1.21\n",
			"main.go": "package main\n\nfunc main() { println(\"built\") }\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l := startCommand(t, namespace[0], append(namespace[1:], gaspiRun, "-n", "1", dir)...)
		if code, text := l.wait(), l.stderr.String(); code != 0 || text != "[0] built\n" {
			t.Errorf("exit code %d, stderr %q; want 0 and what the program writes", code, text)
		}
		bare := []string{"unshare", "--mount", "sh", "-c", `umount -l /proc && exec "$@"`, "sh"}
		testenv.NeedSuccess(t, "have no /proc", bare[0], append(bare[1:len(bare):len(bare)], "true")...)
		l = startCommand(t, bare[0], append(bare[1:], gaspiRun, "-n", "1", dir)...)
		want := "gaspi-run: build " + dir + ": readlink /proc/self: no such file or directory: the go command writes to the memory of gaspi-run through /proc: " +
			"mount -t proc proc /proc, or build the package and run the file\n"
		if code, text := l.wait(), l.stderr.String(); code != 1 || text != want {
			t.Errorf("exit code %d, stderr %q; want 1 and %q", code, text, want)
		}
	})
	t.Run("nothing is left", func(t *testing.T) {
		l := startCommand(t, namespace[0], append(namespace[1:], gaspiRun, "-v", "-n", "2", "true")...)
		if code, text := l.wait(), l.stderr.String(); code != 0 || strings.Contains(text, "left running") || !strings.Contains(text, "rank 1 (pid ") {
			t.Errorf("exit code %d, stderr %q; want 0 and no processes that ranks have left", code, text)
		}
	})
	t.Run("a process is left", func(t *testing.T) {
		l := startCommand(t, namespace[0], append(namespace[1:], gaspiRun, "-v", "-n", "1", "--kill-grace", "1h", "sh", "-c", "sleep 1000 &")...)
		if code, text := l.wait(), l.stderr.String(); code != 0 || !strings.Contains(text, "ending what the ranks have left running: [-") {
			t.Errorf("exit code %d, stderr %q; want 0 and the process group of rank 0", code, text)
		}
	})
}

func TestLoopbackDown(t *testing.T) {
	t.Parallel()
	testenv.Need(t, "unshare")
	testenv.NeedSuccess(t, "make a namespace of networks", "unshare", "--net", "true")
	for _, s := range []surrounding{
		{"shm", []string{"unshare", "--net"}, nil, 0, ""},
		{"tcp", []string{"unshare", "--net"}, []string{"--transport", "tcp"}, 1, "the loopback interface has to be up (ip link set lo up): this host has lo (down)"},
	} {
		t.Run(s.name, s.try)
	}
}
