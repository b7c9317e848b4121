package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/launcher"
)

// A ranksTime is what a rank did, in milliseconds.
type ranksTime struct{ ran, waited, cpu, delayed int }

// told returns what ranks of hosts h0, h1 and so on, two on each, tell.
func told(times []ranksTime) (ranks []launcher.RankStats, measured []launcher.RankMeasures) {
	const ms = time.Millisecond
	for i, t := range times {
		host := fmt.Sprintf("h%d", i/2)
		ranks = append(ranks, launcher.RankStats{Rank: launcher.Rank(i), Host: host, Ran: time.Duration(t.ran) * ms, Waited: time.Duration(t.waited) * ms})
		measured = append(measured, launcher.RankMeasures{Rank: launcher.Rank(i), Host: host, CPU: time.Duration(t.cpu) * ms, Delayed: time.Duration(t.delayed) * ms})
	}
	return ranks, measured
}

// joined gives all ranks of different hosts links with a round trip of 100 us, busy for a tenth of a second
// and with a megabyte.
func joined(measured []launcher.RankMeasures, change func(a, b launcher.Rank, l *launcher.RankLink)) {
	for a := range measured {
		for b := range measured {
			if measured[a].Host == measured[b].Host {
				continue
			}
			l := launcher.RankLink{Peer: launcher.Rank(b), Connections: 1, Samples: 10, MinRTT: 50 * time.Microsecond, MeanRTT: 100 * time.Microsecond,
				HighRTT: 200 * time.Microsecond, Acked: 1e6, Segments: 1000, Busy: 100 * time.Millisecond}
			if change != nil {
				change(launcher.Rank(a), launcher.Rank(b), &l)
			}
			measured[a].Links = append(measured[a].Links, l)
		}
	}
}

// are reports whether two ranks are a pair, in any order.
func are(a, b, x, y launcher.Rank) bool { return a == x && b == y || a == y && b == x }

