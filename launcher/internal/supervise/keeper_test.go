package supervise

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/gaspi-go/gaspi-go/internal/base"
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

// awaitEmptyGroup waits until nothing runs in a process group.
func awaitEmptyGroup(t *testing.T, group int) {
	t.Helper()
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(leftoverPoll)
	defer tick.Stop()
	for len(livingGroups(map[int]bool{group: true})) > 0 {
		select {
		case <-tick.C:
		case <-limit:
			t.Errorf("process group %d is left", group)
			return
		}
	}
}
