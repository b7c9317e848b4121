package executable

import (
	"bytes"
	"fmt"
	"os"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/internal/sys/process"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A Staging is a program on its way into a memory file of this process, so that
// it has no name on this host and nothing is left of it.
type Staging struct {
	name   string
	file   *os.File
	empty  bool // nothing has come yet
	script bool // it begins with #!
}

// NewStaging begins with a program that ranks see as name.
func NewStaging(name string) (*Staging, error) {
	fd, err := process.CreateProgramFile("gaspi")
	if err != nil {
		return nil, fmt.Errorf("room for the program: %w", err)
	}
	return &Staging{name: name, file: os.NewFile(uintptr(fd), "program"), empty: true}, nil
}

// Add writes the next bytes of the program.
func (s *Staging) Add(piece []byte) error {
	if s.empty {
		s.empty, s.script = false, bytes.HasPrefix(piece, []byte("#!"))
	}
	if _, err := s.file.Write(piece); err != nil {
		return fmt.Errorf("room for the program: %w", err)
	}
	return nil
}

// Complete returns the program: nothing can be executed that is open for
// writing. A script goes on to be needed once it is executed, so its ranks
// inherit it.
func (s *Staging) Complete() (*File, error) {
	read, err := process.ReopenReadOnly(int(s.file.Fd()), lowestProgramFD)
	s.file.Close()
	if err != nil {
		return nil, err
	}
	p := &File{path: fmt.Sprintf("/proc/self/fd/%d", read), name: s.name, close: func() { sys.CloseFile(read) }}
	if s.script {
		file := os.NewFile(uintptr(read), "program") // which owns the descriptor
		p.path, p.file, p.close = fmt.Sprintf("/proc/self/fd/%d", supervise.ProgramFD), file, func() { file.Close() }
	}
	return p, nil
}
