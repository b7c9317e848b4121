package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// missing says, a line for each reason, on which hosts the kernel has measured nothing or not all, and what that
// takes.
func missing(measured []launcher.RankMeasures) (lines []string) {
	var reasons []string
	hosts := map[string][]string{}
	for _, m := range measured {
		if m.Missing == "" || slices.Contains(hosts[m.Missing], m.Host) {
			continue
		}
		if len(hosts[m.Missing]) == 0 {
			reasons = append(reasons, m.Missing)
		}
		hosts[m.Missing] = append(hosts[m.Missing], m.Host)
	}
	for _, reason := range reasons {
		where := hosts[reason][0]
		if more := len(hosts[reason]) - 1; more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, fmt.Sprintf("delays of single threads and of data are not measured on %s: %s", where, reason))
	}
	return lines
}

// showKernel writes what kernels have measured of ranks, those first whose threads waited the longest for a
// processor.
func showKernel(w io.Writer, measured []launcher.RankMeasures) error {
	order := slices.DeleteFunc(slices.Clone(measured), func(m launcher.RankMeasures) bool { return m.Kernel == nil })
	if len(order) == 0 {
		return nil
	}
	high := func(m launcher.RankMeasures) time.Duration { return quantile(m.Kernel.Run, 0.99) }
	slices.SortStableFunc(order, func(a, b launcher.RankMeasures) int { return int(high(b) - high(a)) })
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "RANK\tHOST\tRUN DELAY MEDIAN\tP99\tDATA TO AWAKE MEDIAN\tP99\tRESENT\tFIRST\tLAST\t")
	for _, m := range order[:min(len(order), mostRanks)] {
		k := m.Kernel
		first, last := "-", "-"
		if n := len(k.Resends); n > 0 {
			const clock = "15:04:05.000"
			first, last = k.Resends[0].At.Format(clock), k.Resends[n-1].At.Format(clock)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t\n", m.Rank, m.Host,
			below(k.Run, 0.5), below(k.Run, 0.99), below(k.Wake, 0.5), below(k.Wake, 0.99), k.Resent, first, last)
	}
	return table.Flush()
}

// below is a quantile of a histogram in words.
func below(histogram []uint64, q float64) string {
	d, digits := quantile(histogram, q), time.Duration(1)
	if d == 0 {
		return "-"
	}
	for d/digits >= 1000 {
		digits *= 10
	}
	return "<" + d.Round(digits).String()
}

// quantile is a power of two, in nanoseconds, that the part q of the times is below, of a histogram as in
// launcher.KernelTimes; 0 if it has none.
func quantile(histogram []uint64, q float64) time.Duration {
	all, within := uint64(0), uint64(0)
	for _, n := range histogram {
		all += n
	}
	for i, n := range histogram {
		if within += n; within > 0 && float64(within) >= q*float64(all) {
			return 1 << (i + 1)
		}
	}
	return 0
}
