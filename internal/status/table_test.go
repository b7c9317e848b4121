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

// fullTable is a table in which everything is set, and as long as it can be.
func fullTable(ranks int) PeerTable {
	const top, longest = ^uint64(0), time.Duration(1<<63 - 1)
	var t PeerTable
	for r := range base.Rank(ranks) {
		t.Peers = append(t.Peers, PeerCounts{r, top, top, top, top, top, top, top, top, longest})
	}
	for range MaxCalls {
		name := strings.Repeat("n", maxName)
		t.Calls = append(t.Calls, CallCounts{name, name, top, top, longest})
	}
	return t
}

func TestTableFits(t *testing.T) {
	for _, ranks := range []int{0, 1, 70, 1 << 16} {
		want := fullTable(ranks)
		b := want.Append(nil)
		if len(b) > TableSize(ranks) {
			t.Fatalf("the longest table of %d ranks has %d bytes; %d fit", ranks, len(b), TableSize(ranks))
		}
		got, err := ParseTable(b, ranks)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%d ranks: %v (-want +got):\n%s", ranks, err, d)
		}
	}
	last := PeerTable{Peers: []PeerCounts{{Peer: 1<<16 - 1}}}
	if got, err := ParseTable(last.Append(nil), 1<<16); err != nil || !cmp.Equal(last, got) {
		t.Errorf("the last rank alone: %+v, %v", got, err)
	}
}

// TestTableIsCut has more operations than fit, and longer names.
func TestTableIsCut(t *testing.T) {
	var all PeerTable
	for i := range MaxCalls + 10 {
		all.Calls = append(all.Calls, CallCounts{Operation: strings.Repeat("y", 2*maxName), Time: time.Duration(i)})
	}
	got, err := ParseTable(all.Append(nil), 1)
	if err != nil || len(got.Calls) != MaxCalls || got.Calls[MaxCalls-1].Time != 10 || len(got.Calls[0].Operation) != maxName {
		t.Errorf("%d calls, the last %+v, %v", len(got.Calls), got.Calls[len(got.Calls)-1], err)
	}
}

func TestParseTableRefuses(t *testing.T) {
	twice := PeerTable{Peers: []PeerCounts{{Peer: 3}, {Peer: 3}}}
	text := func(b ...byte) []byte { return Seal(nil, tableMagic, b) }
	for name, b := range map[string][]byte{
		"nothing": {}, "a row": RankRow{}.Append(nil), "a rank beyond the last": PeerTable{Peers: []PeerCounts{{Peer: 4}}}.Append(nil),
		"a rank twice": twice.Append(nil), "no text": text(), "cut": text(1, 1, 0, 0), "more peers than ranks": text(5),
		"a long varint": text(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "a name without its bytes": text(0, 1, 9, 'x'),
		"many calls": text(0, MaxCalls+1), "more behind": text(0, 0, 0),
	} {
		if got, err := ParseTable(b, 4); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := ParseTable(make([]byte, 64), 4); !errors.Is(err, ErrNone) {
		t.Errorf("zeros: %v", err)
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add(fullTable(3).Append(nil)[headerSize:])
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		const ranks = 5
		got, err := ParseTable(Seal(nil, tableMagic, text), ranks)
		if err != nil {
			return
		}
		again, err := ParseTable(got.Append(nil), ranks)
		if d := cmp.Diff(got, again); d != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	})
}

// TestTableFile writes tables of several lengths beside rows.
func TestTableFile(t *testing.T) {
	const ranks, all = 3, 70
	file, err := os.Create(filepath.Join(t.TempDir(), "rows"))
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(FileSize(ranks, all)); err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(file, 1, ranks, all)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, want := range []PeerTable{fullTable(all), {}, {Peers: []PeerCounts{{Peer: 69, Writes: 1}}}} {
		for range 2 {
			if err := w.WriteTable(want); err != nil {
				t.Fatal(err)
			}
		}
		b, err := ReadTable(file, 1, ranks, all)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseTable(b, all); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, got))
		}
	}
	for row := range ranks {
		if _, err := ReadTable(file, row, ranks, all); row != 1 && !errors.Is(err, ErrNone) {
			t.Errorf("table %d: %v", row, err)
		}
		if _, err := Read(file, row); !errors.Is(err, ErrNone) {
			t.Errorf("row %d: %v", row, err)
		}
	}
}
