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

	MostAwaited launcher.Rank              `json:"most_awaited"` // the rank for which others waited the longest where it alone could end the wait
	Awaited     time.Duration              `json:"awaited_ns"`   // that time, of all others
	Pairs       []rankPair                 `json:"pairs"`        // the pairs with most bytes, at most mostPairs
	Collectives []launcher.CollectiveStats `json:"collectives"`  // sums over ranks, the longest time first
}

// A rankPair is what moved from one rank to another: written by the one, or read by the other.
type rankPair struct {
	From  launcher.Rank `json:"from"`
	To    launcher.Rank `json:"to"`
	Bytes uint64        `json:"bytes"`
}

// mostPairs is how many pairs of ranks are told, and how many collective operations in the text.
const mostPairs = 8

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
	s.Pairs, s.Collectives = pairsOf(ranks), collectivesOf(ranks)
	s.MostAwaited, s.Awaited = awaitedOf(ranks)
	if s.MeanBusy > 0 {
		s.Imbalance = float64(ranks[s.Busiest-ranks[0].Rank].Busy())/float64(s.MeanBusy) - 1
	}
	return s
}

// pairsOf returns the pairs between which most bytes moved.
func pairsOf(ranks []launcher.RankStats) []rankPair {
	bytes := map[[2]launcher.Rank]uint64{}
	for _, r := range ranks {
		for _, p := range r.Peers {
			bytes[[2]launcher.Rank{r.Rank, p.Peer}] += p.BytesWritten
			bytes[[2]launcher.Rank{p.Peer, r.Rank}] += p.BytesRead
		}
	}
	var all []rankPair
	for ends, n := range bytes {
		if n > 0 {
			all = append(all, rankPair{ends[0], ends[1], n})
		}
	}
	slices.SortFunc(all, func(a, b rankPair) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return all[:min(len(all), mostPairs)]
}

// collectivesOf adds up the collective operations of ranks.
func collectivesOf(ranks []launcher.RankStats) []launcher.CollectiveStats {
	var all []launcher.CollectiveStats
	for _, r := range ranks {
		for _, c := range r.Collectives {
			at := slices.IndexFunc(all, func(o launcher.CollectiveStats) bool {
				return o.Operation == c.Operation && o.Algorithm == c.Algorithm
			})
			if at < 0 {
				all = append(all, c)
				continue
			}
			sum := &all[at]
			sum.Calls, sum.Bytes, sum.Time = sum.Calls+c.Calls, sum.Bytes+c.Bytes, sum.Time+c.Time
		}
	}
	slices.SortStableFunc(all, func(a, b launcher.CollectiveStats) int { return cmp.Compare(b.Time, a.Time) })
	return all
}

// awaitedOf returns the rank for which others waited the longest, and how long they did.
func awaitedOf(ranks []launcher.RankStats) (who launcher.Rank, longest time.Duration) {
	waited := map[launcher.Rank]time.Duration{}
	for _, r := range ranks {
		for _, p := range r.Peers {
			if p.Peer == r.Rank {
				continue
			}
			if waited[p.Peer] += p.Waited; waited[p.Peer] > longest {
				who, longest = p.Peer, waited[p.Peer]
			}
		}
	}
	return who, longest
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
	if err := table.Flush(); err != nil {
		return err
	}
	return showTraffic(w, s)
}

// showTraffic writes which pairs of ranks moved most, and which collective operations took the longest.
func showTraffic(w io.Writer, s summary) error {
	if s.Awaited > 0 {
		fmt.Fprintf(w, "gaspi-run: others waited for rank %d the longest, %v, of the waits that one rank alone could end\n", s.MostAwaited, round(s.Awaited))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(s.Pairs) > 0 {
		fmt.Fprintln(table, "FROM\tTO\tBYTES\t")
	}
	for _, p := range s.Pairs {
		fmt.Fprintf(table, "%d\t%d\t%d\t\n", p.From, p.To, p.Bytes)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	table = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(s.Collectives) > 0 {
		fmt.Fprintln(table, "OPERATION\tALGORITHM\tCALLS\tBYTES\tTIME")
	}
	for _, c := range s.Collectives[:min(len(s.Collectives), mostPairs)] {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%v\n", c.Operation, c.Algorithm, c.Calls, c.Bytes, round(c.Time))
	}
	return table.Flush()
}

// round shortens a duration to what a reader needs.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(10 * time.Millisecond)
}
