package trace

import (
	"os"

	"github.com/gaspi-go/gaspi-go/internal/status"
)

// EnvFD names the descriptor of the file that a rank has inherited.
const EnvFD = "GASPI_TRACE_FD"

// Inherit returns the recorder of the ring with a number in the file that this process has inherited
// from the launcher of its host, which has made it for a number of ranks. It returns nil, nil where
// there is none. A descriptor that is no such file is left alone.
func Inherit(rank, ranks int) (r *Recorder, err error) {
	file, err := status.InheritFile(EnvFD, func(file *os.File) (err error) {
		r, err = NewRecorder(file, rank, ranks)
		return err
	})
	if file != nil {
		_ = file.Close()
	}
	return r, err
}
