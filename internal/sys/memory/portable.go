//go:build !linux || portable

package memory

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Create makes a file of size bytes that no path names, by removing its name, and
// returns its descriptor. It vanishes with its last descriptor and mapping.
func Create(name string, size int64) (fd int, err error) {
	f, err := os.CreateTemp("", "gaspi-*")
	if err != nil {
		return -1, fmt.Errorf("memory file %s: %w", name, err)
	}
	defer f.Close()
	if err := errors.Join(os.Remove(f.Name()), f.Truncate(size)); err != nil {
		return -1, fmt.Errorf("memory file of %d bytes: %w", size, err)
	}
	if fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return -1, fmt.Errorf("memory file %s: %w", name, err)
	}
	return fd, nil
}

// OpenPeer returns an error: memory of other processes cannot be reached.
func OpenPeer(int, int) (int, error) { return -1, sys.OnlyLinux("memory of other processes") }

// AdviseHuge does nothing.
func AdviseHuge([]byte) {}

// DiscardZeros does nothing: the pages of a mapping that MapZeros made go back when it ends.
func DiscardZeros([]byte) {}

// Discard writes zeros to the first size bytes of a memory file. Its pages go back to the
// system with the last mapping.
func Discard(fd int, size int64) error {
	zeros := make([]byte, min(size, 1<<20))
	for at := int64(0); at < size; {
		n, err := unix.Pwrite(fd, zeros[:min(size-at, int64(len(zeros)))], at)
		if err != nil {
			return fmt.Errorf("pwrite: %w", err)
		}
		at += int64(n)
	}
	return nil
}
