//go:build linux && !portable

package process

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestStoppedBy(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read x")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if sig := StoppedBy(pid); sig != 0 {
		t.Errorf("stopped by %v before it was", sig)
	}
	// Not by another signal: the system ignores those in a group without a terminal.
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGSTOP} {
		syscall.Kill(pid, sig)
		await(t, pid, sig)
		await(t, pid, sig) // asking did not change it
		syscall.Kill(pid, syscall.SIGCONT)
		await(t, pid, 0)
	}
	stdin.Close()
	awaitExit(t, pid)
	await(t, pid, 0)
	cmd.Wait()
}

// await polls until the child is stopped by want, since a signal takes effect
// when the child is scheduled.
func await(t *testing.T, pid int, want syscall.Signal) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for StoppedBy(pid) != want {
		if time.Now().After(deadline) {
			t.Fatalf("stopped by %v, want %v", StoppedBy(pid), want)
		}
	}
}
