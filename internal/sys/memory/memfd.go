//go:build linux && !portable

package memory

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// Create makes an anonymous memory file of size bytes that no path names
// and returns its descriptor. The file can neither shrink nor grow, so that a
// mapping of it never faults for want of pages behind it. It vanishes with its
// last descriptor and mapping, also when every process is killed.
func Create(name string, size int64) (fd int, err error) {
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if sys.CallRefused(err) {
		return -1, fmt.Errorf("memfd_create: %w: this kernel lacks it, or a filter of system calls (seccomp) such as a container's forbids it", err)
	}
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	if err := unix.Ftruncate(fd, size); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("memory file of %d bytes: %w", size, err)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("seal memory file: %w", err)
	}
	return fd, nil
}

// OpenPeer opens descriptor fd of process pid, which must belong to the
// same user. It is how a memory file reaches another rank of the same host
// without a name in any file system.
func OpenPeer(pid, fd int) (int, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	got, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	var st unix.Stat_t
	switch {
	case err == nil:
		return got, nil
	case err == unix.EACCES && unix.Stat(fmt.Sprintf("/proc/%d/fd", pid), &st) == nil && int(st.Uid) != unix.Geteuid():
		return -1, fmt.Errorf("open %s: %w: the system keeps the files of this process from others of its user, as it does with a program that can be executed and not read, is setuid, or has capabilities: chmod +r its file, or use transport tcp", path, err)
	}
	if err == unix.ENOENT && !sys.OwnProc() {
		return -1, fmt.Errorf("open %s: %w: ranks open each other's memory through /proc, which is not mounted here, or is that of another PID namespace: mount -t proc proc /proc, or use transport tcp", path, err)
	}
	return -1, fmt.Errorf("open %s: %w", path, err)
}

// AdviseHuge asks for huge pages behind mem. It is a wish: a kernel that does
// not grant it changes nothing but speed, so there is no error.
func AdviseHuge(mem []byte) { _ = unix.Madvise(mem, unix.MADV_HUGEPAGE) }

// DiscardZeros gives the pages of a mapping that MapZeros made back to the system at once. It stays valid and reads
// as zeros.
func DiscardZeros(mem []byte) { _ = unix.Madvise(mem, unix.MADV_DONTNEED) } // a mapping that is whole is not refused

// Discard gives the pages of the first size bytes of a memory file back to the
// system at once. Existing mappings stay valid and read as zeros.
func Discard(fd int, size int64) error {
	return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, size)
}
