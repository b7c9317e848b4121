// Package namedfile reads files, and makes directories, that a variable of the environment or a flag names. Such a
// path may be a mistake: a named pipe that nobody writes to, a device without an end, a
// directory, a file of many gigabytes. None of these may block a reader or fill its memory.
//
// It does not know what the files contain, and files that the runtime itself makes are
// not read with it.
package namedfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// A File is a file as a user has named it.
type File struct {
	Named    string // the variable or the flag, such as GASPI_MACHINE or --hostfile, or words such as "file of hosts"
	Path     string
	Expected string // the file that was expected, with its article
	Most     int64  // bytes that Read and JSON accept
}

// NewDir is what is expected where MakeDir is called.
const NewDir = "a directory, or the name of a new one in a directory that this user may write to"

// longestPath bounds a path in an error, in bytes.
const longestPath = 200

// Wrong returns an error that names the variable or the flag, quotes the path, says what is
// wrong, and says what was expected.
func (f File) Wrong(what error) error {
	return fmt.Errorf("%s: %w; expected %s", f.title(), what, f.Expected)
}

func (f File) title() string {
	between := " "
	if strings.HasPrefix(f.Named, "GASPI_") {
		between = "="
	}
	path := f.Path
	if len(path) > longestPath {
		path = strings.ToValidUTF8(path[:longestPath], "") + "..."
	}
	return fmt.Sprintf("%s%s%q", f.Named, between, path)
}

// Inherited reports whether the path is a descriptor that this process has inherited, such as
// /dev/stdin or /proc/self/fd/7.
func (f File) Inherited() bool {
	return f.Path == "/dev/stdin" || strings.HasPrefix(f.Path, "/dev/fd/") || strings.HasPrefix(f.Path, "/proc/self/fd/")
}

// Open opens the file, which the caller closes. The file must be a regular one, or Inherited:
// then it may be a pipe, and reading it blocks until somebody has written. Open itself does
// not block. Errors are those of Wrong.
func (f File) Open() (*os.File, error) {
	// Without O_NONBLOCK, opening a pipe waits for somebody who writes to it.
	file, err := os.OpenFile(f.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, f.Wrong(bare(err))
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = bare(err)
	case info.Mode().IsRegular() || f.Inherited():
		return file, nil
	default:
		err = fmt.Errorf("it is no regular file but a %s", kind(info.Mode()))
	}
	file.Close()
	return nil, f.Wrong(err)
}

// Read opens the file and returns its content. A file of more than Most bytes is an error, and
// Most+1 bytes are read of it.
func (f File) Read() ([]byte, error) {
	file, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return f.ReadFrom(file)
}

// ReadFrom is Read for a file that Open has returned.
func (f File) ReadFrom(file *os.File) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(file, f.Most+1))
	if err != nil {
		return nil, f.Wrong(bare(err))
	}
	if int64(len(content)) > f.Most {
		return nil, f.Wrong(fmt.Errorf("it has more than %d bytes", f.Most))
	}
	return content, nil
}

// JSON reads the file into v, as json.Unmarshal does.
func (f File) JSON(v any) error {
	content, err := f.Read()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, v); err != nil {
		return f.Wrong(err)
	}
	return nil
}

// MakeDir makes a directory, with those above it, unless it is there. Errors are those of Wrong, and name the part of
// the path that is the obstacle.
func (f File) MakeDir() error {
	err := os.MkdirAll(f.Path, 0o777)
	if err == nil {
		return nil
	}
	part := "it"
	if inner, ok := errors.AsType[*fs.PathError](err); ok && inner.Path != f.Path {
		part = fmt.Sprintf("%.200q", inner.Path)
	}
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EEXIST) {
		return f.Wrong(errors.New(part + " is there and no directory"))
	}
	return f.Wrong(fmt.Errorf("%s cannot be made: %w", part, bare(err)))
}

// bare returns the cause of an error of package os, which repeats the path.
func bare(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err
	}
	return err
}

// kind names what is no regular file.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "file of type " + mode.Type().String()
}
