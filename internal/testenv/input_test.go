package testenv

import (
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKeepInputOpen looks at the input of a command: there is neither a byte nor an end.
func TestKeepInputOpen(t *testing.T) {
	cmd := exec.Command("cat")
	KeepInputOpen(t, cmd)
	in := []unix.PollFd{{Fd: int32(cmd.Stdin.(*os.File).Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(in, 0); n != 0 || err != nil {
		t.Errorf("poll returned %d, %v, events %#x; want none", n, err, in[0].Revents)
	}
}
