// Command mfsgd factorizes a matrix of ratings by stochastic gradient descent
// with stale-synchronous sums: the experiment of Section V-A of "Eventually
// consistent collectives", on MovieLens data or on made-up data of its shape.
//
//	gaspi-run -n 4 ./examples/mfsgd --slack 2
//
// Each rank owns some users and learns from their ratings. Package ssp sums what all ranks
// learn about the items; it is the only communication while learning. Package mf (in
// internal/mf) explains the method, what a rank contributes and how that differs from the
// paper, and how the ranks stop together.
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
func run(args []string, stdout *os.File, stderr io.Writer) int {
	opts, err := parse(args)
	pr := program.Program{Name: "mfsgd", Help: help, Stdout: stdout, Stderr: stderr}
	return pr.Main(context.Background(), gaspi.Config{}, opts.help, err, func(ctx context.Context, p *gaspi.Proc) error {
		tty, width, err := terminal(stdout, os.Getenv)
		if err != nil {
			return err
		}
		j := job{opts: opts, proc: p, out: stdout, tty: tty, width: width}
		return j.run(ctx)
	})
}
