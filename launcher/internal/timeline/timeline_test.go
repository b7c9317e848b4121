package timeline

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/gaspi-go/gaspi-go/internal/testenv/tracefile"
	"github.com/gaspi-go/gaspi-go/internal/trace"
)

// A script makes the records of a rank, in microseconds.
type script struct {
	log   trace.Log
	names map[string]trace.Name
	lane  uintptr
}

func newScript() *script {
	return &script{log: trace.Log{Names: []string{""}}, names: map[string]trace.Name{}, lane: 1}
}

func (s *script) add(kind trace.Action, begin, end int64, change func(*trace.Record)) *script {
	r := trace.Record{Kind: kind, Begin: 1000 * begin, End: 1000 * end, Lane: s.lane}
	if change != nil {
		change(&r)
	}
	s.log.Records = append(s.log.Records, r)
	return s
}

func (s *script) on(lane uintptr) *script {
	s.lane = lane
	return s
}

func (s *script) named(kind trace.Action, begin, end int64, name string) *script {
	if s.names[name] == 0 {
		s.log.Names = append(s.log.Names, name)
		s.names[name] = trace.Name(len(s.log.Names) - 1)
	}
	return s.add(kind, begin, end, func(r *trace.Record) { r.Name = s.names[name] })
}

// post posts value 1 at a notification of segment 0 of another rank.
func (s *script) post(begin, end int64, to base.Rank, note uint32) *script {
	return s.add(trace.WriteNotify, begin, end, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = to, note, 1, 1 })
}

// wait waits for what post posts.
func (s *script) wait(begin, end int64, note uint32) *script {
	return s.add(trace.WaitSome, begin, end, func(r *trace.Record) { r.Note, r.Count, r.Value = note, 1, 1 })
}

// meet is a call that all ranks make.
func (s *script) meet(begin, end int64, number uint32) *script {
	return s.add(trace.Barrier, begin, end, func(r *trace.Record) { r.Segment, r.Value = 7, number })
}

// ahead returns the log as a host with another clock has it: ahead by an offset, and more by a
// millionth of the time since then for each unit of drift.
func (s *script) ahead(offset, drift int64) RankLog {
	clock := Clock{
		First: Offset{Ahead: offset},
		Last:  Offset{Ahead: offset + drift, At: 1_000_000 + offset + drift},
	}
	clock.First.At = offset
	there := func(t int64) int64 { return t + offset + t*drift/1_000_000 }
	log := s.log
	log.Records = nil
	for _, r := range s.log.Records {
		r.Begin, r.End = there(r.Begin), there(r.End)
		log.Records = append(log.Records, r)
	}
	return RankLog{Host: "h", Clock: clock, Log: log}
}

func here(scripts ...*script) (sources []RankLog) {
	for _, s := range scripts {
		sources = append(sources, s.ahead(0, 0))
	}
	return sources
}

// stage is a Leg in microseconds.
func stage(r base.Rank, call string, from, to int64) Leg {
	return Leg{Rank: r, Call: call, From: 1000 * from, To: 1000 * to}
}

// relay is a message from rank 0 by rank 1 to rank 2, which rank 1 is slow to pass on.
func relay() []*script {
	return []*script{
		newScript().post(0, 10, 1, 4),
		newScript().wait(2, 20, 4).named(trace.Program, 20, 70, "solve").post(72, 80, 2, 5),
		newScript().named(trace.Program, 1, 30, "solve").wait(30, 90, 5).named(trace.Program, 90, 100, "solve"),
	}
}

var relayPath = []Leg{
	stage(0, "Queue.WriteNotify", 0, 10),
	stage(1, "Segment.WaitSome (posted by rank 0)", 10, 20),
	stage(1, "solve", 20, 70),
	stage(1, Outside, 70, 72),
	stage(1, "Queue.WriteNotify", 72, 80),
	stage(2, "Segment.WaitSome (posted by rank 1)", 80, 90),
	stage(2, "solve", 90, 100),
}

