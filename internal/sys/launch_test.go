//go:build linux && !portable

package sys

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAwaitExitSaysHowAndLeavesTheZombie(t *testing.T) {
	cases := []struct {
		name, script string
		want         Exit
	}{
		{"status 0", "exit 0", Exit{}},
		{"status 3", "exit 3", Exit{Status: 3}},
		{"signal", "kill -KILL $$", Exit{Signal: unix.SIGKILL}},
		{"after a while", "read x; exit 7", Exit{Status: 7}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", c.script)
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go stdin.Close()
			got, err := AwaitExit(cmd.Process.Pid)
			if err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
			if !slices.Contains(Children(), cmd.Process.Pid) {
				t.Error("the child is no longer listed; want it to be left for its owner to reap")
			}
			if cmd.Wait(); cmd.ProcessState == nil {
				t.Error("its owner could not wait for it any more")
			}
		})
	}
}

func TestAwaitExitOfNoChild(t *testing.T) {
	if _, err := AwaitExit(os.Getppid()); err == nil {
		t.Error("waiting for the parent succeeded")
	}
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
	if _, err := AwaitExit(pid); err != nil {
		t.Error(err)
	}
	if !ReapIfEnded(pid) || slices.Contains(Children(), pid) {
		t.Error("the child that ended is still there")
	}
}

func TestThreadCoresAreInherited(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all, err := ThreadCores()
	if err != nil {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	if err := SetThreadCores([]int{last}); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command("grep", "Cpus_allowed_list", "/proc/self/status").Output()
	if restore := SetThreadCores(all); restore != nil {
		t.Fatal(restore)
	}
	want := "Cpus_allowed_list:\t" + strconv.Itoa(last) + "\n"
	if err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if got, _ := ThreadCores(); !slices.Equal(got, all) {
		t.Errorf("restored to %v, want %v", got, all)
	}
}

func TestProgramFileRuns(t *testing.T) {
	fd, err := CreateProgramFile("copy")
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
	defer CloseFile(read)
	if read < 50 {
		t.Errorf("descriptor %d, want at least 50", read)
	}
	if err := exec.Command("/proc/self/fd/" + strconv.Itoa(read)).Run(); err != nil {
		t.Errorf("executing it: %v", err)
	}
}

func TestTerminalQuestionsOnAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	stopR, stopW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stopR.Close()
	fd, stop := int(r.Fd()), int(stopR.Fd())
	if IsTerminal(fd) || TerminalWidth(fd) != 0 || InForeground(fd) {
		t.Error("a pipe was taken for a terminal")
	}
	w.Write([]byte("x"))
	if stopped, err := AwaitReadable(fd, stop); stopped || err != nil {
		t.Errorf("stopped %v, %v; want something to read", stopped, err)
	}
	stopW.Close()
	if stopped, err := AwaitReadable(fd, stop); !stopped || err != nil {
		t.Errorf("stopped %v, %v; want the stop", stopped, err)
	}
	w.Close()
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
	if got, err := AwaitExit(pid); err != nil || got.Signal != syscall.SIGKILL {
		t.Errorf("%+v, %v; want killed by signal 9", got, err)
	}
	ReapIfEnded(pid)
}
