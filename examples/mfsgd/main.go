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
	"fmt"
	"io"
	"os"

	"github.com/gaspi-go/gaspi-go/gaspi"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process around it; it returns the exit code.
func run(args []string, stdout *os.File, stderr io.Writer) int {
	ctx := context.Background()
	opts, usage := parse(args)
	p, err := gaspi.Init(ctx, gaspi.Config{})
	if err != nil {
		fmt.Fprintln(stderr, sentence(err))
		return exitFailed
	}
	defer p.Close()
	if usage != nil {
		// Every rank has read the same command line, but one must say it for all.
		return leave(ctx, p, agree(ctx, p, usageError{usage}), stderr)
	}
	if opts.help {
		if p.Rank() == 0 {
			_, err = io.WriteString(stdout, help())
		}
		return leave(ctx, p, err, stderr)
	}
	tty, width, err := terminal(stdout, os.Getenv)
	if err != nil {
		return leave(ctx, p, err, stderr)
	}
	j := job{opts: opts, proc: p, out: stdout, tty: tty, width: width}
	return leave(ctx, p, j.run(ctx), stderr)
}
