//go:build linux && !portable

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mfdExec is MFD_EXEC: the memory file may be executed, whatever the system's
// default is. Kernels before 6.3 do not know it and allow execution anyway.
const mfdExec = 0x10

// CreateProgramFile makes an empty memory file that a program can be written
// to and then executed from. It vanishes with its last descriptor. It cannot be
// executed while a descriptor is open for writing, as this one is.
func CreateProgramFile(name string) (fd int, err error) {
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|mfdExec)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	}
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	return fd, nil
}

// ReopenReadOnly opens the file behind fd once more, for reading, with a
// descriptor number of at least lowest, closed on exec.
func ReopenReadOnly(fd, lowest int) (int, error) {
	read, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("reopen descriptor %d: %w", fd, err)
	}
	defer unix.Close(read)
	moved, err := unix.FcntlInt(uintptr(read), unix.F_DUPFD_CLOEXEC, lowest)
	if err != nil {
		return -1, fmt.Errorf("duplicate descriptor %d: %w", read, err)
	}
	return moved, nil
}
