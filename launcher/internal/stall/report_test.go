package stall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/status"
)

// job returns the views of n ranks that compute, changed by edits.
func job(n int, edits ...func(views []View)) []View {
	views := make([]View, n)
	for r := range views {
		views[r] = View{Rank: base.Rank(r), Host: "a", State: Computing, For: 2 * time.Second}
	}
	for _, edit := range edits {
		edit(views)
	}
	return views
}

// barrier puts a rank into a barrier of the world, where it waits for others.
func barrier(r base.Rank, from ...base.Rank) func([]View) {
	return in(r, WaitingCall{Name: "Proc.Barrier", Detail: "of world, number 7", Group: "world", Place: "p/main.go:20", For: 61 * time.Second, From: from})
}

// notified puts a rank into a wait for a notification that any of others can post.
func notified(r base.Rank, from ...base.Rank) func([]View) {
	return in(r, WaitingCall{Name: "Segment.WaitSome", Detail: "notification 5 of segment 0", Place: "p/main.go:30", For: 63 * time.Second, From: from, Any: true})
}

// reduces puts a rank into an allreduce.
func reduces(r base.Rank, from ...base.Rank) func([]View) {
	return in(r, WaitingCall{Name: "allreduce (sum of 4 float64)", Detail: "call 3 of the team, ring, step 2 of 9", Group: "group 3", Place: "p/main.go:40", For: time.Minute, From: from})
}

func in(r base.Rank, c WaitingCall) func([]View) {
	return func(views []View) {
		views[r].State, views[r].Waits = Waiting, append(views[r].Waits, c)
		if c.Group != "" {
			views[r].State = Collective
		}
	}
}

func state(r base.Rank, s State, why string) func([]View) {
	return func(views []View) { views[r].State, views[r].Why = s, why }
}

