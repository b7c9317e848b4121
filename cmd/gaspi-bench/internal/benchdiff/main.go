// Command benchdiff compares the speed of two commits: it builds gaspi-bench of each in a git
// worktree of its own, lets the two measure in turns, round by round, and prints a table of
// the ratios of their times. The worktrees are gone when it ends, also if it is interrupted.
//
// It is run by make benchdiff, in the repository.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// commandLine is what the command line says.
type commandLine struct {
	old, new string // commits
	plan     plan
	time     time.Duration
	json     string // file for the rows of all rounds; empty for none
}

// run is main without the process around it; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr *os.File) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		if _, err := io.WriteString(stdout, usage()); err != nil {
			fmt.Fprintf(stderr, "benchdiff: cannot write the output: %v\n", err)
			return exitFailed
		}
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "benchdiff: %v; see benchdiff --help\n", err)
		return exitUsage
	}
	err = o.compare(ctx, stdout, stderr)
	if ctx.Err() != nil {
		err = errors.New("interrupted; the table, if there is one, has what was measured until then")
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "benchdiff: %v\n", err)
	if bad := new(inputError); errors.As(err, &bad) {
		return exitUsage
	}
	return exitFailed
}

// An inputError is about what the command was given.
type inputError struct{ text string }

// Error is a sentence.
func (e *inputError) Error() string { return e.text }

func badInput(format string, args ...any) error { return &inputError{fmt.Sprintf(format, args...)} }

func flags(o *commandLine) *pflag.FlagSet {
	f := pflag.NewFlagSet("benchdiff", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	f.IntVar(&o.plan.rounds, "rounds", 7, "how often each commit measures everything")
	f.DurationVar(&o.time, "time", 100*time.Millisecond, "how long to measure for one row")
	f.StringSliceVar(&o.plan.operations, "operations", []string{"latency", "bandwidth", "allreduce", "alltoall"}, "`LIST` of operations of gaspi-bench")
	f.StringSliceVar(&o.plan.transports, "transports", []string{"shm", "tcp"}, "`LIST` of transports")
	f.IntSliceVar(&o.plan.ranks, "ranks", []int{2, 4}, "`LIST` of numbers of ranks")
	f.StringVar(&o.plan.sizes, "sizes", "8,4KiB,1MiB", "`LIST` of bytes, as gaspi-bench takes it")
	f.StringVar(&o.json, "json", "", "also write the rows of all rounds to `FILE`, a JSON object each")
	return f
}

func parse(args []string) (*commandLine, error) {
	o := &commandLine{}
	f := flags(o)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() != 2:
		return nil, fmt.Errorf("expected two commits or programs, found %d", f.NArg())
	case o.plan.rounds < 1:
		return nil, fmt.Errorf("--rounds %d: expected at least 1", o.plan.rounds)
	case o.time <= 0:
		return nil, fmt.Errorf("--time %v: expected more than 0, such as 100ms", o.time)
	case len(o.plan.calls()) == 0:
		return nil, errors.New("--operations, --transports, --ranks: expected at least one of each")
	}
	o.old, o.new = f.Arg(0), f.Arg(1)
	return o, nil
}

func usage() string {
	return `Usage: benchdiff [flags] OLD NEW

Compares the speed of two commits of this repository, which measure in turns. The path
of a gaspi-bench, with a slash in it, stands for the commit that it was built from.

Flags:
` + flags(&commandLine{}).FlagUsages() + `
Exit codes: 1 if a measurement failed, 2 if the input makes no sense.
`
}

// compare builds both commits, measures, and prints the table of what was measured, also if
// that is not all.
func (o *commandLine) compare(ctx context.Context, stdout, stderr *os.File) error {
	both, err := o.commits(ctx)
	if err != nil {
		return err
	}
	rows, err := openRows(o.json)
	if err != nil {
		return err
	}
	result, err := build(ctx, both)
	defer result.remove()
	if err != nil {
		return errors.Join(err, rows.close())
	}
	m := &measurement{plan: o.plan, sides: result.runners(o.time), rows: rows, progress: progress(stderr)}
	err = m.run(ctx)
	m.progress("")
	return errors.Join(err, rows.close(), o.show(stdout, both, m))
}

// show prints the table. There is none of nothing.
func (o *commandLine) show(w io.Writer, both [2]commit, m *measurement) error {
	all := compare(m.records)
	if len(all) == 0 {
		return nil
	}
	lines := []string{
		"old: " + both[0].String(), "new: " + both[1].String(),
		fmt.Sprintf("rounds in turns: %d, each of %v for a row", m.ended, o.time),
	}
	if m.ended < o.plan.rounds {
		lines[2] = fmt.Sprintf("not complete: ended in round %d of %d", m.ended+1, o.plan.rounds)
	}
	_, err := fmt.Fprintln(w, strings.Join(append(lines, tableLines(all)...), "\n"))
	return err
}

// progress shows on a terminal what is measured; an empty text takes it back.
func progress(stderr *os.File) func(string) {
	if !term.IsTerminal(int(stderr.Fd())) {
		return func(string) {}
	}
	return func(what string) { fmt.Fprintf(stderr, "\r\x1b[K%s", what) }
}
