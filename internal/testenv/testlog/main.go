// Command testlog reads the events of go test -json on its standard input, of one command or of
// several one after another:
//
//	go test -json ./... | testlog [-skips REGEXP] RECORD
//
// It keeps the events in the file RECORD. It prints the output of the tests, package by package,
// without the lines that only say that a test starts or goes on; then the tests that were skipped,
// the slowest tests and packages, the tests that ran more than once, and again each failure with
// the first lines of its output. Tests of this repository do not try again by themselves, so that
// a test that ran more than once is one of which several runs are in the events (-count, -cpu).
//
// The exit status is 1 if a test, a package or a build has failed or has not ended, if a test was
// skipped for a reason that REGEXP does not match, or if nothing was tested. A shell takes the
// status of go test from the pipe (set -o pipefail). It is for .ci/run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
)

func main() {
	good, err := run(os.Args[1:], os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testlog:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

// run is the command. It reports whether everything that was tested is good.
func run(args []string, in io.Reader, out io.Writer) (bool, error) {
	flags := flag.NewFlagSet("testlog", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	skips := flags.String("skips", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return false, errors.Join(err, errors.New("usage: go test -json ... | testlog [-skips REGEXP] RECORD"))
	}
	reasons, err := regexp.Compile(*skips)
	if err != nil {
		return false, err
	}
	record, err := os.Create(flags.Arg(0))
	if err != nil {
		return false, err
	}
	r := newReader(record, out)
	err = errors.Join(r.read(in), record.Close())
	if err != nil {
		return false, err
	}
	return r.summarize(reasons)
}
