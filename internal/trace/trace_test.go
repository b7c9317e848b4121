package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gaspi-go/gaspi-go/internal/sys"
)

// ring makes a file for three ranks and the recorder of the second.
func ring(t testing.TB, slots int) (*os.File, *Recorder) {
	t.Helper()
	file, err := NewFile(3, slots)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	r, err := NewRecorder(file, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	return file, r
}

func logOf(t *testing.T, file *os.File, rank int) Log {
	t.Helper()
	b, err := Image(file, rank)
	if err != nil {
		t.Fatal(err)
	}
	log, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestRecordsComeBack(t *testing.T) {
	file, r := ring(t, leastSlots)
	begin := r.Now()
	want := []Record{
		{Kind: WriteNotify, Begin: begin, Peer: 2, Segment: 1<<32 - 1, Note: 1<<32 - 2, Count: mostCount, Value: 1<<32 - 3, Adds: true, Bytes: 1<<64 - 1},
		{Kind: Program, Name: r.Named("solve"), Peer: -1},
		{Kind: Call, Name: r.Named("Group.Commit")},
		{Kind: Program, Name: r.Named("solve")},
	}
	for i := range want {
		rec := want[i]
		r.Add(&rec)
	}
	log := logOf(t, file, 1)
	if d := cmp.Diff(want, log.Records, cmpopts.IgnoreFields(Record{}, "Begin", "End", "Lane")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"", "solve", "Group.Commit"}, log.Names); d != "" || log.Dropped != 0 {
		t.Errorf("dropped %d; names (-want +got):\n%s", log.Dropped, d)
	}
	now, err := sys.Monotonic()
	if err != nil {
		t.Fatal(err)
	}
	last := int64(0)
	for i, rec := range log.Records {
		if rec.Begin > rec.End || rec.End < last || rec.End > now || rec.Lane != log.Records[0].Lane {
			t.Errorf("record %d: %+v after %d, at %d", i, rec, last, now)
		}
		last = rec.End
	}
	if log.Records[1].Begin != log.Records[1].End {
		t.Errorf("a record without a begin: %+v", log.Records[1])
	}
	for _, other := range []int{0, 2} {
		if log := logOf(t, file, other); len(log.Records) != 0 || log.Dropped != 0 {
			t.Errorf("rank %d: %+v", other, log)
		}
	}
}

// TestRingKeepsTheLast has several goroutines record more than there is room for. Records count as dropped
// that one of them has spoilt which was held up for a whole turn of the ring.
func TestRingKeepsTheLast(t *testing.T) {
	const goroutines, each = 4, leastSlots
	file, r := ring(t, leastSlots)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range each {
				r.Add(&Record{Kind: Notify, Note: uint32(g), Value: uint32(i)})
			}
		})
	}
	all.Wait()
	log := logOf(t, file, 1)
	if len(log.Records)+int(log.Dropped) != goroutines*each || len(log.Records) > leastSlots || len(log.Records) == 0 {
		t.Fatalf("%d records, %d dropped", len(log.Records), log.Dropped)
	}
	missing := leastSlots - len(log.Records)
	lanes, next := map[uint32]uintptr{}, map[uint32]uint32{}
	for _, rec := range log.Records {
		if lane, ok := lanes[rec.Note]; ok {
			if missing -= int(rec.Value) - int(next[rec.Note]); lane != rec.Lane || rec.Value < next[rec.Note] || missing < 0 {
				t.Fatalf("%+v: expected lane %d, value %d; of %d records %d are dropped", rec, lane, next[rec.Note], goroutines*each, log.Dropped)
			}
		}
		lanes[rec.Note], next[rec.Note] = rec.Lane, rec.Value+1
	}
}

