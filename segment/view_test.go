package segment

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/google/go-cmp/cmp"
)

func TestViewIsTheMemory(t *testing.T) {
	eachWay(t, 64, func(t *testing.T, s *Segment) {
		xs, err := View[uint32](s, 8, 3)
		if err != nil {
			t.Fatal(err)
		}
		copy(xs, []uint32{1, 2, math.MaxUint32})
		var want [64]byte
		for i, x := range xs {
			binary.NativeEndian.PutUint32(want[8+4*i:], x)
		}
		if d := cmp.Diff(want[:], s.All().Bytes()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		if cap(xs) != 3 {
			t.Errorf("capacity %d, want 3", cap(xs))
		}
		// The other way round, the bytes of a slice are its memory too.
		raw := BytesOf(xs)
		binary.NativeEndian.PutUint32(raw[4:], 77)
		if xs[1] != 77 || len(raw) != 12 {
			t.Errorf("element %d through %d bytes, want 77 through 12", xs[1], len(raw))
		}
		if back := Of[uint32](raw); len(back) != 3 || &back[0] != &xs[0] {
			t.Errorf("bytes of elements as elements are %v", back)
		}
	})
}

func TestOffsetOf(t *testing.T) {
	eachWay(t, 64, func(t *testing.T, s *Segment) {
		all := s.All().Bytes()
		for _, c := range []struct {
			name   string
			mem    []byte
			offset uint64
			ok     bool
		}{
			{"all", all, 0, true},
			{"the end", all[60:], 60, true},
			{"the middle", all[8:9], 8, true},
			{"nothing", all[8:8], 0, false},
			{"other memory", make([]byte, 8), 0, false},
		} {
			if offset, ok := s.OffsetOf(c.mem); ok != c.ok || ok && offset != c.offset {
				t.Errorf("%s: %d, %v; want %d, %v", c.name, offset, ok, c.offset, c.ok)
			}
		}
	})
	mem := make([]byte, 64)
	s, err := Bind(mem[8:56], 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][]byte{mem[:9], mem[:8], mem[55:57], mem[56:]} {
		if offset, ok := s.OffsetOf(part); ok {
			t.Errorf("%d bytes that begin or end outside lie at %d", len(part), offset)
		}
	}
}

func TestViewBounds(t *testing.T) {
	s, err := New(100, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		offset uint64
		count  int
		want   error
	}{
		{"all", 0, 12, nil},
		{"none", 0, 0, nil},
		{"none at the end", 96, 0, nil},
		{"one too many", 0, 13, base.ErrOutOfRange},
		{"over the end", 96, 1, base.ErrOutOfRange},
		{"negative count", 0, -1, base.ErrOutOfRange},
		{"product overflows", 0, math.MaxInt, base.ErrOutOfRange},
		{"product wraps to a small number", 0, 1<<61 + 1, base.ErrOutOfRange},
		{"sum overflows", math.MaxUint64 - 7, 1, base.ErrOutOfRange},
		{"not aligned", 4, 1, base.ErrUnaligned},
		{"not aligned by one", 1, 1, base.ErrUnaligned},
	} {
		t.Run(c.name, func(t *testing.T) {
			xs, err := View[float64](s, c.offset, c.count)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || err == nil && len(xs) != c.count {
				t.Errorf("%d elements, %v; want %d, %v", len(xs), err, c.count, c.want)
			}
		})
	}
	if _, err := View[byte](s, 3, 97); err != nil {
		t.Errorf("bytes need no alignment: %v", err)
	}
	if _, err := View[complex128](s, 8, 5); err != nil {
		t.Errorf("complex128 needs the alignment of its parts: %v", err)
	}
}

func TestWord(t *testing.T) {
	eachWay(t, 24, func(t *testing.T, s *Segment) {
		for _, c := range []struct {
			offset uint64
			want   error
		}{
			{0, nil}, {16, nil}, {3, base.ErrUnaligned}, {4, base.ErrUnaligned},
			{17, base.ErrOutOfRange}, {24, base.ErrOutOfRange}, {math.MaxUint64 - 7, base.ErrOutOfRange},
		} {
			if _, err := s.Word(c.offset); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("word at %d: %v, want %v", c.offset, err, c.want)
			}
		}
		word, _ := s.Word(8)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 1000 {
					word.Add(1)
				}
			})
		}
		wg.Wait()
		if got := binary.NativeEndian.Uint64(s.All().Bytes()[8:]); got != 4000 {
			t.Errorf("%d, want 4000", got)
		}
	})
}

// Bound memory may begin anywhere: then words that are aligned in the segment
// are not aligned in memory, and an atomic on them would not be one.
func TestWordOfUnalignedBoundMemory(t *testing.T) {
	s, err := Bind(heap(33)[1:], 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Word(8); !errors.Is(err, base.ErrUnaligned) {
		t.Errorf("got %v, want ErrUnaligned", err)
	}
	if _, err := View[uint16](s, 0, 1); !errors.Is(err, base.ErrUnaligned) {
		t.Errorf("got %v, want ErrUnaligned", err)
	}
}

func TestOfRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		mem  []byte
	}{
		{"part of an element", heap(16)[:12]},
		{"not aligned", heap(16)[4:12]},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			Of[uint64](c.mem)
		})
	}
}
