//go:build linux && !portable

package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mfdExec is MFD_EXEC: the memory file may be executed, whatever the system's
// default is. Kernels before 6.3 do not know it and allow execution anyway.
const mfdExec = 0x10

// CreateProgramFile makes an empty memory file that a program can be written
// to and then executed from. It vanishes with its last descriptor. It cannot be
// executed while a descriptor is open for writing, as this one is. Where the system
// forbids to execute memory files (vm.memfd_noexec=2), it is a file without a name
// in the temporary directory instead.
func CreateProgramFile(name string) (fd int, err error) {
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|mfdExec)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	}
	if err == nil {
		return fd, nil
	}
	fd, fileErr := createNameless(os.TempDir())
	if fileErr != nil {
		return -1, fmt.Errorf("memfd_create: %w; instead of a memory file: %w", err, fileErr)
	}
	return fd, nil
}

// createNameless makes a file in a directory, where no path leads to it.
func createNameless(dir string) (fd int, err error) {
	fd, err = unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_EXCL|unix.O_CLOEXEC, 0o700)
	if err != nil {
		return -1, &os.PathError{Op: "make a file without a name in", Path: dir, Err: err}
	}
	return fd, nil
}

// ReopenReadOnly opens the file behind fd once more, for reading, with a
// descriptor number of at least lowest, closed on exec. Where a process may have no more
// than lowest descriptors, the number is one of the upper half of those.
func ReopenReadOnly(fd, lowest int) (int, error) {
	read, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("reopen descriptor %d: %w", fd, err)
	}
	defer unix.Close(read)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur <= uint64(lowest) {
		lowest = int(limit.Cur / 2)
	}
	moved, err := unix.FcntlInt(uintptr(read), unix.F_DUPFD_CLOEXEC, lowest)
	if err != nil {
		return -1, fmt.Errorf("duplicate descriptor %d: %w", read, err)
	}
	return moved, nil
}
