package boot

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
)

// holder is a rank that has joined until its standard input ends.
func holder(s Session) error {
	fmt.Println("joined")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := s.Fence(context.Background(), "end", ""); err != nil {
		return err
	}
	return s.Close()
}

// Goal: of several processes that have inherited the connection of one rank, the first is the
// rank, and is not disturbed; each other one is told what to do, also by another starter's name.
func TestOneProcessOfARank(t *testing.T) {
	s := startServer(t, 1)
	conn, err := s.Attach(0)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rank := func(role string, env ...string) (out io.ReadCloser, in io.WriteCloser, end func() error) {
		cmd := testenv.Command(testenv.Context(t), role)
		cmd.Env = append(append(cmd.Env, Info{Size: 1, LocalSize: 1, Job: s.job}.Environ(3)...), env...)
		cmd.ExtraFiles = []*os.File{conn}
		if in, err = cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if out, err = cmd.StdoutPipe(); err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return out, in, cmd.Wait
	}
	refused := func(want string, env ...string) {
		t.Helper()
		out, _, end := rank("holder", env...)
		said, err := io.ReadAll(out)
		if failed := end(); err != nil || failed == nil || string(said) != want+"\n" {
			t.Errorf("said %q, %v, ended with %v; want %q", said, err, failed, want)
		}
	}
	const (
		alone = "start the program once for each rank, with gaspi-run itself, or unset all GASPI_ variables to run it alone (a child of a rank is no rank)"
		inner = "is set, as by another starter inside of the rank: start the program with gaspi-run alone, or unset all GASPI_ variables for what the other starter starts"
	)
	out, in, end := rank("holder")
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "joined\n" {
		t.Fatalf("the first process said %q, %v", line, err)
	}
	refused("another process is rank 0 of 1 already; " + alone)
	refused("another process is rank 0 of 1 already; PMI_SIZE=4 "+inner, "PMI_RANK=1", "PMI_SIZE=4", "PMI_FD=9")
	refused("another process is rank 0 of 1 already; OMPI_COMM_WORLD_SIZE=2 "+inner, "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if failed := end(); err != nil || failed != nil || len(rest) > 0 {
		t.Errorf("the first process said %q, %v, and ended with %v; want that it ends well", rest, err, failed)
	}
	refused("the launcher is gone, or an earlier process was rank 0 and has left; " + alone)
	refused("the launcher is gone, or an earlier process was rank 0 and has left; PMI_SIZE=4 "+inner, "PMI_RANK=1", "PMI_SIZE=4", "PMI_FD=9")
}

// Goal: a descriptor that is not the connection is an error that says whose it was, without the
// words of package net, and names the starter that stands between.
func TestConnectionThatAStarterHasClosed(t *testing.T) {
	cmd := testenv.Command(t.Context(), "holder")
	cmd.Env = append(append(cmd.Env, Info{Rank: 1, Size: 2, LocalSize: 1, Job: "j"}.Environ(3)...), "PMI_SIZE=2")
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd.ExtraFiles = []*os.File{file}
	out, err := cmd.CombinedOutput()
	const want = "GASPI_BOOT_FD=3 is not the connection of rank 1 of 2 to gaspi-run: getsockopt: socket operation on non-socket; PMI_SIZE=2 is set, as by another starter inside of the rank: "
	if err == nil || !strings.HasPrefix(string(out), want) || strings.Count(string(out), "\n") != 1 {
		t.Errorf("said %q, %v; want %q", out, err, want)
	}
}
