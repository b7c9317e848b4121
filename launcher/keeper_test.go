package launcher

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

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
	c := &crew{
		task:  task{program: &program{path: "/bin/sh", name: "sh"}, args: []string{"-c", script}},
		ranks: []*rank{{number: 0}, {number: 1}}, family: &ownChildren{}, thread: newThread(),
		link:   func(Rank) (*os.File, error) { return os.Open(os.DevNull) },
		report: func(any) {}, log: func(string) {},
	}
	defer c.thread.close()
	c.equip()
	c.files = func(r Rank) (*stdio.Files, error) {
		if r == 0 {
			return &stdio.Files{Stdin: null, Stdout: in, Stderr: null}, nil
		}
		if line := ""; c.keeper != nil {
			fmt.Fscanln(out, &line)
			c.keeper.pipe.Close() // as the system does with what is killed
			awaitEmptyGroup(t, c.ranks[0].pid())
		} else {
			t.Error("a rank is started, and nobody keeps it")
		}
		return nil, errKilled
	}
	if err := c.start(); !errors.Is(err, errKilled) {
		t.Errorf("%v, want %v", err, errKilled)
	}
	c.signal(syscall.SIGKILL)
	c.finish(nil)
	c.close()
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
