package supervise

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/boot"
	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher/internal/stdio"
)

// TestKeeperKnowsARankAtOnce ends what rank 0 has started when the launcher is killed by
// signal 9 before the next rank is there.
func TestKeeperKnowsARankAtOnce(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer in.Close()
	errKilled := errors.New("the launcher was killed")
	script := `(trap '' HUP INT TERM; while :; do sleep 0.01; done) & echo begun; wait`
	a := New(Task{
		Command: Command{Path: "/bin/sh", Name: "sh", Args: []string{"-c", script}, Check: func() error { return nil }},
		Own:     make([][]string, 2),
		Link:    func(base.Rank) (*os.File, error) { return os.Open(os.DevNull) },
		Report:  func(any) {}, Log: func(string) {},
		Thread: NewThread(), Children: &Children{},
	})
	defer a.task.Thread.Close()
	a.task.Files = func(r base.Rank) (*stdio.Files, error) {
		if r == 0 {
			return &stdio.Files{Stdin: null, Stdout: in, Stderr: null}, nil
		}
		if line := ""; a.keeper != nil {
			fmt.Fscanln(out, &line)
			a.keeper.pipe.Close() // as the system does with what is killed
			awaitEmptyGroup(t, a.ranks[0].pid())
		} else {
			t.Error("a rank is started, and nobody keeps it")
		}
		return nil, errKilled
	}
	if err := a.Start(); !errors.Is(err, errKilled) {
		t.Errorf("%v, want %v", err, errKilled)
	}
	a.Signal(syscall.SIGKILL)
	a.Finish(nil)
	a.Close()
}

// TestKeeperKillsWhatIsStillThere has the launcher go without a word.
func TestKeeperKillsWhatIsStillThere(t *testing.T) {
	cases := []struct {
		name  string
		looks [][]int // which of three groups are left, look by look
		lives []bool
	}{
		{"before the first look", nil, []bool{false, false, false}},
		{"all are left", [][]int{{0, 1, 2}}, []bool{false, false, false}},
		{"one is left", [][]int{{1}}, []bool{true, false, true}},
		{"they go one after the other", [][]int{{0, 2}, {2}, {2}}, []bool{true, true, false}},
		{"none is left", [][]int{{0}, {}}, []bool{true, true, true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k, err := newKeeper(&Ranks{task: Task{Children: &Children{}}})
			if err != nil {
				t.Fatal(err)
			}
			var groups []*exec.Cmd
			for range c.lives {
				cmd := exec.CommandContext(t.Context(), "sleep", "1000")
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				groups = append(groups, cmd)
				if err := k.keep(cmd.Process.Pid); err != nil {
					t.Error(err)
				}
			}
			for _, look := range c.looks {
				left := []int{os.Getpid()} // an adopted process, which is no group
				for _, i := range look {
					left = append(left, -groups[i].Process.Pid)
				}
				k.narrow(left)
			}
			k.pipe.Close() // as the system does with what is killed
			k.process.Wait()
			for i, cmd := range groups {
				cmd.Process.Signal(syscall.SIGTERM) // the first signal to come is the one that ends it
				cmd.Wait()
				ended := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
				if lives := ended == syscall.SIGTERM; lives != c.lives[i] {
					t.Errorf("group %d ended by %v; want it to live: %v", i, ended, c.lives[i])
				}
			}
		})
	}
}

// TestKeeperKnowsProcessesOfTheJob has the launcher go without a word before it could tell the process group of a rank: what
// the rank has started ends too, in its group and beyond, and nothing of other jobs and hosts or of none does.
func TestKeeperKnowsProcessesOfTheJob(t *testing.T) {
	testenv.Need(t, "setsid")
	const job, host = boot.EnvJob + "=0123456789abcdef", boot.EnvHost + "=1"
	script := `trap '' HUP INT TERM; exec 3<&0; wait='echo begun; read line <&3; echo ended'; setsid sh -c "$wait" & eval "$wait"`
	for _, c := range []struct {
		name     string
		own, env []string
		lives    bool
	}{
		{"of the job", []string{boot.EnvRank + "=0", job}, []string{"A=a line\nof two", job, "Z=z"}, false},
		{"of the host", []string{job, host}, []string{host, "A=a line\nof two", job}, false},
		{"of another host", []string{job, host}, []string{host + "2", job}, true},
		{"of another job", []string{job, host}, []string{boot.EnvJob + "=0123456789abcdee", host}, true},
		{"of no job", []string{job}, []string{"A=0123456789abcdef"}, true},
		{"of a job without an id", []string{boot.EnvJob + "="}, []string{boot.EnvJob + "="}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := newKeeper(&Ranks{task: Task{Children: &Children{}}, ranks: []*rank{{env: c.own}}})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
			cmd.Env = append(c.env, "PATH="+os.Getenv("PATH"))
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for range 2 {
				lines.Scan() // both are there
			}
			k.pipe.Close() // as the system does with what is killed
			k.process.Wait()
			if c.lives {
				in.Close()
			}
			defer time.AfterFunc(testenv.Limit(t), func() { in.Close() }).Stop() // else what lives is waited for
			live := 0
			for lines.Scan() { // until nothing can write any more
				live++
			}
			cmd.Wait()
			if want := map[bool]int{true: 2}[c.lives]; live != want {
				t.Errorf("%d of two processes were left, want %d", live, want)
			}
		})
	}
}

// awaitEmptyGroup waits until nothing runs in a process group.
func awaitEmptyGroup(t *testing.T, group int) {
	t.Helper()
	testenv.Eventually(t, fmt.Sprintf("the end of process group %d", group), func() bool { return len(livingGroups(map[int]bool{group: true})) == 0 })
}
