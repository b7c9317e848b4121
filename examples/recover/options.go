package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/spf13/pflag"
)

const usage = `recover is a job that outlives its ranks: when one dies, the others go on without it.

Usage:
  gaspi-run -n RANKS --on-failure continue ./examples/recover [FLAGS]

Flags:
`

// options reads the command line. It answers --help, and ends the process with code 2
// where the command line makes no sense.
func options() (steps int64, work time.Duration) {
	f := pflag.NewFlagSet("recover", pflag.ContinueOnError)
	f.Usage = func() {}
	f.Int64Var(&steps, "steps", 300, "how many steps to make")
	f.DurationVar(&work, "work", 20*time.Millisecond, "how long a step takes beside its communication")
	err := f.Parse(os.Args[1:])
	switch {
	case errors.Is(err, pflag.ErrHelp):
		if _, err := fmt.Print(usage, f.FlagUsages()); err != nil {
			log.Fatal(err)
		}
		os.Exit(0)
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q; everything is said with flags", f.Arg(0))
	case err == nil && (steps < 0 || work < 0):
		err = fmt.Errorf("--steps %d, --work %v: expected 0 or more", steps, work)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "recover: %v; see recover --help\n", err)
		os.Exit(2)
	}
	return steps, work
}
