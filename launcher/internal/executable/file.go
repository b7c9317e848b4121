package executable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A File is a program that is ready to be executed any number of times.
type File struct {
	path  string   // what to execute
	name  string   // argument 0
	built bool     // it is a memory file of this process, so no other host has it
	file  *os.File // what a rank inherits as supervise.ProgramFD, if path says so; else nil
	close func()
}

// seen is a path at which this process finds the program.
func (f *File) seen() string {
	if f.file != nil {
		return fmt.Sprintf("/proc/self/fd/%d", f.file.Fd())
	}
	return f.path
}

// Command is how ranks execute the program, which the user calls title, in a directory.
func (f *File) Command(title, dir string, args []string) supervise.Command {
	return supervise.Command{
		Path: f.path, Name: f.name, Args: args, Dir: dir, File: f.file,
		Check:   func() error { return checkWhole(f.seen(), title) },
		Explain: func(err error) error { return whyNotStarted(err, f.seen(), title, dir) },
	}
}

// At is the program of a path of this host, which ranks see as name.
func At(path, name string) *File { return &File{path: path, name: name, close: func() {}} }

// Path is how a process of this host executes the program.
func (f *File) Path() string { return f.path }

// Name is argument 0 of the program.
func (f *File) Name() string { return f.name }

// Built reports whether Prepare has built the program, so that no other host has it.
func (f *File) Built() bool { return f.built }

// Close frees the memory of a program that was built, or has come from another host.
func (f *File) Close() { f.close() }

// Contents reads the program, which the user calls title, for other hosts.
func (f *File) Contents(title string) ([]byte, error) {
	contents, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, unfit(title, "it cannot be read, to be copied to other hosts: %v; chmod +r, or install it there and leave out --stage", errors.Unwrap(err))
	case err != nil:
		return nil, fmt.Errorf("copy the program: %w", err)
	}
	return contents, nil
}
