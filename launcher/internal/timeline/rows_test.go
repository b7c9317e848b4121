package timeline

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv/tracefile"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// twoPosts has a rank that awaits between two others: rank 0 posts notification 1 of it with value 7 at 20, and rank 2
// notification 2 with value 8 at 10.
func twoPosts(awaited *script) []RankLog {
	put := func(at int64, note, value uint32) *script {
		return newScript().add(trace.StepPut, at, at+2, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = 1, note, 1, value })
	}
	return here(put(20, 1, 7), awaited, put(10, 2, 8))
}

// awaits adds a wait for both posts to a script.
func (s *script) awaits(kind trace.Action, begin, end int64) *script {
	for i := range uint32(2) {
		s.add(kind, begin, end, func(r *trace.Record) { r.Note, r.Count, r.Value = 1+i, 1, 7+i })
	}
	return s
}

// step is a post of notification 5 of a rank with a value, or a wait for one.
func (s *script) step(kind trace.Action, begin, end int64, to base.Rank, value uint32) *script {
	return s.add(kind, begin, end, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = to, 5, 1, value })
}

// written returns the arrows of the file of a timeline.
func written(t *testing.T, tl *Timeline) [][2]tracefile.End {
	t.Helper()
	var b bytes.Buffer
	if err := tl.Write(&b, nil); err != nil {
		t.Fatal(err)
	}
	arrows, err := tracefile.Arrows(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return arrows
}

// arrowsOf returns the arrows of a timeline: the ranks of both ends, and the notifications of the slices there.
func arrowsOf(t *testing.T, tl *Timeline) (all [][4]float64) {
	t.Helper()
	for _, a := range written(t, tl) {
		all = append(all, [4]float64{float64(a[0].Process), float64(a[1].Process), a[0].Args["notification"].(float64), a[1].Args["notification"].(float64)})
	}
	return all
}

// TestWaitForAnyPost has a wait of a collective operation that both of two posts may have ended: the earlier one did.
func TestWaitForAnyPost(t *testing.T) {
	tl := New(twoPosts(newScript().awaits(trace.StepWait, 0, 30)))
	if d := cmp.Diff([][4]float64{{2, 1, 2, 2}}, arrowsOf(t, tl)); d != "" {
		t.Errorf("arrows (-want +got):\n%s", d)
	}
	path, _ := tl.Path()
	if d := cmp.Diff([]Leg{stage(2, "put", 10, 12), stage(1, "wait (posted by rank 2)", 12, 30)}, last(path, 2)); d != "" {
		t.Errorf("path (-want +got):\n%s", d)
	}
	if n := tl.Events(); n != 3 {
		t.Errorf("%d events, want one for each post and one for the wait", n)
	}
}

// TestWaitForAllPosts has a wait for two posts: each has an arrow to a slice of its own, and the later one ended it.
func TestWaitForAllPosts(t *testing.T) {
	tl := New(twoPosts(newScript().awaits(trace.StepAwait, 0, 30)))
	if d := cmp.Diff([][4]float64{{2, 1, 2, 2}, {0, 1, 1, 1}}, arrowsOf(t, tl)); d != "" {
		t.Errorf("arrows (-want +got):\n%s", d)
	}
	path, _ := tl.Path()
	if d := cmp.Diff([]Leg{stage(0, "put", 20, 22), stage(1, "await (posted by rank 0)", 22, 30)}, last(path, 2)); d != "" {
		t.Errorf("path (-want +got):\n%s", d)
	}
}

// TestStepsOfRanksThatLeaveOut has a rank that posts while a step waits, and then leaves out records: the value of
// the post says that none of these ended the wait. One that had come before the wait may be of an earlier plan.
func TestStepsOfRanksThatLeaveOut(t *testing.T) {
	for begin, want := range map[int64]int{0: 2, 15: 1} {
		sources := twoPosts(newScript().awaits(trace.StepAwait, begin, 30))
		for r := range sources {
			if log := &sources[r].Log; r != 1 {
				log.Records = append(log.Records, trace.Record{Kind: trace.Program, Begin: 40_000, End: 40_000, Lane: 1, Skipped: 3})
			}
		}
		if got := len(arrowsOf(t, New(sources))); got != want {
			t.Errorf("from %d on: %d arrows, want %d", begin, got, want)
		}
	}
}

// TestStepsInVain has a step that waited until it lost its patience, and again: the post ended the second wait, and is
// none that the first one, which had no other either, has seen.
func TestStepsInVain(t *testing.T) {
	for _, kind := range []trace.Action{trace.StepAwait, trace.StepAwaitCredit} {
		b := newScript().add(kind, 1, 40, nil).step(kind, 41, 80, 0, 9).named(trace.Program, 80, 140, "y")
		tl := New(here(newScript().post(10, 11, 1, 3).step(trace.StepPut, 79, 90, 1, 9), b))
		if d := cmp.Diff([][4]float64{{0, 1, 5, 5}}, arrowsOf(t, tl)); d != "" || len(tl.links) != 1 {
			t.Errorf("%d links; arrows (-want +got):\n%s", len(tl.links), d)
		}
	}
}

// TestPostsAtOneTime has a call that posts to two ranks at one nanosecond, and takes none: each arrow begins in the
// post to its rank.
func TestPostsAtOneTime(t *testing.T) {
	root := newScript()
	for peer := range base.Rank(2) {
		root.add(trace.StepPut, 10, 10, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = 1+peer, 5, 1, 9 })
	}
	root.named(trace.Collective, 10, 10, "broadcast").named(trace.Program, 11, 12, "on")
	leaf := func() *script {
		return newScript().add(trace.StepAwait, 0, 20, func(r *trace.Record) { r.Note, r.Count, r.Value = 5, 1, 9 })
	}
	tl := New(here(root, leaf(), leaf()))
	var b bytes.Buffer
	if err := tl.Write(&b, nil); err != nil {
		t.Fatal(err)
	}
	arrows, err := tracefile.Arrows(bytes.NewReader(b.Bytes()))
	if err != nil || len(arrows) != 2 {
		t.Fatalf("%d arrows, want 2: %v\n%s", len(arrows), err, b.String())
	}
	for _, a := range arrows {
		if a[0].Name != "put" || a[0].Args["peer"] != float64(a[1].Process) {
			t.Errorf("an arrow from %+v to %+v", a[0], a[1])
		}
	}
}

// last returns the last n legs.
func last(path []Leg, n int) []Leg { return path[max(0, len(path)-n):] }
