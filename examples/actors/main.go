// Command actors has the traffic of reinforcement learning: rank 0 trains a policy, the
// other ranks act by it, in rollouts of random length. It is the experiment of Fig. 9 of the
// Hoplite paper.
//
//	gaspi-run -n 8 ./examples/actors --algorithm a3c --params 4MiB
//	gaspi-run -n 8 ./examples/actors --algorithm impala --params 4MiB --sample 256KiB
//	gaspi-run -n 8 ./examples/actors --algorithm a3c --params 4MiB --naive
//
// With a3c actors send gradients, and the trainer adds the first few that are finished; with
// impala they send what they have seen, and the trainer looks at the first few and computes
// the gradient itself. Either way only the actors that it has heard get the new policy;
// the others go on.
//
// The world is small, see package corridor (in internal/corridor), but its policy can have
// any size: behind it is ballast, which counts updates and so shows that vectors arrive
// whole. Vectors travel as in examples/paramserver.
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
	pr := program.Program{Name: "actors", Help: help, Stdout: stdout, Stderr: stderr}
	return rankrun.Main(pr, opts.Options, err, true, func(ctx context.Context, p *gaspi.Proc) error {
		j := job{opts: opts, proc: p, out: stdout}
		return j.run(ctx)
	})
}
