package status

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
)

// full is a row in which everything is set, and as long as it can be.
func full() RankRow {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)
	r := RankRow{Joined: at, Beat: at, Moved: at.Add(-time.Second), Closed: true, Further: 1 << 30}
	top := ^uint64(0)
	r.Counts = Counts{top, top, top, top, top, top, top, top, top, top, top, 1<<63 - 1, top}
	for range MaxWaits {
		w := Wait{Since: at, Until: at, Any: true, More: 1 << 30}
		for _, text := range []*string{&w.Call, &w.Detail, &w.Place, &w.Group} {
			*text = strings.Repeat("x", maxText)
		}
		for range MaxFrom {
			w.From = append(w.From, base.Rank(1<<31-1))
		}
		r.Waits = append(r.Waits, w)
	}
	return r
}

func TestRowFits(t *testing.T) {
	b := full().Append(nil)
	if len(b) > RowSize {
		t.Fatalf("the longest row has %d bytes; %d fit", len(b), RowSize)
	}
	got, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(full(), got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRowIsCut(t *testing.T) {
	r := full()
	r.Waits = append(r.Waits, r.Waits...)
	r.Waits[0].From = append(r.Waits[0].From, 1, 2, 3)
	r.Waits[0].Call = "a\"\\<\x00\xff\u00e9" + strings.Repeat("y", 2*maxText)
	got, err := Parse(r.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := full()
	want.Further += MaxWaits
	want.Waits[0].More += 3
	want.Waits[0].Call = "a??????" + strings.Repeat("y", maxText-7)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if len(r.Waits) != 2*MaxWaits || len(r.Waits[0].From) != MaxFrom+3 {
		t.Error("the caller's row was changed")
	}
}

func TestParseRefuses(t *testing.T) {
	good := full().Append(nil)
	change := func(at int, to byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = to
		return b
	}
	if _, err := Parse(make([]byte, RowSize)); !errors.Is(err, ErrNone) {
		t.Errorf("zeros: %v", err)
	}
	if _, err := Parse(change(headerSize+40, '~')); !errors.Is(err, ErrTorn) {
		t.Errorf("another text than the header says: %v", err)
	}
	for name, b := range map[string][]byte{
		"short": good[:headerSize-1], "cut": good[:len(good)-1], "magic": change(0, 'x'), "reserved": change(12, 1), "length": change(7, 0xff),
	} {
		if r, err := Parse(b); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(full().Append(nil))
	f.Add(RankRow{}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		cut := r.cut()
		again, err := Parse(r.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(cut.Append(nil), again.Append(nil)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
}

func TestFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "rows"))
	if err != nil {
		t.Fatal(err)
	}
	const ranks, all = 3, 70
	if err := file.Truncate(FileSize(ranks, all)); err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(file, ranks, ranks, all); err == nil {
		t.Error("a row behind the last was taken")
	}
	if _, err := NewWriter(file, 0, ranks+1, all); err == nil {
		t.Error("a file that is too short was taken")
	}
	w, err := NewWriter(file, 1, ranks, all)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, want := range []RankRow{full(), {Counts: Counts{Writes: 7}}} {
		if err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(file, 1)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	}
	for _, other := range []int{0, 2} {
		if _, err := Read(file, other); !errors.Is(err, ErrNone) {
			t.Errorf("row %d: %v", other, err)
		}
	}
}