func TestJudge(t *testing.T) {
	slowTrip := func(a, b launcher.Rank, l *launcher.RankLink) {
		if are(a, b, 1, 2) {
			l.MeanRTT = 20 * time.Millisecond
		}
	}
	for _, c := range []struct {
		name   string
		times  []ranksTime
		change func(a, b launcher.Rank, l *launcher.RankLink) // nil for links that are alike
		none   bool                                           // no links
		cause  cause
		ranks  []launcher.Rank
		says   string // part of the sentence
	}{
		{name: "nothing is slow", times: []ranksTime{{1000, 50, 950, 0}, {1000, 60, 940, 0}, {1000, 40, 960, 0}, {1000, 50, 950, 0}},
			cause: causeNone, says: "none waited for less than 4 %"},
		{name: "a job of one rank", times: []ranksTime{{1000, 0, 1000, 10}}, none: true, cause: causeNone, says: "0 %"},
		{name: "ranks that were killed at once", times: make([]ranksTime, 4), none: true, cause: causeNone, says: "no rank was there"},
		{name: "a rank that was killed at once", times: []ranksTime{{}, {1000, 50, 950, 0}, {1000, 60, 940, 0}}, none: true, cause: causeNone, says: "none waited for less than 5 %"},
		{name: "one rank computes longer", times: []ranksTime{{1000, 700, 300, 0}, {1000, 690, 310, 0}, {1000, 10, 990, 5}, {1000, 700, 300, 0}},
			cause: causeComputation, ranks: []launcher.Rank{2}, says: "rank 2 (h1) was busy for 990ms outside of waits, where 300ms is typical"},
		{name: "one of two ranks computes longer", times: []ranksTime{{1000, 700, 1000, 0}, {1000, 10, 990, 5}},
			cause: causeComputation, ranks: []launcher.Rank{1}, says: "rank 1"},
		{name: "and all cores are busy otherwise, too", times: []ranksTime{{6000, 4000, 3000, 3000}, {6000, 100, 3000, 2900}, {6000, 4000, 2500, 2500}},
			cause: causeComputation, ranks: []launcher.Rank{1}},
		{name: "all cores are so busy that ranks differ by chance", times: []ranksTime{{2710, 154, 474, 3530}, {2694, 614, 263, 3990}},
			cause: causeProcessor, says: "ranks had none for 88 % of the time"},
		{name: "one rank sleeps", times: []ranksTime{{1000, 700, 300, 0}, {1000, 10, 20, 0}, {1000, 700, 300, 0}},
			cause: causeComputation, ranks: []launcher.Rank{1}},
		{name: "one rank shares its core", times: []ranksTime{{1000, 700, 1000, 10}, {1000, 10, 350, 640}, {1000, 700, 1000, 0}},
			cause: causeProcessor, ranks: []launcher.Rank{1}, says: "rank 1 (h0) had none for 65 % of the time in which it could run, where 0 % is typical, and was busy for 990ms, where 300ms is typical"},
		{name: "with more than the others share theirs with", times: []ranksTime{{9000, 7000, 4500, 4500}, {9000, 0, 1000, 8000}, {9000, 7000, 4500, 4500}},
			cause: causeProcessor, ranks: []launcher.Rank{1}},
		{name: "one rank has more work and less of a processor, mostly less", times: []ranksTime{{1000, 800, 1000, 0}, {1000, 10, 350, 640}, {1000, 800, 1000, 0}},
			cause: causeProcessor, ranks: []launcher.Rank{1}},
		{name: "all share cores", times: []ranksTime{{1000, 50, 500, 450}, {1000, 60, 500, 440}, {1000, 40, 500, 460}, {1000, 50, 500, 450}},
			cause: causeProcessor, says: "ranks had none for 47 % of the time"},
		{name: "a link with a long round trip", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}, {1000, 850, 150, 0}, {1000, 800, 200, 0}},
			change: slowTrip, cause: causeNetwork, ranks: []launcher.Rank{1, 2},
			says: "the link of rank 1 (h0) with rank 2 (h1) has a round trip of 20ms, where 100µs is typical; no rank waited for less than 80 %"},
		{name: "which nobody waits for", times: []ranksTime{{1000, 50, 900, 0}, {1000, 50, 900, 0}, {1000, 50, 900, 0}, {1000, 50, 900, 0}},
			change: slowTrip, cause: causeNone},
		{name: "while one rank is slower still", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}, {1000, 850, 150, 0}, {1000, 200, 800, 0}},
			change: slowTrip, cause: causeComputation, ranks: []launcher.Rank{3}},
		{name: "a link that loses", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}, {1000, 850, 150, 0}, {1000, 800, 200, 0}},
			change: func(a, b launcher.Rank, l *launcher.RankLink) {
				if a == 3 && b == 0 {
					l.Resent = 50
				}
			}, cause: causeNetwork, ranks: []launcher.Rank{0, 3}, says: "sent 2 % of 2000 segments again"},
		{name: "a link of little bandwidth", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}, {1000, 850, 150, 0}, {1000, 800, 200, 0}},
			change: func(a, b launcher.Rank, l *launcher.RankLink) {
				if a == 3 && b == 0 {
					l.Busy = 700 * time.Millisecond
				}
			}, cause: causeNetwork, ranks: []launcher.Rank{0, 3}, says: "was busy for 700ms with 2 MB, where 100ms is typical"},
		{name: "a link that carries more than others", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}, {1000, 850, 150, 0}, {1000, 800, 200, 0}},
			change: func(a, b launcher.Rank, l *launcher.RankLink) {
				if are(a, b, 0, 3) {
					l.Busy, l.Acked = 700*time.Millisecond, 1e8
				}
			}, cause: causeNetwork, says: "no link is slower than others"},
		{name: "all links of a host", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}, {1000, 850, 150, 0}, {1000, 800, 200, 0}, {1000, 800, 200, 0}, {1000, 800, 200, 0},
			{1000, 800, 200, 0}, {1000, 800, 200, 0}},
			change: func(a, b launcher.Rank, l *launcher.RankLink) {
				if a/2 == 2 || b/2 == 2 {
					l.MeanRTT = 3 * time.Millisecond
				}
			}, cause: causeNetwork, ranks: []launcher.Rank{0, 4}, says: "; 12 links are slow, all of h2"},
		{name: "all links between two hosts", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}, {1000, 850, 150, 0}, {1000, 800, 200, 0}, {1000, 800, 200, 0}, {1000, 800, 200, 0}},
			change: func(a, b launcher.Rank, l *launcher.RankLink) {
				if are(a/2, b/2, 0, 1) {
					l.MeanRTT = 3 * time.Millisecond
				}
			}, cause: causeNetwork, ranks: []launcher.Rank{0, 2}, says: "; 4 links are slow, all between h0 and h1"},
		{name: "waits without links", times: []ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 0}}, none: true,
			cause: causeNone, says: "no TCP connections were used"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranks, measured := told(c.times)
			if !c.none {
				joined(measured, c.change)
			}
			got := judge(ranks, measured)
			if d := cmp.Diff(c.ranks, got.Ranks); got.Cause != c.cause || d != "" || !strings.Contains(got.Sentence, c.says) {
				t.Errorf("%+v\nwant %s of ranks %v, and %q", got, c.cause, c.ranks, c.says)
			}
		})
	}
}

