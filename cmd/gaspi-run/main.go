// Command gaspi-run starts a program as the ranks of a job, watches them, and
// ends them. Run it with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// Exit codes for jobs that did not run, as shells and env(1) have them.
const (
	exitFailed        = 1
	exitUsage         = 2
	exitNotExecutable = 126
	exitNotFound      = 127
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main without the process around it; it returns the exit code.
func run(args []string, stdin, stdout, stderr *os.File) int {
	if len(args) > 0 && args[0] == agentWord {
		return agent(args[1:], stdin, stderr)
	}
	say := func(sentence string) { fmt.Fprintln(stderr, "gaspi-run: "+sentence) }
	if done, err := general(args, stdout); err != nil {
		say(err.Error() + "; see gaspi-run --help")
		return exitUsage
	} else if done {
		return 0
	}
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, help())
		return 0
	case err != nil:
		decline(args, err, say)
		say(err.Error() + "; see gaspi-run --help")
		return exitUsage
	case o.version:
		fmt.Fprintln(stdout, "gaspi-run "+version())
		return 0
	}
	if o.dryRun {
		if err := o.showMap(stdout); err != nil {
			return refused(err, stderr)
		}
		return 0
	}
	if o.display {
		if err := o.showMap(stderr); err != nil {
			return refused(err, stderr)
		}
	}
	cfg := o.config
	cfg.Stdin, cfg.Stdout, cfg.Stderr = stdin, stdout, stderr
	cfg.Foreground = true
	cfg.Notice = say
	if o.verbose {
		cfg.Log = say
	}
	result, err := launcher.Run(context.Background(), cfg)
	if err != nil {
		return refused(err, stderr)
	}
	return result.ExitCode
}

// refused says why the job did not run, and returns the exit code.
func refused(err error, stderr io.Writer) int {
	var build *launcher.BuildError
	if errors.As(err, &build) {
		return exitFailed // the go command has said why; its exit codes mean something else
	}
	fmt.Fprintf(stderr, "gaspi-run: %v\n", err)
	switch {
	case errors.Is(err, launcher.ErrNotFound):
		return exitNotFound
	case errors.Is(err, launcher.ErrNotExecutable):
		return exitNotExecutable
	}
	return exitFailed
}

// version returns the version of the module that this command was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version + " " + info.GoVersion
}