func TestPath(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []RankLog
		want []Leg
	}{
		{"nothing", nil, nil},
		{"no records", here(newScript(), newScript()), nil},
		{"a rank alone", here(newScript().named(trace.Program, 5, 9, "a").named(trace.Program, 10, 12, "b")),
			[]Leg{stage(0, "a", 0, 4), stage(0, Outside, 4, 5), stage(0, "b", 5, 7)}},
		{"a relay", here(relay()...), relayPath},
		{"a post that was there before", here(
			newScript().post(0, 1, 1, 3),
			newScript().named(trace.Program, 0, 50, "late").add(trace.WaitSome, 50, 50, func(r *trace.Record) { r.End += 60; r.Note, r.Count, r.Value = 3, 1, 1 }).named(trace.Program, 51, 60, "on"),
		), []Leg{stage(1, "late", 0, 50), {1, "Segment.WaitSome", 50_000, 50_060}, {1, Outside, 50_060, 51_000}, stage(1, "on", 51, 60)}},
		{"a barrier", here(
			newScript().named(trace.Program, 0, 10, "short").meet(10, 100, 1).named(trace.Program, 100, 130, "tail"),
			newScript().named(trace.Program, 0, 90, "long").meet(90, 99, 1),
			newScript().named(trace.Program, 0, 50, "middle").meet(50, 101, 1),
		), []Leg{stage(1, "long", 0, 90), stage(0, "Proc.Barrier", 90, 100), stage(0, "tail", 100, 130)}},
		{"a post of another goroutine", here(
			newScript().named(trace.Program, 0, 40, "main").on(2).named(trace.Program, 20, 30, "helper").post(30, 31, 1, 9),
			newScript().wait(0, 35, 9).named(trace.Program, 35, 50, "last"),
		), []Leg{stage(0, Outside, 0, 20), stage(0, "helper", 20, 30), stage(0, "Queue.WriteNotify", 30, 31), stage(1, "Segment.WaitSome (posted by rank 0)", 31, 35), stage(1, "last", 35, 50)}},
		{"a wait for a function", here(
			newScript().named(trace.Program, 0, 20, "x").post(20, 21, 1, 9).named(trace.Program, 22, 23, "y"),
			newScript().add(trace.WaitFunc, 1, 25, nil),
		), []Leg{stage(0, "x", 0, 20), stage(0, "Queue.WriteNotify", 20, 21), stage(1, "Segment.WaitFunc (posted by rank 0)", 21, 25)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, cut := New(c.in).Path()
			if d := cmp.Diff(c.want, got); d != "" || cut {
				t.Errorf("cut %v (-want +got):\n%s", cut, d)
			}
		})
	}
}