// TestUnknownDelays leaves out what the system does not tell.
func TestUnknownDelays(t *testing.T) {
	ranks, measured := told([]ranksTime{{1000, 700, 1000, 0}, {1000, 10, 350, 640}})
	measured[1].NoDelays = true
	if got := judge(ranks, measured); got.Cause != causeComputation {
		t.Errorf("%+v", got)
	}
}

func TestShowNetStats(t *testing.T) {
	ranks, measured := told([]ranksTime{{1000, 800, 200, 0}, {1000, 850, 150, 50}, {1000, 850, 150, 0}, {1000, 800, 200, 0}})
	measured[2].Voluntary, measured[2].Involuntary, measured[3].NoDelays = 7, 8, true
	joined(measured, func(a, b launcher.Rank, l *launcher.RankLink) {
		if a == 1 && b == 2 {
			l.MeanRTT, l.HighRTT, l.Resent, l.Rate = 20*time.Millisecond, 30*time.Millisecond, 1, 5e9
		}
	})
	var text strings.Builder
	if err := showNetStats(&text, launcher.Result{Stats: ranks, Measured: measured}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"gaspi-run: slow because of the network: the link of rank 1 (h0) with rank 2 (h1) has a round trip of 10.05ms, where 100µs is typical; no rank waited for less than 80 % of its time",
		"gaspi-run: the time without a processor is not known of all ranks, as their system has no /proc/PID/task/*/schedstat",
		"RANK HOST BUSY WAITED ON CPU NO CPU SHORT SWITCHES PREEMPTED",
		"0 h0 200ms 800ms 200ms 0s 0 % 0 0",
		"3 h1 200ms 800ms 200ms - - 0 0",
		"1 h0 150ms 850ms 150ms 50ms 25 % 0 0",
		"2 h1 150ms 850ms 150ms 0s 0 % 7 8",
		"LINK HOSTS MIN RTT MEAN P99 BYTES RATE BUSY SEGMENTS RESENT",
		"1-2 h0-h1 50µs 10.05ms 30ms 2 MB 5 GB/s 100ms 2000 1 slow",
		"0-2 h0-h1 50µs 100µs 200µs 2 MB 0 B/s 100ms 2000 0",
		"0-3 h0-h1 50µs 100µs 200µs 2 MB 0 B/s 100ms 2000 0",
		"1-3 h0-h1 50µs 100µs 200µs 2 MB 0 B/s 100ms 2000 0",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	text.Reset()
	if err := showLinks(&text, nil, 0); err != nil || !strings.HasPrefix(text.String(), "no TCP connections") {
		t.Errorf("%v, %q", err, text.String())
	}
}
