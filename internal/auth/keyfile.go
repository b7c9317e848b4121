package auth

import (
	"fmt"
	"os"
	"syscall"

	"github.com/gaspi-go/gaspi-go/internal/namedfile"
)

// maxKeyFile bounds what is read of a file, in bytes: credentials have fewer than 400.
const maxKeyFile = 1024

// ReadCredentials reads credentials from the file that a variable or a flag called named
// names: as Text wrote them, or a key alone, with
// or without a newline. The file must be a regular one that other users cannot read. It
// may also be a descriptor that this process has inherited, such as /proc/self/fd/7, which
// is whatever who has started the process made it.
func ReadCredentials(named, path string) (Credentials, error) {
	file := namedfile.File{Named: named, Path: path, Expected: "a file with the key of the job, 64 hexadecimal digits, that no other user can read", Most: maxKeyFile}
	f, err := file.Open()
	if err != nil {
		return Credentials{}, err
	}
	defer f.Close()
	if !file.Inherited() {
		if err := checkKeyFile(f); err != nil {
			return Credentials{}, file.Wrong(err)
		}
	}
	text, err := file.ReadFrom(f)
	if err != nil {
		return Credentials{}, err
	}
	c, err := ParseCredentials(string(text))
	if err != nil {
		return Credentials{}, file.Wrong(err)
	}
	return c, nil
}

// checkKeyFile refuses files in which others may read the key, as ssh does with a private
// key: everybody, or the group of a file that belongs to this user. A file of another
// user's, such as a Secret of Kubernetes, can be for this user through its group alone.
func checkKeyFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	open := mode & 0o007
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == os.Getuid() {
		open = mode & 0o077
	}
	if open != 0 {
		return fmt.Errorf("it is open to other users (mode %04o), who could join the job: make it yours alone with chmod 600, and take a new key if they may have read it", mode)
	}
	return nil
}
