package core

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCodec reads the messages of the golden file back, as a whole and by their fields.
func TestCodec(t *testing.T) {
	seen := [kinds]bool{KindNone: true}
	for _, s := range samples() {
		m := s.msg
		seen[m.Kind()] = true
		b := m.Append(nil)
		if len(b) != HeaderSize+len(m.ID)+len(m.Payload) {
			t.Fatalf("%s: %d bytes, want %d", s.name, len(b), HeaderSize+len(m.ID)+len(m.Payload))
		}
		got, err := Decode(b)
		if err != nil {
			t.Fatal(s.name, err)
		}
		if d := cmp.Diff(m, got, cmp.AllowUnexported(Message{})); d != "" {
			t.Error(s.name, d)
		}
		if d := cmp.Diff(s.fields, got.Unpack()); d != "" {
			t.Error(s.name, d)
		}
		for n := range len(b) {
			if _, err := Decode(b[:n]); err == nil {
				t.Errorf("%s: accepted the first %d bytes of %d", s.name, n, len(b))
			}
		}
	}
	if k := slices.Index(seen[:], false); k >= 0 {
		t.Errorf("kind %d has no sample", k)
	}
}

func FuzzDecode(f *testing.F) {
	pull := Pull{ID: "a", Directory: 3, Size: 4}.message()
	f.Add(pull.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		if again := m.Append(nil); !bytes.Equal(b, again) {
			t.Errorf("% x\nbecame\n% x", b, again)
		}
		if m.Unpack() == nil {
			t.Errorf("% x has no kind", b)
		}
	})
}
