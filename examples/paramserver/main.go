// Command paramserver trains a small model with a parameter server: rank 0 keeps the
// parameters, the other ranks compute gradients. It is the experiment of Figs. 8a and 8b
// of the Hoplite paper.
//
//	gaspi-run -n 8 ./examples/paramserver --params 4MiB --mode sync
//	gaspi-run -n 8 ./examples/paramserver --params 4MiB --mode async --work 20ms
//	gaspi-run -n 8 ./examples/paramserver --params 4MiB --mode sync --naive
//
// In each iteration the server adds gradients, those of all workers or of the first half
// that is finished, makes a step, and gives the new parameters to those it has heard.
// With package hoplite gradients are added on their way and parameters passed on by who
// has them; --naive moves each vector between the server and one worker. Package exchange
// has both.
package main

import (
	"context"
	"io"
	"os"

	"github.com/gaspi-go/gaspi-go/examples/paramserver/rankrun"
	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/gaspi"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process around it; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	opts, err := parse(args)
	pr := program.Program{Name: "paramserver", Help: help, Stdout: stdout, Stderr: stderr}
	return rankrun.Main(pr, opts.Options, err, opts.async, func(ctx context.Context, p *gaspi.Proc) error {
		j := job{opts: opts, proc: p, out: stdout}
		return j.run(ctx)
	})
}
