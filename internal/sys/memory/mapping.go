package memory

import (
	"fmt"

	"golang.org/x/sys/unix"
)

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
