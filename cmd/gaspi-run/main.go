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
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-run/internal/probe"
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
	var text strings.Builder
	if done, err := general(args, &text); errors.As(err, &unseen{}) {
		return refused(err, stderr)
	} else if err != nil {
		say(err.Error() + "; see gaspi-run --help")
		return exitUsage
	} else if done {
		return show(text.String(), stdout, stderr)
	}
	if len(args) > 0 && args[0] == topWord {
		return top(args[1:], stdin, stdout, say)
	}
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return show(help(), stdout, stderr)
	case err != nil:
		decline(args, err, say)
		say(err.Error() + "; see gaspi-run --help")
		return exitUsage
	case o.version:
		return show(versionLine(), stdout, stderr)
	}
	if o.dryRun || o.display {
		if err := o.showMap(&text); err != nil {
			return refused(err, stderr)
		}
	}
	if o.dryRun {
		return show(text.String(), stdout, stderr)
	}
	fmt.Fprint(stderr, text.String())
	cfg := o.config
	cfg.Stdin, cfg.Stdout, cfg.Stderr = stdin, stdout, stderr
	cfg.Foreground = true
	cfg.Notice = say
	cfg.Probe = probe.Open
	if o.verbose {
		cfg.Log = say
	}
	if o.watch && !term.IsTerminal(int(stderr.Fd())) {
		say(noTerminal)
	} else if o.watch {
		w := &watcher{out: stderr}
		w.begin()
		defer w.close()
		cfg.Watch = w.show
	}
	stop, err := o.serve(&cfg, say)
	if err != nil {
		return refused(err, stderr)
	}
	defer stop()
	result, err := launcher.Run(context.Background(), cfg)
	if err != nil {
		return refused(err, stderr)
	}
	if err := o.showResult(stderr, result); err != nil {
		return refused(err, stderr)
	}
	if result.Trace != nil && !showTrace(stderr, cfg.Trace, result) && result.ExitCode == 0 {
		return exitFailed
	}
	return result.ExitCode
}

// show prints what was asked for, and returns the exit code.
func show(text string, stdout, stderr io.Writer) int {
	if _, err := io.WriteString(stdout, text); err != nil {
		return refused(fmt.Errorf("cannot write the output: %w", err), stderr)
	}
	return 0
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

// versionLine is what --version prints.
func versionLine() string { return "gaspi-run " + version() + "\n" }

// version returns the version of the module that this command was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown version)"
	}
	return info.Main.Version + " " + info.GoVersion
}
