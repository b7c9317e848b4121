package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// CheckWritable reports whether Save will be able to write files, without leaving anything
// behind; an empty name is no file. It is asked before hours of computing.
func CheckWritable(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		inPlace, err := isInPlace(path)
		if err != nil {
			return err
		}
		if inPlace {
			continue
		}
		f, err := os.OpenFile(temporary(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return unwritable(path, err)
		}
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Show writes to out at once all that print does.
func Show(out io.Writer, print func(io.Writer)) error {
	var text strings.Builder
	print(&text)
	_, err := io.WriteString(out, text.String())
	return err
}

// SaveJSON is Save of v on one line.
func SaveJSON(path string, v any) error {
	return Save(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	})
}

// Save writes a file as a whole or not at all: readers see the old file, or none, until the
// new one is complete. A device, a pipe or a link stays what it is, and is written through. An
// empty name is no file.
func Save(path string, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	inPlace, err := isInPlace(path)
	if err != nil {
		return err
	}
	target := path
	if !inPlace {
		target = temporary(path)
	}
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return unwritable(path, err)
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && !inPlace {
		err = os.Rename(target, path)
	}
	if err != nil {
		if !inPlace {
			os.Remove(target) // the error that matters is err
		}
		return unwritable(path, err)
	}
	return nil
}

// temporary is the name that a file has while it is written. The process id
// keeps two jobs apart that write the same file.
func temporary(path string) string { return fmt.Sprintf("%s.%d.tmp", path, os.Getpid()) }

// isInPlace reports whether path is something that must not be replaced by a file, such as
// /dev/null, a pipe or a link.
func isInPlace(path string) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, unwritable(path, err)
	case info.IsDir():
		return false, fmt.Errorf("%s is a directory; give the name of a file in it", path)
	}
	return !info.Mode().IsRegular(), nil
}

// unwritable names the file that the user gave, and not the temporary one.
func unwritable(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		err = le.Err
	}
	return fmt.Errorf("%s cannot be written: %w", path, err)
}

// Plural writes a number and what it counts, such as "2 ranks".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
