package testenv

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
)

// parallelFlag is the flag of go test that says how many parallel tests run at once.
const parallelFlag = "test.parallel"

// waitingPerCore is how many parallel tests of a Waiting run at once for each core: they use a
// third of one.
const waitingPerCore = 3

// Waiting is the tests of a package whose parallel tests wait for most of their time: for a limit, or
// for processes. More of them run at once than there are cores, unless -parallel says how many.
type Waiting struct{ *testing.M }

// Run runs the tests.
func (w Waiting) Run() int {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == parallelFlag })
	if !said {
		if err := flag.Set(parallelFlag, fmt.Sprint(waitingPerCore*runtime.GOMAXPROCS(0))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return w.M.Run()
}
