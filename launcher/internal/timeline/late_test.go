package timeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// awaitedAt40 awaits value 9 until 40, and computes then.
func awaitedAt40() *script {
	return newScript().step(trace.StepAwait, 1, 40, 0, 9).named(trace.Program, 40, 140, "y")
}

// postsOf returns when the posts of arrows were made, in nanoseconds, by the rank whose wait they ended.
func postsOf(tl *Timeline) map[int]int64 {
	begins := map[int]int64{}
	for w, by := range tl.links {
		begins[w.lane.rank.number] = by.by.Begin
	}
	return begins
}

// sound checks that what was moved has its place: events of a lane are in order and inside of what is around them, and
// pieces and the first event are those of these events.
func sound(t *testing.T, tl *Timeline) {
	t.Helper()
	for _, r := range tl.ranks {
		first := int64(math.MaxInt64)
		for _, l := range r.lanes {
			first = min(first, l.events[0].Begin)
			if !slices.IsSortedFunc(l.events, outerFirst) {
				t.Errorf("events of rank %d are not in order", r.number)
			}
			for _, e := range l.events {
				if o := e.parent; o != nil && (o.Begin > e.Begin || o.End < e.End) {
					t.Errorf("rank %d: %s from %d to %d is around %s from %d to %d", r.number, o.text(), o.Begin, o.End, e.text(), e.Begin, e.End)
				}
			}
			again := &track{events: l.events}
			if again.cut(); !slices.Equal(again.pieces, l.pieces) || !slices.Equal(again.joins, l.joins) {
				t.Errorf("rank %d has pieces %v and joins %v, want %v and %v", r.number, l.pieces, l.joins, again.pieces, again.joins)
			}
		}
		if r.first != first {
			t.Errorf("rank %d begins at %d, want %d", r.number, r.first, first)
		}
	}
}

// TestStepsRecordedLate has a rank that loses its core between a post and its look at the clock, by which its call
// begins, too: the value says which wait the post ended, so that it was made before that.
func TestStepsRecordedLate(t *testing.T) {
	a := newScript().named(trace.Program, 0, 20, "x").step(trace.StepPut, 90, 90, 1, 9).named(trace.Collective, 90, 120, "allreduce")
	tl := New(here(a, awaitedAt40()))
	sound(t, tl)
	if d := cmp.Diff([][4]float64{{0, 1, 5, 5}}, arrowsOf(t, tl)); d != "" {
		t.Errorf("arrows (-want +got):\n%s", d)
	}
	path, _ := tl.Path()
	want := []Leg{stage(0, "x", 0, 20), {0, Outside, 20_000, 39_999}, {1, "await (posted by rank 0)", 39_999, 40_000}, stage(1, "y", 40, 140)}
	if d := cmp.Diff(want, path); d != "" {
		t.Errorf("path (-want +got):\n%s", d)
	}
	for _, e := range tl.ranks[0].lanes[0].events {
		if call := e.Kind == trace.Collective; call && (e.Begin != 39_999 || e.End != 120_000) || e.Kind == trace.StepPut && e.label() != "put in allreduce" {
			t.Errorf("%s from %d to %d; its begin is that of its post, within it", e.label(), e.Begin, e.End)
		}
	}
}

// TestWhichStepsAreRecordedLate has a post with the value of a wait that had ended 50 microseconds before, which only
// some of them may have ended.
func TestWhichStepsAreRecordedLate(t *testing.T) {
	put := func(s *script) *script { return s.step(trace.StepPut, 90, 90, 1, 9) }
	for _, c := range []struct {
		name   string
		a, b   *script
		linked bool
	}{
		{"its goroutine did nothing else meanwhile", put(newScript().named(trace.Program, 0, 39, "x")), awaitedAt40(), true},
		{"its goroutine began a stretch before that is not over", put(newScript().named(trace.Program, 0, 99, "x")), awaitedAt40(), true},
		{"another goroutine did", put(newScript().on(2).named(trace.Program, 50, 60, "x").on(1)), awaitedAt40(), true},
		{"its goroutine did", put(newScript().named(trace.Program, 50, 60, "x")), awaitedAt40(), false},
		{"its goroutine began something before, which ended meanwhile", put(newScript().named(trace.Program, 0, 60, "x")), awaitedAt40(), false},
		{"its goroutine began something meanwhile, which is not over", put(newScript().named(trace.Program, 50, 99, "x")), awaitedAt40(), false},
		{"another value", newScript().step(trace.StepPut, 90, 90, 1, 11), awaitedAt40(), false},
		{"another value came before", put(newScript().on(2).step(trace.StepPut, 50, 50, 1, 1).on(1)), awaitedAt40(), false},
		{"values that are no numbers", newScript().post(90, 90, 1, 5), newScript().wait(1, 40, 5), false},
		{"a post that is no step", newScript().add(trace.Notify, 90, 90, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = 1, 5, 1, 9 }), awaitedAt40(), false},
		{"a wait that is no step", put(newScript()), newScript().add(trace.WaitUntil, 1, 40, func(r *trace.Record) { r.Note, r.Count, r.Value = 5, 1, 9 }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for kept, linked := range map[int64]bool{-1: c.linked, 30: c.linked, 50: false} { // since when records are there
				tl := New(here(c.a, c.b))
				if kept >= 0 {
					a := *newScript()
					a.on(3).named(trace.Program, 0, kept, "first").log.Dropped = 7
					a.log.Names = append(a.log.Names, c.a.log.Names[1:]...)
					a.log.Records = append(a.log.Records, c.a.log.Records...)
					tl = New(here(&a, c.b))
				}
				if got := len(tl.links) == 1; got != linked || len(arrowsOf(t, tl)) != len(tl.links) {
					t.Errorf("records from %d on: linked %v, want %v; %d arrows", kept, got, linked, len(arrowsOf(t, tl)))
				}
			}
		})
	}
}

