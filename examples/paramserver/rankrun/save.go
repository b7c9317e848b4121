package rankrun

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CheckWritable reports whether Save will be able to write a file, and leaves nothing
// behind. It is asked before hours of computing.
func CheckWritable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory; give the name of a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		return nil // such as /dev/null, or a pipe
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return unwritable(path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Show writes what print does to out at once, and figures to the file of --json if that has a
// name.
func Show(out io.Writer, file string, print func(io.Writer), figures any) error {
	var text strings.Builder
	print(&text)
	_, err := io.WriteString(out, text.String())
	if file == "" {
		return err
	}
	return cmp.Or(Save(file, figures), err)
}

// Save writes v as one line of JSON.
func Save(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, append(text, '\n'), 0o666); err != nil {
		return unwritable(path, err)
	}
	return nil
}

// unwritable names the file that the user gave.
func unwritable(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("%s cannot be written: %w", path, err)
}
