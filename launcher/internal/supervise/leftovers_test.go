package supervise

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.Main(m, map[string]testenv.Role{"regroups": regroup})
}

// regroup joins a process group of its own and leaves it again for another one, as the lines of its
// standard input say. The argument is the number of the other one.
func regroup(_ context.Context, args []string) error {
	other, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		group := 0 // one of its own
		if lines.Text() == "leave" {
			group = other
		}
		if err := syscall.Setpgid(0, group); err != nil {
			return err
		}
		fmt.Println("done")
	}
	return lines.Err()
}

// TestAnEmptyGroupIsLeftAlone has the number of a rank's process group belong to a process of
// somebody else, as after the system has given it away again.
func TestAnEmptyGroupIsLeftAlone(t *testing.T) {
	cases := []struct {
		name  string
		looks []bool // whether the group has a member
		found []bool // whether it counts as left
	}{
		{"a rank has left something", []bool{true, true, true}, []bool{true, true, true}},
		{"what a rank has left ends", []bool{true, false, false}, []bool{true, false, false}},
		{"the number is used again later", []bool{true, false, true, true}, []bool{true, false, false, false}},
		{"a rank has left nothing and its number is used again", []bool{false, true, true}, []bool{false, false, false}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			pid, order := startRegroup(t)
			process, err := os.FindProcess(pid)
			if err != nil {
				t.Fatal(err)
			}
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			a := &Ranks{ranks: []*rank{{process: process, reaped: true}}, keeper: &keeper{pipe: write, known: 1}}
			was := false
			for i, member := range c.looks {
				if member != was {
					order(map[bool]string{true: "join", false: "leave"}[member])
				}
				was = member
				left := a.leftovers()
				a.keeper.narrow(left)
				if found := slices.Contains(left, -pid); found != c.found[i] {
					t.Errorf("look %d: the group of %d is left: %v, want %v", i, pid, found, c.found[i])
				}
			}
			write.Close()
			told, err := io.ReadAll(read)
			want := ""
			if slices.Contains(c.found, false) {
				want = "only\n"
			}
			if err != nil || string(told) != want {
				t.Errorf("the keeper is told %q, %v; want %q", told, err, want)
			}
		})
	}
}

// startRegroup starts a process in a process group that another process leads, and returns what has
// it join and leave one of its own. The group of the test itself has no number where its leader is
// outside of the test's namespace of processes.
func startRegroup(t *testing.T) (pid int, order func(string)) {
	t.Helper()
	leader, _ := startInGroup(t, 0)
	return startInGroup(t, leader)
}

// startInGroup starts a process that does what regroup does, in the group of that number, or in one
// of its own if that is 0.
func startInGroup(t *testing.T, group int) (pid int, order func(string)) {
	t.Helper()
	cmd := testenv.Command(context.WithoutCancel(t.Context()), "regroups", strconv.Itoa(group)) // it ends with its input
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	cmd.Stderr = os.Stderr
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
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	answers := bufio.NewScanner(out)
	return cmd.Process.Pid, func(word string) {
		fmt.Fprintln(in, word)
		if !answers.Scan() || answers.Text() != "done" {
			t.Fatalf("%s: answer %q, %v", word, answers.Text(), answers.Err())
		}
	}
}

func TestParseStat(t *testing.T) {
	cases := []struct {
		name, stat string
		state      byte
		group      int
	}{
		{"plain", "12 (sleep) S 1 34 34 0", 'S', 34},
		{"odd name", "12 (a ) Z 9 (b) R 1 35 34 0", 'R', 35},
		{"cut off", "12 (sleep) S", 0, 0},
		{"empty", "", 0, 0},
	}
	for _, c := range cases {
		if state, group := parseStat([]byte(c.stat)); state != c.state || group != c.group {
			t.Errorf("%s: %q, %d; want %q, %d", c.name, state, group, c.state, c.group)
		}
	}
}