// TestStepsRecordedLateSpend has two waits for one value: a post ends one of them.
func TestStepsRecordedLateSpend(t *testing.T) {
	tl := New(here(newScript().step(trace.StepPut, 90, 90, 1, 9), awaitedAt40().step(trace.StepAwait, 141, 150, 0, 9)))
	if len(tl.links) != 1 {
		t.Errorf("one post ended %d waits", len(tl.links))
	}
}

// TestStepsRecordedLateByWrongClocks has a goroutine that looked at its clock, which may be wrong by two microseconds,
// as the wait ended: where there is no time for the post that is before the end and after this look, it has no arrow.
func TestStepsRecordedLateByWrongClocks(t *testing.T) {
	for _, c := range []struct {
		looked int64 // nanoseconds
		links  int
		want   int64 // when the post was made
	}{{39_998, 1, 39_999}, {39_999, 1, 90_000}, {42_000, 1, 90_000}, {42_001, 0, 0}} {
		a := newScript().add(trace.Notify, 0, 0, func(r *trace.Record) { r.Begin, r.End = c.looked, c.looked }).step(trace.StepPut, 90, 90, 1, 9)
		tl := New(here(a, awaitedAt40()))
		sound(t, tl)
		arrows := 0
		if c.want == 39_999 {
			arrows = 1
		}
		if n := len(arrowsOf(t, tl)); len(tl.links) != c.links || n != arrows || postsOf(tl)[1] != c.want {
			t.Errorf("looked at %d: %d links and %d arrows, posts at %v; want %d and %d, and %d", c.looked, len(tl.links), n, postsOf(tl), c.links, arrows, c.want)
		}
	}
}

// TestStepsRecordedLateTogether has posts to two ranks of one look at the clock: each was made before the wait that it
// ended was over, and before those that follow it.
func TestStepsRecordedLateTogether(t *testing.T) {
	for _, c := range []struct {
		ends [2]int64 // of the waits
		want map[int]int64
	}{
		{[2]int64{40, 60}, map[int]int64{1: 39_999, 2: 59_999}},
		{[2]int64{60, 40}, map[int]int64{1: 39_998, 2: 39_999}},
		{[2]int64{100, 40}, map[int]int64{1: 39_998, 2: 39_999}}, // the first is recorded early enough for its wait
		{[2]int64{40, 100}, map[int]int64{1: 39_999, 2: 90_001}},
	} {
		a := newScript().named(trace.Program, 0, 20, "x").step(trace.StepPut, 90, 90, 1, 9).step(trace.StepPut, 90, 90, 2, 9).named(trace.Collective, 90, 120, "broadcast")
		b, d := newScript().step(trace.StepAwait, 1, c.ends[0], 0, 9), newScript().step(trace.StepAwait, 1, c.ends[1], 0, 9)
		tl := New(here(a, b, d))
		sound(t, tl)
		if n := len(arrowsOf(t, tl)); n != 2 {
			t.Errorf("waits until %v: %d arrows", c.ends, n)
		}
		if d := cmp.Diff(c.want, postsOf(tl)); d != "" {
			t.Errorf("waits until %v: posts (-want +got):\n%s", c.ends, d)
		}
	}
}

// TestStepsRecordedLateBeforeAWait has a wait that begins by the look at the clock for the post before it. It keeps
// its begin, and the arrow begins in the post.
func TestStepsRecordedLateBeforeAWait(t *testing.T) {
	for _, c := range [][2]int64{{90, 90}, {95, 95}, {95, 90}} { // the end of the post, and the begin of the wait
		a := newScript().step(trace.StepSignal, 90, c[0], 1, 9).step(trace.StepAwait, c[1], 200, 0, 7).named(trace.Collective, 90, 210, "barrier")
		b := awaitedAt40().step(trace.StepSignal, 180, 190, 0, 7)
		tl := New(here(a, b))
		sound(t, tl)
		if all := endsOf(t, tl); !slices.Equal(all, []string{"signal to await", "signal to await"}) {
			t.Errorf("%v: arrows from %v", c, all)
		}
		for _, e := range tl.ranks[0].lanes[0].events {
			if e.Kind == trace.StepAwait && e.Begin != 1000*c[1] || e.Kind.Step() && e.parent.Kind != trace.Collective {
				t.Errorf("%v: %s from %d to %d", c, e.label(), e.Begin, e.End)
			}
		}
	}
}

