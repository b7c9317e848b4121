package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// mostRanks is how many ranks the text of --stats shows, those that were busy for the longest.
const mostRanks = 16

// A summary is what --stats=json writes, as one line.
type summary struct {
	Busiest   launcher.Rank        `json:"busiest"`      // the rank that waited the least
	MeanBusy  time.Duration        `json:"mean_busy_ns"` // of all ranks
	Imbalance float64              `json:"imbalance"`    // how much longer the busiest was busy than the mean, by the mean
	Total     launcher.RankStats   `json:"total"`        // sums; its rank and host mean nothing
	Ranks     []launcher.RankStats `json:"ranks"`
	Net       *netSummary          `json:"net,omitempty"` // with --net-stats
}

// summarize adds up what ranks did, of which there is at least one.
func summarize(ranks []launcher.RankStats) summary {
	s := summary{Ranks: ranks, Busiest: ranks[0].Rank}
	t := &s.Total
	var busy time.Duration
	for _, r := range ranks {
		t.Ran += r.Ran
		t.Waited += r.Waited
		t.Writes += r.Writes
		t.BytesWritten += r.BytesWritten
		t.Reads += r.Reads
		t.BytesRead += r.BytesRead
		t.Notifications += r.Notifications
		t.QueueWaits += r.QueueWaits
		t.QueueFull += r.QueueFull
		t.Barriers += r.Barriers
		t.AllReduces += r.AllReduces
		t.Atomics += r.Atomics
		t.Messages += r.Messages
		busy += r.Busy()
		if r.Busy() > ranks[s.Busiest-ranks[0].Rank].Busy() {
			s.Busiest = r.Rank
		}
	}
	s.MeanBusy = busy / time.Duration(len(ranks))
	if s.MeanBusy > 0 {
		s.Imbalance = float64(ranks[s.Busiest-ranks[0].Rank].Busy())/float64(s.MeanBusy) - 1
	}
	return s
}

// showResult writes what the flags ask for of what ranks did.
func (o *options) showResult(w io.Writer, result launcher.Result) error {
	measured := result.Measured != nil
	if result.Stats == nil {
		return nil
	}
	if o.stats == "json" {
		s := summarize(result.Stats)
		if measured {
			s.Net = &netSummary{judge(result.Stats, result.Measured), result.Measured}
		}
		return json.NewEncoder(w).Encode(s)
	}
	var err error
	if o.stats != "" {
		err = showStats(w, result.Stats)
	}
	if measured && err == nil {
		err = showNetStats(w, result)
	}
	return err
}

// showStats writes what ranks did, as text.
func showStats(w io.Writer, ranks []launcher.RankStats) error {
	s := summarize(ranks)
	fmt.Fprintf(w, "gaspi-run: rank %d was busy for the longest, %v; the mean of %d is %v (imbalance %.0f %%)\n",
		s.Busiest, round(ranks[s.Busiest-ranks[0].Rank].Busy()), len(ranks), round(s.MeanBusy), 100*s.Imbalance)
	sorted := slices.Clone(ranks)
	slices.SortStableFunc(sorted, func(a, b launcher.RankStats) int { return cmp.Compare(b.Busy(), a.Busy()) })
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "RANK\tHOST\tBUSY\tWAITED\tWRITES\tBYTES\tREADS\tBYTES\tNOTIFIES\tBARRIERS\tALLREDUCES\tATOMICS\tMESSAGES\tQUEUE FULL\t")
	line := func(name, host string, busy time.Duration, r launcher.RankStats) {
		fmt.Fprintf(table, "%s\t%s\t%v\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, host, round(busy), round(r.Waited),
			r.Writes, r.BytesWritten, r.Reads, r.BytesRead, r.Notifications, r.Barriers, r.AllReduces, r.Atomics, r.Messages, r.QueueFull)
	}
	for _, r := range sorted[:min(len(sorted), mostRanks)] {
		line(fmt.Sprint(r.Rank), r.Host, r.Busy(), r)
	}
	line("all", "-", s.MeanBusy*time.Duration(len(ranks)), s.Total)
	return table.Flush()
}

// round shortens a duration to what a reader needs.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}
