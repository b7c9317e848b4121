// Command fft transforms three-dimensional grids that are spread over the ranks of
// a job: the kernel of plane-wave codes such as Quantum ESPRESSO, whose alltoall of
// 6 to 24 KiB blocks takes 20 to 40 % of the time, and the miniapp of Sections IV-B
// and V-E of "Eventually consistent collectives".
//
//	gaspi-run -n 4 ./examples/fft --grid 128x128x128 --bands 8 --overlap 1
//
// A band is one grid, the wave function of one electron. While one band is exchanged,
// the next one is transformed. Package distfft does the work; this program makes
// bands, transforms them there and back, and says where the time went.
package main

import (
	"context"
	"io"
	"os"

	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process around it; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	opts, err := parse(args)
	pr := program.Program{Name: "fft", Help: help, Stdout: stdout, Stderr: stderr}
	return pr.Main(context.Background(), gaspi.Config{}, opts.help, err, func(ctx context.Context, p *gaspi.Proc) error {
		return measureAll(ctx, p, opts, stdout)
	})
}