func TestCause(t *testing.T) {
	for _, c := range []struct {
		name  string
		views []View
		want  string
	}{
		{"nobody waits", job(3), "no rank waits in a call"},
		{"not all have joined", job(3, state(1, Absent, ""), state(2, Absent, "")), "gaspi.Init has not returned in ranks 1 and 2"},
		{"one computes", job(4, barrier(0, 3), barrier(1, 3), barrier(2, 3)),
			"rank 3 computes, outside of any call that waits, for 2.0 s; ranks 0-2 wait for it"},
		{"through others", job(4, notified(0, 1), barrier(1, 2), barrier(2, 3)),
			"rank 3 computes, outside of any call that waits, for 2.0 s; ranks 0-2 wait for it"},
		{"several compute", job(4, notified(0, 1, 2, 3), barrier(1, 3)),
			"ranks 2 and 3 compute, outside of any call that waits, for 2.0 s; ranks 0 and 1 wait for them"},
		{"one that nobody waits for computes", job(3, barrier(0, 1)),
			"rank 1 computes, outside of any call that waits, for 2.0 s; rank 0 waits for it"},
		{"not joined", job(2, state(1, Absent, ""), notified(0, 1)), "rank 1 has not come to gaspi.Init; rank 0 waits for it"},
		{"gone", job(3, barrier(0, 1), barrier(2, 1), state(1, Gone, "killed by signal 9")),
			"rank 1 is gone (killed by signal 9); ranks 0 and 2 wait for it"},
		{"one of several is gone", job(3, notified(0, 1, 2), barrier(2, 0), state(1, Gone, "killed by signal 9")),
			"rank 1 is gone (killed by signal 9); ranks 0 and 2 wait for it"},
		{"one of several has ended well", job(3, notified(0, 1, 2), barrier(2, 0), state(1, Gone, EndedWell)),
			"rank 0 waits in Segment.WaitSome for notification 5 of segment 0 (p/main.go:30), and ranks 1 and 2, which could end that, wait too"},
		{"all others have left", job(3, notified(0, 1, 2), state(1, Left, ""), state(2, Left, "")),
			"ranks 1 and 2 have left the job; rank 0 waits for them"},
		{"stopped", job(2, barrier(0, 1), state(1, Silent, "")),
			"rank 1 is stopped, or gets no processor, for 2.0 s; rank 0 waits for it"},
		{"missing notification", job(4, notified(0, 1, 2, 3), barrier(1, 0), barrier(2, 0), barrier(3, 0)),
			"rank 0 waits in Segment.WaitSome for notification 5 of segment 0 (p/main.go:30), and ranks 1-3, which could end that, wait too"},
		{"two miss notifications", job(2, notified(0, 1), notified(1, 0)),
			"rank 0 waits in Segment.WaitSome for notification 5 of segment 0 (p/main.go:30), and rank 1, which could end that, waits too; so does rank 1"},
		{"nobody may write", job(1, notified(0)),
			"rank 0 waits in Segment.WaitSome for notification 5 of segment 0 (p/main.go:30), and no other rank can end that"},
		{"mismatch", job(4, reduces(0, 2), reduces(1, 0), barrier(2, 0, 1, 3), reduces(3, 2)),
			"rank 2 is in Proc.Barrier of world, number 7 (p/main.go:20), but ranks 0, 1 and 3 are in allreduce (sum of 4 float64), call 3 of the team, ring, step 2 of 9 (p/main.go:40): the calls do not match"},
		{"a cycle in one call", job(3, barrier(0, 2), barrier(1, 0), barrier(2, 1)),
			"ranks 0-2 wait for each other in Proc.Barrier of world, number 7 (p/main.go:20)"},
		{"one of two goroutines can go on", job(2, notified(0, 1), barrier(0, 0), notified(1, 0)),
			"rank 0 waits in Segment.WaitSome for notification 5 of segment 0 (p/main.go:30), and rank 1, which could end that, waits too"},
		{"a rank that is none", job(1, barrier(0, 7)),
			"rank 0 waits in Proc.Barrier of world, number 7 (p/main.go:20), and no other rank can end that"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := Report(c.views); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestMeet has ranks wait in gaspi.Init for one that has not come there, and for one that does not get on in it.
func TestMeet(t *testing.T) {
	now := time.Unix(1000, 0)
	before := func(ago ...time.Duration) (since []time.Time) {
		for _, d := range ago {
			since = append(since, now.Add(-d))
			if d < 0 {
				since[len(since)-1] = time.Time{}
			}
		}
		return since
	}
	const no = -time.Second
	for _, c := range []struct {
		name    string
		gone    base.Rank // -1 for none
		since   []time.Time
		absent  []base.Rank
		want    string
		longest time.Duration
	}{
		{"one has not come", -1, before(3*time.Second, no, time.Second), []base.Rank{1},
			"rank 1 has not come to gaspi.Init; ranks 0 and 2 wait for it", 3 * time.Second},
		{"several have not come", -1, before(no, time.Second, no), []base.Rank{0, 2},
			"ranks 0 and 2 have not come to gaspi.Init; rank 1 waits for them", time.Second},
		{"one does not get on", -1, before(3*time.Second, no, time.Second), nil,
			"rank 1 has come to gaspi.Init and does not get on in it; ranks 0 and 2 wait for it", 3 * time.Second},
		{"one does not get on and one has not come", -1, before(3*time.Second, no, no), []base.Rank{2},
			"rank 2 has not come to gaspi.Init; rank 0 waits for it", 3 * time.Second},
		{"one that is gone", 1, before(3*time.Second, no, no), []base.Rank{2},
			"rank 2 has not come to gaspi.Init; rank 0 waits for it", 3 * time.Second},
		{"the wait does not count yet", -1, before(0, no, no), []base.Rank{1, 2},
			"ranks 1 and 2 have not come to gaspi.Init; rank 0 waits for them", 0},
		{"nobody has come", -1, nil, []base.Rank{0, 1, 2}, "gaspi.Init has not returned in ranks 0-2", 0},
		{"all have come, and told nothing", -1, nil, nil, "gaspi.Init has not returned in ranks 0-2", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			views := job(3, state(0, Absent, ""), state(1, Absent, ""), state(2, Absent, ""))
			if c.gone >= 0 {
				state(c.gone, Gone, EndedWell)(views)
			}
			Meet(views, c.since, c.absent, now)
			if got, details := Report(views); got != c.want {
				t.Errorf("%s\nwant %s\n%s", got, c.want, details)
			}
			if got := Longest(views); got != c.longest {
				t.Errorf("the longest wait is of %v, want %v", got, c.longest)
			}
		})
	}
}

func TestTable(t *testing.T) {
	_, got := Report(job(4, notified(0, 1, 2, 3), barrier(1, 0), barrier(2, 0, 1), barrier(3, 0), notified(3, 2),
		func(v []View) { v[1].Host = "node-b" }))
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) != 1+5+2 {
		t.Fatalf("%d lines:\n%s", len(lines), got)
	}
	fields := func(line string) string { return strings.Join(strings.Fields(line), " ") }
	for i, want := range []string{
		"RANK HOST STATE CALL FOR FROM PLACE",
		"0 a waiting Segment.WaitSome for notification 5 of segment 0 1m3s any of 1-3 p/main.go:30",
		"1 node-b in collective Proc.Barrier of world, number 7 1m1s 0 p/main.go:20",
		"2 a in collective Proc.Barrier of world, number 7 1m1s 0 and 1 p/main.go:20",
		"3 a waiting Proc.Barrier of world, number 7 1m1s 0 p/main.go:20",
		"3 a waiting Segment.WaitSome for notification 5 of segment 0 1m3s 2 p/main.go:30",
		"ranks 1-3 -> rank 0 (waiting)",
		"cycle: rank 0 -> rank 1 -> rank 0",
	} {
		if fields(lines[i]) != want {
			t.Errorf("line %d: %s\nwant %s", i, fields(lines[i]), want)
		}
	}
}

// TestLargeJob has 256 ranks, of which one computes: what is alike is said once.
func TestLargeJob(t *testing.T) {
	const n, slow = 256, 77
	views := job(n)
	for r := range base.Rank(n) {
		if r != slow {
			barrier(r, slow)(views)
		}
	}
	cause, details := Report(views)
	if want := "rank 77 computes, outside of any call that waits, for 2.0 s; ranks 0-76 and 78-255 wait for it"; cause != want {
		t.Errorf("%s\nwant %s", cause, want)
	}
	if lines := strings.Split(strings.TrimSpace(details), "\n"); len(lines) != 4 || lines[3] != "ranks 0-76 and 78-255 -> rank 77 (computing)" {
		t.Errorf("%d lines:\n%s", len(lines), details)
	}
}

// TestEverybodyDiffers has more lines and chains than are shown.
func TestEverybodyDiffers(t *testing.T) {
	const n = 100
	views := job(n)
	for r := range base.Rank(n / 2) {
		in(r, WaitingCall{Name: fmt.Sprint("call ", r), For: time.Second, From: []base.Rank{r + n/2}})(views)
	}
	_, details := Report(views)
	for _, want := range []string{"\nand 11 more lines\nrank 0 -> rank 50 (computing)\nrank 1 ->", "\nand 42 more chains"} {
		if !strings.Contains(details, want) {
			t.Errorf("no line %q in:\n%s", want, details)
		}
	}
}

// TestChainsEnd draws waits at random: whatever they are, the report ends, every stuck rank waits for
// some that do not move, and each chain is one of waits.
func TestChainsEnd(t *testing.T) {
	for seed := range uint32(2000) {
		x := seed*2654435761 + 1
		draw := func(n int) int {
			x = x*1664525 + 1013904223
			return int(x>>8) % n
		}
		n := 2 + draw(7)
		views := job(n)
		for r := range base.Rank(n) {
			for range draw(3) {
				var from []base.Rank
				for f := range base.Rank(n) {
					if f != r && draw(3) == 0 {
						from = append(from, f)
					}
				}
				if len(from) == 0 {
					continue
				}
				in(r, WaitingCall{Name: fmt.Sprint("call ", draw(3)), For: time.Duration(draw(1000)), From: from, Any: draw(2) == 0})(views)
			}
			if !views[r].waits() && draw(5) == 0 {
				views[r].State = []State{Absent, Silent, Left, Gone}[draw(4)]
			}
		}
		g := newGraph(views)
		for r := range views {
			if g.stuck[r] && slices.ContainsFunc(views[r].Waits, g.mayEnd) {
				t.Fatalf("seed %d: rank %d is stuck and can go on: %+v", seed, r, views)
			}
		}
		roots, cause := g.cause()
		if len(roots) == 0 && len(g.ranks((*View).waits)) > 0 {
			t.Fatalf("seed %d: no cause: %s: %+v", seed, cause, views)
		}
		if cause, details := Report(views); cause == "" || !strings.HasPrefix(details, "RANK") {
			t.Fatalf("seed %d: %s\n%s", seed, cause, details)
		}
		for r, next := range g.toward(roots) {
			if !slices.Contains(g.from(r), next) {
				t.Fatalf("seed %d: rank %d does not wait for %d", seed, r, next)
			}
		}
	}
}

func TestOf(t *testing.T) {
	now := time.Unix(1000, 0)
	wait := status.Wait{Call: "c", Since: now.Add(-time.Minute), From: []base.Rank{2}, Any: true, More: 3}
	team := wait
	team.Group = "world"
	over := team
	over.Until = now.Add(-time.Second)
	for _, c := range []struct {
		row  status.RankRow
		want View
	}{
		{status.RankRow{}, View{State: Absent}},
		{status.RankRow{Beat: now, Closed: true}, View{State: Left}},
		{status.RankRow{Beat: now, Moved: now.Add(-3 * time.Second)}, View{State: Computing, For: 3 * time.Second}},
		{status.RankRow{Beat: now, Moved: now.Add(time.Second)}, View{State: Computing}},
		{status.RankRow{Beat: now.Add(-6 * time.Second)}, View{State: Silent, For: 6 * time.Second}},
		{status.RankRow{Beat: now, Waits: []status.Wait{wait}}, View{State: Waiting,
			Waits: []WaitingCall{{Name: "c", For: time.Minute, From: []base.Rank{2}, Any: true, More: 3}}}},
		{status.RankRow{Beat: now, Waits: []status.Wait{team}}, View{State: Collective,
			Waits: []WaitingCall{{Name: "c", Group: "world", For: time.Minute, From: []base.Rank{2}, Any: true, More: 3}}}},
		{status.RankRow{Beat: now, Waits: []status.Wait{over}}, View{State: Collective,
			Waits: []WaitingCall{{Name: "c", Group: "world", For: 59 * time.Second, From: []base.Rank{2}, Any: true, More: 3}}}},
	} {
		c.want.Rank, c.want.Host = 4, "h"
		if d := cmp.Diff(c.want, Of(4, "h", c.row, now)); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.row, d)
		}
	}
}