// TestPathOfOtherClocks has each rank on a host whose clock is ahead or behind, and runs faster.
func TestPathOfOtherClocks(t *testing.T) {
	scripts := relay()
	sources := []RankLog{scripts[0].ahead(0, 0), scripts[1].ahead(-5_000_000_000, 0), scripts[2].ahead(70_000_000_000, 500)}
	got, _ := New(sources).Path()
	for i := range got { // which drift makes fractions of nanoseconds
		got[i].From, got[i].To = (got[i].From+5)/10*10, (got[i].To+5)/10*10
	}
	if d := cmp.Diff(relayPath, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPathOfPostsRecordedLate has a rank whose small post is recorded after the wait has ended.
func TestPathOfPostsRecordedLate(t *testing.T) {
	a := newScript().named(trace.Program, 0, 20, "x").post(22, 22, 1, 9)
	b := newScript().wait(1, 21, 9).wait(22, 23, 9).named(trace.Program, 23, 30, "y")
	got, _ := New(here(a, b)).Path()
	want := []Leg{stage(0, "x", 0, 20), stage(0, Outside, 20, 21), stage(1, Outside, 21, 22), stage(1, "Segment.WaitSome", 22, 23), stage(1, "y", 23, 30)}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestPostsThatWereLeftOut has a wait that a post may have ended which was not recorded, and one that none of
// these can have ended.
func TestPostsThatWereLeftOut(t *testing.T) {
	a := newScript().post(0, 10, 1, 9).post(31, 32, 1, 9).post(40, 41, 1, 9)
	a.log.Records[1].Skipped = 7 // between 10 and 32
	b := newScript().wait(12, 30, 9).wait(33, 45, 9).named(trace.Program, 45, 50, "y")
	tl := New(here(a, b))
	linked := map[int64]int64{}
	for wait, by := range tl.links {
		linked[(wait.End-tl.origin)/1000] = (by.by.Begin - tl.origin) / 1000
	}
	if d := cmp.Diff(map[int64]int64{45: 40}, linked); d != "" {
		t.Errorf("waits by their end, and posts by their begin (-want +got):\n%s", d)
	}
}

// TestPathOfACollective has steps, whose waits are for running numbers.
func TestPathOfACollective(t *testing.T) {
	step := func(s *script, kind trace.Action, begin, end int64, peer base.Rank, value uint32) *script {
		return s.add(kind, begin, end, func(r *trace.Record) { r.Peer, r.Note, r.Count, r.Value = peer, 2, 1, value })
	}
	a, b := newScript(), newScript()
	step(a.named(trace.Collective, 0, 100, "allreduce"), trace.StepPut, 0, 10, 1, 1)
	step(a, trace.StepAwait, 10, 60, 0, 1)
	a.add(trace.StepCombine, 60, 90, nil)
	step(a, trace.StepPut, 90, 100, 1, 2)
	step(b.named(trace.Collective, 45, 110, "allreduce"), trace.StepPut, 45, 55, 0, 1)
	step(b, trace.StepAwait, 55, 55, 0, 1)
	step(b, trace.StepAwait, 55, 105, 0, 2)
	got, _ := New(here(a, b)).Path()
	want := []Leg{
		stage(1, "put in allreduce", 45, 55), stage(0, "await in allreduce (posted by rank 1)", 55, 60), stage(0, "combine in allreduce", 60, 90),
		stage(0, "put in allreduce", 90, 100), stage(1, "await in allreduce (posted by rank 0)", 100, 105), stage(1, "allreduce", 105, 110),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPathSaysThatItIsCut(t *testing.T) {
	s := newScript().named(trace.Program, 0, 1, "a")
	s.log.Dropped = 3
	if _, cut := New(here(s)).Path(); !cut {
		t.Error("a path that ends where records were dropped is taken for whole")
	}
}

func TestShares(t *testing.T) {
	got := Shares(append([]Leg{stage(2, "solve", 0, 5)}, relayPath...))
	want := []Share{
		{1, "solve", 50 * time.Microsecond}, {2, "solve", 15 * time.Microsecond}, {0, "Queue.WriteNotify", 10 * time.Microsecond},
		{1, "Segment.WaitSome (posted by rank 0)", 10 * time.Microsecond}, {2, "Segment.WaitSome (posted by rank 1)", 10 * time.Microsecond},
		{1, "Queue.WriteNotify", 8 * time.Microsecond}, {1, Outside, 2 * time.Microsecond},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestMeasure(t *testing.T) {
	got := Measure([]Ping{
		{Sent: 1000, Arrived: 9000, Answered: 9100, Received: 3100}, // round trip 2000
		{Sent: 4000, Arrived: 11030, Answered: 11040, Received: 4070},
		{Sent: 5000, Arrived: 12900, Answered: 12900, Received: 6000},
	})
	if want := (Offset{Ahead: 7000, Error: 30, At: 11030}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Measure(nil); got != (Offset{}) {
		t.Errorf("without pings %+v", got)
	}
	c := Clock{First: Offset{Ahead: 100, Error: 5, At: 1000}, Last: Offset{Ahead: 300, Error: 7, At: 2000}}
	for there, want := range map[int64]int64{1000: 900, 1500: 1300, 2000: 1700, 0: 100} {
		if got := c.Here(there); got != want {
			t.Errorf("%d there is %d here, want %d", there, got, want)
		}
	}
	if c.Error() != 7 {
		t.Errorf("error %d", c.Error())
	}
}

// TestWrite checks the whole file of a relay, whose second rank also has events that overlap, and an
// operation beside them.
func TestWrite(t *testing.T) {
	s := relay()
	s[1].named(trace.Operation, 15, 85, "allreduce \"x\"").add(trace.WaitFunc, 75, 95, nil)
	tl := New(here(s...))
	path, _ := tl.Path()
	var b bytes.Buffer
	if err := tl.Write(&b, path); err != nil {
		t.Fatal(err)
	}
	got, err := tracefile.Check(&b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	want := tracefile.Census{Processes: 4, Slices: 8 + len(path), Arrows: 2, Operations: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
