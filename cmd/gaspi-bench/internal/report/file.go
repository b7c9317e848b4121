package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes the file that a flag names as a whole or not at all: readers see the old file, or none, until the new
// one is complete. A link stays one, and a device or pipe is written to.
func WriteFile(flag, name string, write func(io.Writer) error) error {
	at := name
	if target, err := filepath.EvalSymlinks(name); err == nil {
		at = target
	}
	if info, err := os.Lstat(at); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return Unwritable(flag, name, err)
		}
		return written(flag, name, errors.Join(write(f), f.Close()))
	}
	f, err := os.CreateTemp(filepath.Dir(at), ".gaspi-bench-*")
	if err != nil {
		return Unwritable(flag, name, err)
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), at)
	}
	if err != nil {
		os.Remove(f.Name()) // the error that matters is err
	}
	return written(flag, name, err)
}

func written(flag, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", flag, name, err)
}
