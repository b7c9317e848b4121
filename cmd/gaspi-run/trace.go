package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// mostShares is how many parts of the critical path --trace shows.
const mostShares = 8

// showTrace says what is in the file of --trace, and what the critical path is made of. It reports
// whether there is a file.
func showTrace(w io.Writer, file string, result launcher.Result) bool {
	t := result.Trace
	for _, why := range t.Missing {
		fmt.Fprintf(w, "gaspi-run: --trace: %s\n", why)
	}
	if t.Err != nil {
		fmt.Fprintf(w, "gaspi-run: %v\n", t.Err)
		return false
	}
	fmt.Fprintf(w, "gaspi-run: wrote %s: %d events", file, t.Events)
	switch {
	case t.Events == 0:
		fmt.Fprintln(w, "; ranks record what they do with package gaspi")
		return true
	case t.Dropped > 0:
		fmt.Fprintf(w, ", the last of each rank; %d earlier ones were dropped", t.Dropped)
	}
	if t.LeftOut > 0 {
		fmt.Fprintf(w, "; %d short calls in rapid succession were only counted", t.LeftOut)
	}
	fmt.Fprintln(w)
	showPath(w, t)
	return true
}

// showPath says who held up the others for the longest, and in which calls.
func showPath(w io.Writer, t *launcher.TraceResult) {
	if t.Length == 0 {
		return
	}
	sums := map[launcher.Rank]time.Duration{}
	slowest := t.Path[0].Rank
	for _, s := range t.Path {
		sums[s.Rank] += s.Time
	}
	for r, sum := range sums {
		if sum > sums[slowest] || sum == sums[slowest] && r < slowest {
			slowest = r
		}
	}
	percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(t.Length) }
	since := ""
	if t.Incomplete {
		since = " since the first event that was kept"
	}
	fmt.Fprintf(w, "gaspi-run: rank %d has %.0f %% of the critical path of %v%s\n", slowest, percent(sums[slowest]), round(t.Length), since)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SHARE\tTIME\tRANK\tCALL")
	for _, s := range t.Path[:min(len(t.Path), mostShares)] {
		fmt.Fprintf(table, "%.0f %%\t%v\t%d\t%s\n", percent(s.Time), round(s.Time), s.Rank, s.Call)
	}
	_ = table.Flush() // of a terminal that is gone
}
