//go:build linux && !portable

package sys

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// EnterNetwork puts the calling thread, which the caller has locked to its goroutine,
// on the network that a file names, such as /proc/1/ns/net. The thread never comes back.
func EnterNetwork(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("network %s: %w", name, err)
	}
	return nil
}
