package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/internal/testenv"
	"github.com/gaspi-go/gaspi-go/launcher"
)

// TestCounts has the launcher count what a program of C does, whether C or Go carries it out.
func TestCounts(t *testing.T) {
	testenv.NeedStep(t, inStep, "capi")
	program := buildLibrary(t, "").compile(t, "counted.c")
	for _, transport := range []string{"shm", "tcp"} {
		for _, n := range []int{1, 2, 3} {
			t.Run(fmt.Sprintf("%s/%d", transport, n), func(t *testing.T) {
				res, out := run(t, launcher.Config{Program: program, Ranks: n, Transport: transport})
				if res.ExitCode != 0 || len(res.Stats) != n {
					t.Fatalf("exit code %d, counts of %d ranks, %s\n%s", res.ExitCode, len(res.Stats), res.Sentence, out)
				}
				for r, got := range res.Stats {
					checkCounts(t, launcher.Rank((r+1)%n), got)
				}
			})
		}
	}
}

// checkCounts compares the counts of a rank that has worked with one peer with the calls of test/counted.c.
func checkCounts(t *testing.T, peer launcher.Rank, got launcher.RankStats) {
	t.Helper()
	const depth = 1024 // of a queue
	want := launcher.PeerStats{
		Peer: peer, Writes: 5 + 3 + 2 + 1, BytesWritten: 5*100 + 3*20 + 2*8 + 1000, Reads: 5, BytesRead: 4*8 + 16,
		Notifications: 6 + 1 + depth, QueueFull: 3, Atomics: 7,
	}
	var peers []launcher.PeerStats
	for _, p := range got.Peers {
		if p.Waited = 0; p != (launcher.PeerStats{Peer: p.Peer}) {
			peers = append(peers, p)
		}
	}
	if d := cmp.Diff([]launcher.PeerStats{want}, peers); d != "" {
		t.Errorf("rank %d, counts of peers (-want +got):\n%s", got.Rank, d)
	}
	if got.QueueWaits != 3 || got.Barriers != 21 || got.Writes != want.Writes || got.BytesRead != want.BytesRead || got.QueueFull != want.QueueFull {
		t.Errorf("rank %d: %+v", got.Rank, got)
	}
	for _, c := range got.Collectives {
		if c.Operation == "gaspi.Barrier" && c.Calls != got.Barriers {
			t.Errorf("rank %d: %d barriers, and %d calls of %s", got.Rank, got.Barriers, c.Calls, c.Operation)
		}
	}
}
