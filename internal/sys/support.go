package sys

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// CallRefused reports whether the error of a system call says that the kernel lacks it or
// that a filter (seccomp) such as a container's forbids it.
func CallRefused(err error) bool { return err == unix.ENOSYS || err == unix.EPERM }

// OnlyLinux returns the error of a feature that other systems lack.
func OnlyLinux(feature string) error {
	return fmt.Errorf("%s: %s/%s has none, only Linux: %w", feature, runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}
