package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

func TestSummary(t *testing.T) {
	ranks := []launcher.RankStats{
		{Rank: 0, Host: "a", Ran: 4 * time.Second, Waited: 3 * time.Second, Writes: 1, BytesWritten: 2, Reads: 3, BytesRead: 4, Notifications: 5, QueueWaits: 6, QueueFull: 7, Barriers: 8, AllReduces: 9, Atomics: 10, Messages: 11,
			Peers: []launcher.PeerStats{
				{Peer: 0, BytesWritten: 5, Waited: 9 * time.Second}, // its own rank, which nobody waits for
				{Peer: 1, BytesWritten: 100, BytesRead: 7, Waited: time.Second},
				{Peer: 2, Notifications: 1, Waited: 2 * time.Second},
			},
			Collectives: []launcher.CollectiveStats{{Operation: "barrier", Algorithm: "tree", Calls: 1, Bytes: 2, Time: 3}},
		},
		{Rank: 1, Host: "b", Ran: 4 * time.Second, Waited: time.Second, Writes: 10, BytesWritten: 20, Reads: 30, BytesRead: 40, Notifications: 50, QueueWaits: 60, QueueFull: 70, Barriers: 80, AllReduces: 90, Atomics: 100, Messages: 110,
			Peers: []launcher.PeerStats{{Peer: 0, BytesWritten: 3, BytesRead: 20}, {Peer: 2, Waited: 500 * time.Millisecond}},
			Collectives: []launcher.CollectiveStats{
				{Operation: "allreduce", Algorithm: "ring x4", Calls: 4, Bytes: 64, Time: time.Second},
				{Operation: "barrier", Algorithm: "tree", Calls: 10, Bytes: 20, Time: 30},
			},
		},
		{Rank: 2, Host: "b", Ran: 3 * time.Second, Waited: 5 * time.Second}, // of several goroutines
	}
	got := summarize(ranks)
	want := summary{
		Busiest: 1, MeanBusy: 4 * time.Second / 3, Imbalance: float64(3*time.Second)/float64(4*time.Second/3) - 1, Ranks: ranks,
		Total:       launcher.RankStats{Ran: 11 * time.Second, Waited: 9 * time.Second, Writes: 11, BytesWritten: 22, Reads: 33, BytesRead: 44, Notifications: 55, QueueWaits: 66, QueueFull: 77, Barriers: 88, AllReduces: 99, Atomics: 110, Messages: 121},
		MostAwaited: 2, Awaited: 2500 * time.Millisecond,
		Pairs: []rankPair{{0, 1, 120}, {1, 0, 10}, {0, 0, 5}},
		Collectives: []launcher.CollectiveStats{
			{Operation: "allreduce", Algorithm: "ring x4", Calls: 4, Bytes: 64, Time: time.Second},
			{Operation: "barrier", Algorithm: "tree", Calls: 11, Bytes: 22, Time: 33},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if idle := summarize(make([]launcher.RankStats, 2)); idle.Imbalance != 0 || idle.MeanBusy != 0 {
		t.Errorf("of ranks that did nothing: %+v", idle)
	}
	var text strings.Builder
	if err := showStats(&text, ranks); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	wantLines := []string{
		"gaspi-run: rank 1 was busy for the longest, 3s; the mean of 3 is 1.33s (imbalance 125 %)",
		"RANK HOST BUSY WAITED WRITES BYTES READS BYTES NOTIFIES BARRIERS ALLREDUCES ATOMICS MESSAGES QUEUE FULL",
		"1 b 3s 1s 10 20 30 40 50 80 90 100 110 70",
		"0 a 1s 3s 1 2 3 4 5 8 9 10 11 7",
		"2 b 0s 5s 0 0 0 0 0 0 0 0 0 0",
		"all - 4s 9s 11 22 33 44 55 88 99 110 121 77",
		"gaspi-run: others waited for rank 2 the longest, 2.5s, of the waits that one rank alone could end",
		"FROM TO BYTES",
		"0 1 120",
		"1 0 10",
		"0 0 5",
		"OPERATION ALGORITHM CALLS BYTES TIME",
		"allreduce ring x4 4 64 1s",
		"barrier tree 11 22 0s",
	}
	if d := cmp.Diff(wantLines, lines); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	var many strings.Builder
	if err := showStats(&many, make([]launcher.RankStats, 100)); err != nil || strings.Count(many.String(), "\n") != mostRanks+3 {
		t.Errorf("%v; %d lines of 100 ranks", err, strings.Count(many.String(), "\n"))
	}
}

// TestStatsOfAJob counts the barriers of ranks on this and another host, what they sent each other, and what each
// wrote to the next one.
func TestStatsOfAJob(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := startOnHosts(t, "localhost:2,b:1", "--stats=json", "--net-stats", "--env", testenv.AsRole("barriers"), self)
	l.pids(3)
	if code := l.wait(); code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, l.stderr)
	}
	var got summary
	if err := json.Unmarshal([]byte(l.complaints()), &got); err != nil {
		t.Fatalf("%v in %q", err, l.stderr)
	}
	if got.Total.Barriers != 453 || len(got.Ranks) != 3 || got.Ranks[2].Host != "b" || got.Ranks[2].Barriers != 151 || got.Total.Waited <= 0 {
		t.Errorf("%+v; want 151 barriers of each of 3 ranks, the last on b", got)
	}
	if got.Net == nil || len(got.Net.Ranks) != 3 || got.Net.Verdict.Sentence == "" {
		t.Fatalf("net: %+v", got.Net)
	}
	for _, m := range got.Net.Ranks {
		if m.CPU <= 0 || m.Voluntary == 0 || m.Delayed < 0 {
			t.Errorf("processors: %+v", m)
		}
	}
	far := got.Net.Ranks[2]
	if far.Rank != 2 || far.Host != "b" || len(far.Links) == 0 {
		t.Fatalf("rank 2: %+v; want one on b with links", far)
	}
	for _, l := range far.Links {
		if l.Peer > 1 || l.Acked == 0 || l.Received == 0 || l.Samples == 0 || l.MinRTT <= 0 || l.HighRTT < l.MeanRTT/2 {
			t.Errorf("%+v", l)
		}
	}
	for _, r := range got.Ranks {
		if c := r.Collectives; len(c) != 1 || c[0].Operation != "gaspi.Barrier" || c[0].Calls != 151 {
			t.Errorf("rank %d on %s has collectives %+v; want 151 barriers", r.Rank, r.Host, c)
		}
		for _, p := range r.Peers {
			if next := p.Peer == (r.Rank+1)%3; next != (p.Writes == 150) || next != (p.BytesWritten == 150*8) || p.Reads > 0 {
				t.Errorf("rank %d on %s has done with a peer: %+v; want 150 writes to the next one", r.Rank, r.Host, p)
			}
		}
	}
	if len(got.Pairs) != 3 || got.Pairs[0] != (rankPair{0, 1, 1200}) {
		t.Errorf("pairs %+v", got.Pairs)
	}
}
