package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FileSize is the size in bytes of the file behind fd.
func FileSize(fd int) (int64, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("fstat: %w", err)
	}
	return st.Size, nil
}

// CloseFile closes a descriptor.
func CloseFile(fd int) error { return unix.Close(fd) }
