package launcher

import (
	"bytes"
	"fmt"
	"os"
	"runtime"

	"github.com/gaspi-go/gaspi-go/internal/sys"
	"github.com/gaspi-go/gaspi-go/launcher/internal/supervise"
)

// A shipment is a program on its way into a memory file of this process, so that
// it has no name on this host and nothing is left of it.
type shipment struct {
	name   string
	file   *os.File
	empty  bool // nothing has come yet
	script bool // it begins with #!
}

func newShipment(name string) (*shipment, error) {
	fd, err := sys.CreateProgramFile("gaspi")
	if err != nil {
		return nil, fmt.Errorf("room for the program: %w", err)
	}
	return &shipment{name: name, file: os.NewFile(uintptr(fd), "program"), empty: true}, nil
}

func (s *shipment) add(piece []byte) error {
	if s.empty {
		s.empty, s.script = false, bytes.HasPrefix(piece, []byte("#!"))
	}
	if _, err := s.file.Write(piece); err != nil {
		return fmt.Errorf("room for the program: %w", err)
	}
	return nil
}

// complete returns the program: nothing can be executed that is open for
// writing. A script goes on to be needed once it is executed, so its ranks
// inherit it.
func (s *shipment) complete() (*program, error) {
	read, err := sys.ReopenReadOnly(int(s.file.Fd()), lowestProgramFD)
	s.file.Close()
	if err != nil {
		return nil, err
	}
	p := &program{path: fmt.Sprintf("/proc/self/fd/%d", read), name: s.name}
	if s.script {
		p.path, p.file = fmt.Sprintf("/proc/self/fd/%d", supervise.ProgramFD), os.NewFile(uintptr(read), "program")
	}
	return p, nil
}

// keyFile makes the file in which a rank finds its credentials. It has no name, and
// is gone with its last descriptor.
func keyFile(text string) (*os.File, error) {
	fd, err := sys.CreateMemory("gaspi-key", int64(len(text)))
	if err != nil {
		return nil, fmt.Errorf("file with the key of the job: %w", err)
	}
	f := os.NewFile(uintptr(fd), "key")
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("file with the key of the job: %w", err)
	}
	return f, nil
}

// cores is how many this process may use at once.
func cores() int { return runtime.GOMAXPROCS(0) }