// TestKeep has a rank that does short things in rapid succession, a long one, a pause, and short ones again.
func TestKeep(t *testing.T) {
	file, r := ring(t, 4*leastSlots)
	at := r.Now() + burst*r.micro
	short := func(times int) (kept int) {
		for range times {
			if r.Keep(0, at, 4*PostPrice) {
				r.Add(&Record{Kind: Notify, End: at})
				kept++
			}
		}
		return kept
	}
	if kept := short(burst); kept != burst/4+2 { // the first two are after a pause, and from before due
		t.Errorf("%d of a burst were kept, want %d", kept, burst/4+2)
	}
	if !r.Keep(at, at+r.micro, PostPrice) {
		t.Error("a call of a microsecond is left out")
	}
	r.Add(&Record{Kind: QueueWait, Begin: at, End: at + r.micro})
	at += 12 * r.micro
	if kept := short(20); kept != 4 {
		t.Errorf("%d of 20 were kept after a pause that is worth 3", kept)
	}
	log := logOf(t, file, 1)
	gaps := map[int]uint32{}
	for i, rec := range log.Records {
		if rec.Skipped > 0 {
			gaps[i] = rec.Skipped
		}
	}
	if d := cmp.Diff(map[int]uint32{burst/4 + 2: burst - burst/4 - 2}, gaps); d != "" || log.Skipped != burst-burst/4-2+16 {
		t.Errorf("%d were left out; before records (-want +got):\n%s", log.Skipped, d)
	}
}

// TestUnfinishedRecordIsDropped is of a rank that dies while it writes a record over an old one.
func TestUnfinishedRecordIsDropped(t *testing.T) {
	file, r := ring(t, leastSlots)
	for range leastSlots {
		r.Add(&Record{Kind: Notify})
	}
	r.begun.Add(1)
	log := logOf(t, file, 1)
	if len(log.Records) != leastSlots-1 || log.Dropped != 2 {
		t.Errorf("%d records, %d dropped", len(log.Records), log.Dropped)
	}
}

func TestNamesEnd(t *testing.T) {
	file, r := ring(t, leastSlots)
	long := strings.Repeat("x", 2*mostName)
	for i := range 2 * mostNames {
		rec := Record{Kind: Program, Name: r.Named(fmt.Sprintf("%d %s", i, long))}
		if i%100 == 0 {
			r.Add(&rec)
		}
	}
	log := logOf(t, file, 1)
	if got := log.Names[log.Records[len(log.Records)-1].Name]; got != further {
		t.Errorf("a name too many is %q", got)
	}
	if got := log.Names[log.Records[0].Name]; got != ("0 " + long)[:mostName] {
		t.Errorf("the first name is %q", got)
	}
	if (*Recorder)(nil).Named("x") != 0 || (*Recorder)(nil).Begin() != 0 {
		t.Error("nobody records something")
	}
}

func TestSlots(t *testing.T) {
	for ranks, want := range map[int]int{1: 65536, 64: 65536, 65: 32768, 1024: 4096, 65536: 1024} {
		if got := Slots(ranks); got != want {
			t.Errorf("%d ranks: %d records each, want %d", ranks, got, want)
		}
	}
}

func TestOthersFilesAreRefused(t *testing.T) {
	file, _ := ring(t, leastSlots)
	for _, c := range [][2]int{{-1, 3}, {3, 3}, {0, 2}, {0, 4}} {
		if _, err := NewRecorder(file, c[0], c[1]); err == nil {
			t.Errorf("rank %d of %d was taken", c[0], c[1])
		}
	}
	b, err := Image(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]byte) []byte{
		"short": func(b []byte) []byte { return b[:recordsAt-1] },
		"magic": func(b []byte) []byte { b[0]++; return b },
		"long":  func(b []byte) []byte { return append(b, 0) },
		"slots": func(b []byte) []byte { binary.LittleEndian.PutUint64(b[8*wordSlots:], 0); return b },
		"clock": func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[8*wordClock:], clockTicks)
			binary.LittleEndian.PutUint64(b[8*wordTicksEnd:], 0)
			return b
		},
	} {
		if _, err := Parse(change(bytes.Clone(b))); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}

func TestAddAllocatesNothing(t *testing.T) {
	_, r := ring(t, leastSlots)
	if n := testing.AllocsPerRun(100, func() {
		begun := r.BeginMove(1 << 20)
		r.Add(&Record{Kind: Write, Begin: begun, Peer: 1, Bytes: 1 << 20})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEveryKindHasAName finds rows of the table that are missing.
func TestEveryKindHasAName(t *testing.T) {
	for k := None; k < kinds; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
	if kinds.Class() != Other || kinds.String() != fmt.Sprintf("Action(%d)", kinds) {
		t.Errorf("%v has class %d", kinds, kinds.Class())
	}
}

func BenchmarkAdd(b *testing.B) {
	_, r := ring(b, mostSlots)
	b.ReportAllocs()
	for b.Loop() {
		r.Add(&Record{Kind: Notify, Peer: 1, Note: 2, Count: 1, Value: 3})
	}
}