// TestStepsRecordedLateBeforeAPost has a post behind it whose time was taken: that keeps its begin.
func TestStepsRecordedLateBeforeAPost(t *testing.T) {
	a := newScript().step(trace.StepPut, 90, 90, 1, 9).step(trace.StepSignal, 90, 95, 2, 9).named(trace.Collective, 90, 120, "barrier")
	tl := New(here(a, awaitedAt40(), newScript().step(trace.StepAwait, 1, 100, 0, 9)))
	sound(t, tl)
	if all := endsOf(t, tl); !slices.Equal(all, []string{"put to await", "signal to await"}) {
		t.Errorf("arrows from %v", all)
	}
	if d := cmp.Diff(map[int]int64{1: 39_999, 2: 90_000}, postsOf(tl)); d != "" {
		t.Errorf("posts (-want +got):\n%s", d)
	}
}

// endsOf returns which events arrows go from and to.
func endsOf(t *testing.T, tl *Timeline) (all []string) {
	t.Helper()
	for _, a := range written(t, tl) {
		all = append(all, a[0].Name+" to "+a[1].Name)
	}
	return all
}

// TestWaitForStepsRecordedLate has a row of waits, of which one has a post, that was recorded late.
func TestWaitForStepsRecordedLate(t *testing.T) {
	for _, value := range []uint32{7, 8} {
		a := newScript().add(trace.StepPut, 90, 90, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = 1, value-6, 1, value })
		tl := New(here(a, newScript().awaits(trace.StepAwait, 0, 30)))
		sound(t, tl)
		if d := cmp.Diff([][4]float64{{0, 1, float64(value - 6), float64(value - 6)}}, arrowsOf(t, tl)); d != "" {
			t.Errorf("arrows (-want +got):\n%s", d)
		}
	}
}

// TestWaitForAnyStepRecordedLate has a wait for any of two posts, of which the one that came was recorded late.
func TestWaitForAnyStepRecordedLate(t *testing.T) {
	a := newScript().add(trace.StepPut, 90, 90, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = 1, 2, 1, 8 })
	tl := New(here(a, newScript().awaits(trace.StepWait, 0, 30)))
	if d := cmp.Diff([][4]float64{{0, 1, 2, 2}}, arrowsOf(t, tl)); d != "" {
		t.Errorf("arrows (-want +got):\n%s", d)
	}
}

// TestRoundsRecordedLate has rings of ranks that lose their cores at random after their posts: each wait has the arrow of
// its own post, none goes back, and the critical path is whole.
func TestRoundsRecordedLate(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		const ranks, rounds = 3, 20
		scripts, at := make([]*script, ranks), make([]int64, ranks)
		for r := range scripts {
			scripts[r] = newScript().named(trace.Program, 0, 1, "x")
			at[r] = 1
		}
		for round := range uint32(rounds) {
			var posted [ranks]int64
			for r, s := range scripts {
				posted[r] = at[r] + 1 + random.Int64N(20)
				at[r] = posted[r]
				if random.IntN(3) == 0 {
					at[r] += random.Int64N(300)
				}
				s.step(trace.StepPut, at[r], at[r], base.Rank((r+1)%ranks), 2*round+1)
			}
			for r, s := range scripts {
				begin := at[r]
				at[r] = 1 + max(begin, posted[(r+ranks-1)%ranks])
				s.step(trace.StepAwait, begin, at[r], 0, 2*round+1).named(trace.Collective, begin, at[r], "ring")
			}
		}
		tl := New(here(scripts...))
		sound(t, tl)
		if n := len(arrowsOf(t, tl)); n != ranks*rounds {
			t.Errorf("seed %d: %d arrows, want %d", seed, n, ranks*rounds)
		}
		for w, by := range tl.links {
			if by.by.Value != w.Value || by.by.lane.rank.number != (w.lane.rank.number+ranks-1)%ranks || by.by.Begin >= w.End {
				t.Errorf("seed %d: a wait for %d until %d is for post %d at %d", seed, w.Value, w.End, by.by.Value, by.by.Begin)
			}
		}
		path, _ := tl.Path()
		end := int64(0)
		for _, leg := range path {
			if leg.From != end || leg.To <= leg.From {
				t.Errorf("seed %d: a leg from %d to %d behind one until %d", seed, leg.From, leg.To, end)
			}
			end = leg.To
		}
		if want := tl.lastEvent().End - tl.origin; end != want {
			t.Errorf("seed %d: the path ends at %d, not %d", seed, end, want)
		}
	}
}
