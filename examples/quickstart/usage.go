package main

import (
	"fmt"
	"os"
)

const usage = `quickstart passes numbers around a ring: each rank writes one into the memory of the next.

Usage:
  gaspi-run -n RANKS ./examples/quickstart
`

// noArguments answers --help, and refuses anything else on the command line.
func noArguments() {
	switch args := os.Args[1:]; {
	case len(args) == 0:
	case len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
		_, err := fmt.Print(usage)
		check(err)
		os.Exit(0)
	default:
		fmt.Fprintf(os.Stderr, "quickstart: unexpected argument %q; it takes none\n", args[0])
		os.Exit(2)
	}
}
