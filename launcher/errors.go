package launcher

import (
	"fmt"

	"github.com/gaspi-go/gaspi-go/launcher/internal/executable"
)

// ErrNotFound says that there is no such program.
var ErrNotFound = executable.ErrNotFound

// ErrNotExecutable says that the program is a file that cannot be executed.
var ErrNotExecutable = executable.ErrNotExecutable

// A BuildError says that the go command refused a package. It has already said
// why on Config.Stderr.
type BuildError struct {
	Package  string
	ExitCode int // of the go command
}

// Error names the package.
func (e *BuildError) Error() string {
	return fmt.Sprintf("go build %s ended with status %d", e.Package, e.ExitCode)
}
