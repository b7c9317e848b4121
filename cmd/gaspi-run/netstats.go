package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// mostLinks is how many links the text of --net-stats shows: those that are slow, then those with the
// longest round trips.
const mostLinks = 16

// A netSummary is what --net-stats adds to --stats=json.
type netSummary struct {
	Verdict diagnosis               `json:"verdict"`
	Ranks   []launcher.RankMeasures `json:"ranks"`
}

// showNetStats writes why ranks were slow, and what their processors and links did.
func showNetStats(w io.Writer, result launcher.Result) error {
	ranks, measured := result.Stats, result.Measured
	fmt.Fprintln(w, "gaspi-run: "+judge(ranks, measured).Sentence)
	if slices.ContainsFunc(measured, func(m launcher.RankMeasures) bool { return m.NoDelays }) {
		fmt.Fprintln(w, "gaspi-run: the time without a processor is not known of all ranks, as their system has no /proc/PID/task/*/schedstat")
	}
	for _, line := range missing(measured) {
		fmt.Fprintln(w, "gaspi-run: "+line)
	}
	if err := showProcessors(w, ranks, measured); err != nil {
		return err
	}
	if err := showKernel(w, measured); err != nil {
		return err
	}
	return showLinks(w, linksOf(measured), longest(ranks))
}

// longest is how long the rank ran that ran for the longest.
func longest(ranks []launcher.RankStats) (ran time.Duration) {
	for _, r := range ranks {
		ran = max(ran, r.Ran)
	}
	return ran
}

// showProcessors writes what processors did for the ranks that were busy for the longest.
func showProcessors(w io.Writer, ranks []launcher.RankStats, measured []launcher.RankMeasures) error {
	order := loads(ranks, measured)
	slices.SortStableFunc(order, func(a, b load) int { return cmp.Compare(b.Busy(), a.Busy()) })
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "RANK\tHOST\tBUSY\tWAITED\tON CPU\tNO CPU\tSHORT\tSWITCHES\tPREEMPTED\t")
	for _, l := range order[:min(len(order), mostRanks)] {
		m := measured[l.Rank]
		delayed, short := fmt.Sprint(round(m.Delayed)), percent(l.short)
		if m.NoDelays {
			delayed, short = "-", "-"
		}
		fmt.Fprintf(table, "%d\t%s\t%v\t%v\t%v\t%s\t%s\t%d\t%d\t\n", l.Rank, l.Host, round(l.Busy()), round(l.Waited), round(m.CPU), delayed, short, m.Voluntary, m.Involuntary)
	}
	return table.Flush()
}

// showLinks writes what links did, a mark at those that are slow.
func showLinks(w io.Writer, links []tcpLink, ran time.Duration) error {
	if len(links) == 0 {
		_, err := fmt.Fprintln(w, "no TCP connections were used between ranks")
		return err
	}
	slow := marked(links, ran)
	rest := slices.DeleteFunc(slices.Clone(links), func(l tcpLink) bool {
		return slices.ContainsFunc(slow, func(s tcpLink) bool { return s.a == l.a && s.b == l.b })
	})
	slices.SortStableFunc(rest, func(x, y tcpLink) int { return cmp.Compare(y.meanRTT, x.meanRTT) })
	order := append(slow, rest...)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "LINK\tHOSTS\tMIN RTT\tMEAN\tP99\tBYTES\tRATE\tBUSY\tSEGMENTS\tRESENT\t\t")
	for _, l := range order[:min(len(order), mostLinks)] {
		mark := ""
		if l.mark != "" {
			mark = "slow"
		}
		fmt.Fprintf(table, "%d-%d\t%s-%s\t%v\t%v\t%v\t%s\t%s/s\t%v\t%d\t%d\t%s\t\n", l.a, l.b, l.hosts[0], l.hosts[1],
			round(l.minRTT), round(l.meanRTT), round(l.highRTT), size(l.bytes), size(l.rate), round(l.busy), l.segments, l.resent, mark)
	}
	if more := len(order) - mostLinks; more > 0 {
		fmt.Fprintf(table, "and %d more\t\n", more)
	}
	return table.Flush()
}

// size is a number of bytes for readers.
func size(bytes uint64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if float64(bytes) >= unit.size {
			return fmt.Sprintf("%.3g %s", float64(bytes)/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d B", bytes)
}
