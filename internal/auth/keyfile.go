package auth

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// maxKeyFile bounds what is read of a file, in bytes: credentials have fewer than 400.
const maxKeyFile = 1024

// ReadCredentials reads credentials from a file: as Text wrote them, or a key alone, with
// or without a newline. The file must be a regular one that other users cannot read. It
// may also be a descriptor that this process has inherited, such as /proc/self/fd/7, which
// is whatever who has started the process made it.
func ReadCredentials(path string) (Credentials, error) {
	// Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Credentials{}, fmt.Errorf("reading the job key: %w", err)
	}
	defer f.Close()
	if !isDescriptor(path) {
		if err := checkKeyFile(f); err != nil {
			return Credentials{}, fmt.Errorf("the job key in %s %w", path, err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return Credentials{}, fmt.Errorf("reading the job key: %w", err)
	}
	c, err := ParseCredentials(string(text))
	if err != nil {
		return Credentials{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func isDescriptor(path string) bool {
	return strings.HasPrefix(path, "/proc/self/fd/") || strings.HasPrefix(path, "/dev/fd/")
}

// checkKeyFile refuses files in which others may read the key, as ssh does with a private
// key: everybody, or the group of a file that belongs to this user. A file of another
// user's, such as a Secret of Kubernetes, can be for this user through its group alone.
func checkKeyFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("cannot be looked at: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("is not in a regular file (%v): expected a file with 64 hexadecimal digits", info.Mode().Type())
	}
	mode := info.Mode().Perm()
	open := mode & 0o007
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == os.Getuid() {
		open = mode & 0o077
	}
	if open != 0 {
		return fmt.Errorf("is open to other users (mode %04o), who could join the job: make it yours alone with chmod 600, and take a new key if they may have read it", mode)
	}
	return nil
}
