//go:build linux && !portable

package process

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// TestEndOfAProcess holds a process by each of the two descriptors that there are.
func TestEndOfAProcess(t *testing.T) {
	for name, hold := range map[string]func(pid int) (int, error){
		"pidfd": Hold,
		"directory": func(pid int) (int, error) {
			return unix.Open("/proc/"+strconv.Itoa(pid), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sleep", "1000")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			fd, err := hold(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			defer sys.CloseFile(fd)
			if AwaitEnd(fd, 0) || AwaitEnd(fd, time.Millisecond) {
				t.Error("a process that runs has ended")
			}
			cmd.Process.Kill()
			if !AwaitEnd(fd, time.Minute) || !AwaitEnd(fd, 0) {
				t.Error("a zombie has not ended")
			}
			cmd.Wait()
			if !AwaitEnd(fd, 0) {
				t.Error("a process that was reaped has not ended")
			}
		})
	}
}

// TestReopenWithFewDescriptors asks for a number that this process may not have.
func TestReopenWithFewDescriptors(t *testing.T) {
	fd, err := CreateProgramFile("test")
	if err != nil {
		t.Fatal(err)
	}
	defer sys.CloseFile(fd)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := unix.Rlimit{Cur: 64, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	read, err := ReopenReadOnly(fd, 64)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err != nil || read < 32 || read > 63 {
		t.Fatalf("descriptor %d, %v; want one from 32 to 63", read, err)
	}
	sys.CloseFile(read)
}

func TestReapIfEnded(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read x")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if ReapIfEnded(pid) {
		t.Error("a living child was reaped")
	}
	stdin.Close()
	awaitExit(t, pid)
	if !ReapIfEnded(pid) || slices.Contains(Children(), pid) {
		t.Error("the child that ended is still there")
	}
}

func TestProgramFileRuns(t *testing.T) {
	t.Run("memory", func(t *testing.T) { runs(t, func() (int, error) { return CreateProgramFile("copy") }) })
	t.Run("directory", func(t *testing.T) {
		dir := t.TempDir()
		runs(t, func() (int, error) { return createNameless(dir) })
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v, %v in the directory, want nothing", left, err)
		}
	})
}

// runs executes a program that was written to a new file.
func runs(t *testing.T, create func() (int, error)) {
	t.Helper()
	fd, err := create()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("no /bin/true here: ", err)
	}
	w := os.NewFile(uintptr(fd), "copy")
	if _, err := w.Write(program); err != nil {
		t.Fatal(err)
	}
	read, err := ReopenReadOnly(fd, 50)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	defer sys.CloseFile(read)
	if read < 50 {
		t.Errorf("descriptor %d, want at least 50", read)
	}
	if err := exec.Command("/proc/self/fd/" + strconv.Itoa(read)).Run(); err != nil {
		t.Errorf("executing it: %v", err)
	}
}

func TestAdoptOrphans(t *testing.T) {
	if err := AdoptOrphans(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(out[:len(out)-1]))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(Children(), pid) {
		t.Errorf("orphan %d is not among %v", pid, Children())
	}
	syscall.Kill(pid, syscall.SIGKILL)
	if got := awaitExit(t, pid); got.Signal != syscall.SIGKILL {
		t.Errorf("%+v; want killed by signal 9", got)
	}
	ReapIfEnded(pid)
}
