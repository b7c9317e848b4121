// Command gaspi-bench measures the runtime beside what the machine allows: each
// figure stands next to a limit that was measured in turn with it, in the same
// run, between the same cores, on the same memory. Run it with --help.
//
// It starts its own ranks. Under gaspi-run it measures the job it is part of.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// exitCodes is the end of every help.
const exitCodes = `
Exit codes: 1 if the measurement failed, 2 if the flags make no sense.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process around it; it returns the exit code.
func run(args []string, stdout, stderr *os.File) int {
	if code, done := general(args, stdout, stderr); done {
		return code
	}
	if isFigures(args) {
		return runFigures(args, stdout, stderr)
	}
	if len(args) > 0 && args[0] == commandPerformance {
		return runPerformance(args, stdout, stderr)
	}
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		text, err := helpFor(args)
		if err != nil {
			return decline(err, "gaspi-bench --help", stderr)
		}
		return show(text, stdout, stderr)
	case err != nil:
		return decline(err, "gaspi-bench --help", stderr)
	}
	ctx := context.Background()
	switch {
	case len(o.peers.Names) > 0:
		return runPeers(o, stdout, stderr)
	case os.Getenv(envRank) != "":
		err = asRank(ctx, o, stdout, stderr)
	case o.simulate != nil:
		err = o.simulate(o, stdout, stderr)
	case o.op.tune:
		return runTune(ctx, o, stdout, stderr)
	case o.transport == "loopback":
		err = inProcess(ctx, o, stdout, stderr)
	default:
		return inProcesses(ctx, o, stdout, stderr)
	}
	switch {
	case err == nil:
		return 0
	case errors.As(err, &misuse{}):
		return exitUsage
	case errors.Is(err, errInterrupted) && os.Getenv(envRank) != "":
		// The process that started the ranks says so for all of them.
	default:
		say(stderr, err)
	}
	return exitFailed
}

func say(stderr io.Writer, err error) { fmt.Fprintf(stderr, "gaspi-bench: %v\n", err) }
