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

// Map maps size bytes of fd, shared, readable and writable.
func Map(fd int, size int) ([]byte, error) {
	return MapAt(fd, 0, size)
}

// MapAt is Map of bytes from an offset on, which is a multiple of the page size.
func MapAt(fd int, offset int64, size int) ([]byte, error) {
	mem, err := unix.Mmap(fd, offset, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap %d bytes at %d: %w", size, offset, err)
	}
	return mem, nil
}

// MapZeros maps size bytes of zeros for this process alone. Pages take memory when they are written.
func MapZeros(size int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("mmap %d bytes: %w", size, err)
	}
	return mem, nil
}

// Unmap ends a mapping that Map or MapZeros made. Any later access to it faults.
func Unmap(mem []byte) error { return unix.Munmap(mem) }
