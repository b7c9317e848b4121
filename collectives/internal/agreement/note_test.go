package agreement

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoteTravels(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	for _, c := range []struct {
		name       string
		sent, want Note
	}{
		{"of the first call", Note{Signature: 7, Text: "barrier"}, Note{Signature: 7, Text: "barrier"}},
		{"of a later call", Note{1 << 40, 1<<64 - 1, 1 << 33, 63, "allreduce (sum of 10 float64)"}, Note{1 << 40, 1<<64 - 1, 1 << 33, 63, "allreduce (sum of 10 float64)"}},
		{"without text", Note{Call: 3, Member: 2}, Note{Call: 3, Member: 2}},
		{"with more text than there is room for", Note{Call: 3, Text: long}, Note{Call: 3, Text: long[:noteText]}},
	} {
		b := []byte(strings.Repeat("x", noteSize))
		c.sent.put(b)
		got, ok := noteIn(b)
		if diff := cmp.Diff(c.want, got); !ok || diff != "" {
			t.Errorf("a note %s: read %v (-want +got):\n%s", c.name, ok, diff)
		}
		for i := range b {
			b[i] ^= 1
			if n, ok := noteIn(b); ok {
				t.Errorf("a note %s with byte %d changed is read as %+v", c.name, i, n)
			}
			b[i] ^= 1
		}
	}
	if n, ok := noteIn(make([]byte, noteSize)); ok {
		t.Errorf("empty memory is read as %+v", n)
	}
}

// Goal: a row has what was written last, and nothing of the row before.
func TestRow(t *testing.T) {
	row := make([]byte, rowSize)
	for _, count := range []int{Window, 3, 0} {
		notes := make([]Note, count)
		for i := range notes {
			notes[i] = Note{Call: uint64(10*count + i), Text: "barrier"}
		}
		putRow(row, notes)
		for i := range Window {
			n, ok := noteIn(row[i*noteSize:])
			if ok != (i < count) || ok && n != notes[i] {
				t.Errorf("note %d of a row of %d: %v, %+v", i, count, ok, n)
			}
		}
	}
}

// Goal: whatever a member writes, with a checksum that fits, is refused or is a note that travels
// on as it is.
func FuzzNote(f *testing.F) {
	for _, n := range []Note{{}, {Call: 3, Signature: 7, Meetings: 2, Member: 5, Text: "barrier"}} {
		b := make([]byte, noteSize)
		n.put(b)
		f.Add(b[8:])
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		b, again := make([]byte, noteSize), make([]byte, noteSize)
		copy(b[8:], said)
		binary.LittleEndian.PutUint64(b, checksum(b[8:]))
		n, ok := noteIn(b)
		if !ok {
			return
		}
		n.put(again)
		if got, ok := noteIn(again); !ok || got != n {
			t.Errorf("read %+v, and %+v (%v) when it was written again", n, got, ok)
		}
	})
}
