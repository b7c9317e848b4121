package testenv

import (
	"os"
	"os/exec"
	"testing"
)

// KeepInputOpen gives cmd a standard input that has nothing to read and does not end before the test.
// mpiexec of MPICH (seen with 4.0.2) tells its proxy that its input has ended, and is ended by SIGPIPE
// if the program, and the proxy with it, has ended before.
func KeepInputOpen(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = in
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
}
