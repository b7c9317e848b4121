package testenv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// OnFullDisk runs a command whose standard output takes nothing, and returns what it has written
// to standard error, and its exit code.
func OnFullDisk(t testing.TB, cmd *exec.Cmd) (stderr string, code int) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		Lack(t, err.Error())
	}
	defer full.Close()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = full, &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return said.String(), cmd.ProcessState.ExitCode()
}
