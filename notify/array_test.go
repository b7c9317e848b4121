package notify

import (
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/gaspi-go/gaspi-go/gaspi/base"
	"github.com/google/go-cmp/cmp"
)

// newArray makes an array of count notifications on the heap, where Go aligns
// everything of this size to 8 bytes.
func newArray(count uint32, wait *WaitPolicy) *Array {
	return NewArray(make([]byte, Bytes(count)), count, wait)
}

func TestCompare(t *testing.T) {
	const top = math.MaxUint32
	for _, c := range []struct {
		name    string
		how     Compare
		word, v Value
		want    bool
	}{
		{"equal", Equal, 7, 7, true},
		{"equal, other", Equal, 7, 8, false},
		{"not equal", NotEqual, 7, 8, true},
		{"not equal, same", NotEqual, 8, 8, false},
		{"greater", Greater, 8, 7, true},
		{"greater, same", Greater, 7, 7, false},
		{"greater is unsigned", Greater, top, 1, true},
		{"at least", AtLeast, 7, 7, true},
		{"at least, below", AtLeast, 6, 7, false},
		{"at least does not wrap", AtLeast, 1, top, false},
		{"less", Less, 6, 7, true},
		{"less, same", Less, 7, 7, false},
		{"at most", AtMost, 7, 7, true},
		{"at most, above", AtMost, 8, 7, false},
		{"reached", Reached, 7, 7, true},
		{"reached, beyond", Reached, 9, 7, true},
		{"reached, not yet", Reached, 6, 7, false},
		{"reached, nothing posted", Reached, 0, 1, false},
		{"reached past the wrap", Reached, 3, top - 2, true},
		{"reached, before the wrap", Reached, top - 2, 3, false},
		{"greater than all", Greater, top, top, false},
		{"less than nothing", Less, 0, 0, false},
		{"at most all", AtMost, top, top, true},
		{"at least nothing", AtLeast, 0, 0, true},
		{"reached, the farthest ahead", Reached, 1<<31 - 1, 0, true},
		{"reached, one too far counts as behind", Reached, 1 << 31, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := Until(0, c.how, c.v)
			if got := w.accepts(uint32(c.word)); got != c.want {
				t.Errorf("word %d against %d: %v, want %v", c.word, c.v, got, c.want)
			}
		})
	}
}

func TestTry(t *testing.T) {
	for _, c := range []struct {
		name string
		set  map[ID]Value
		want Condition
		id   ID
		ok   bool
	}{
		{"nothing is set", nil, Some(0, 8), 0, false},
		{"one of a range", map[ID]Value{5: 1}, Some(0, 8), 5, true},
		{"the only one", map[ID]Value{5: 1}, Some(5, 1), 5, true},
		{"first of the range", map[ID]Value{2: 1}, Some(2, 4), 2, true},
		{"last of the range", map[ID]Value{5: 1}, Some(2, 4), 5, true},
		{"one before the range", map[ID]Value{1: 1}, Some(2, 4), 0, false},
		{"one behind the range", map[ID]Value{6: 1}, Some(2, 4), 0, false},
		{"last of the array", map[ID]Value{7: 1}, Some(7, 1), 7, true},
		{"any of none", nil, Some(3, 0), 3, true},
		{"any of none, at the end of the array", nil, Some(8, 0), 8, true},
		{"every one", map[ID]Value{2: 1, 3: 9, 4: 1}, Every(2, 3), 2, true},
		{"every one but the last", map[ID]Value{2: 1, 3: 9}, Every(2, 3), 0, false},
		{"every one but the first", map[ID]Value{3: 1, 4: 1}, Every(2, 3), 0, false},
		{"every one of none", nil, Every(2, 0), 2, true},
		{"until", map[ID]Value{3: 7}, Until(3, AtLeast, 7), 3, true},
		{"until, not yet", map[ID]Value{3: 6}, Until(3, AtLeast, 7), 3, false},
		{"until it is not set", nil, Until(3, Equal, 0), 3, true},
		{"every one until", map[ID]Value{0: 7, 1: 9}, EveryUntil(0, 2, Reached, 7), 0, true},
		{"every one until, one behind", map[ID]Value{0: 7, 1: 6}, EveryUntil(0, 2, Reached, 7), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newArray(8, nil)
			for id, v := range c.set {
				b.Set(id, v)
			}
			id, ok, err := b.Try(c.want)
			if err != nil || ok != c.ok || ok && id != c.id {
				t.Errorf("got %d, %v, %v; want %d, %v", id, ok, err, c.id, c.ok)
			}
			for id, v := range c.set {
				if got := b.Load(id); got != v {
					t.Errorf("afterwards %d holds %d, want %d: Try resets nothing", id, got, v)
				}
			}
		})
	}
}

func TestArrayRefuses(t *testing.T) {
	b := newArray(8, GoroutineWait(0, 0))
	try := func(w Condition) error { _, _, err := b.Try(w); return err }
	for _, c := range []struct {
		name string
		got  error
		want error
	}{
		{"value 0", b.Check(1, 0), base.ErrZeroValue},
		{"id behind the end", b.Check(8, 1), base.ErrNoNotification},
		{"largest id", b.Check(math.MaxUint32, 1), base.ErrNoNotification},
		{"last id", b.Check(7, 1), nil},
		{"range over the end", try(Some(4, 5)), base.ErrNoNotification},
		{"range that wraps around", try(Some(math.MaxUint32, math.MaxUint32)), base.ErrNoNotification},
		{"no range behind the end", try(Every(9, 0)), base.ErrNoNotification},
		{"until behind the end", try(Until(8, Equal, 1)), base.ErrNoNotification},
	} {
		if !errors.Is(c.got, c.want) || (c.want == nil) != (c.got == nil) {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if _, err := b.Wait(t.Context(), Some(0, 9), nil, nil); !errors.Is(err, base.ErrNoNotification) {
		t.Errorf("wait over the end: got %v", err)
	}
	if _, err := b.Reset(8); !errors.Is(err, base.ErrNoNotification) {
		t.Errorf("reset behind the end: got %v", err)
	}
	if v := b.Load(8); v != 0 {
		t.Errorf("load behind the end: got %d", v)
	}
}

func TestNewArrayRefusesMemory(t *testing.T) {
	mem := make([]byte, Bytes(8)+8)
	for _, c := range []struct {
		name string
		mem  []byte
	}{
		{"too short", mem[:Bytes(8)-1]},
		{"not aligned", mem[2:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			NewArray(c.mem, 8, nil)
		})
	}
}

func TestSlotKeepsLastPostAndSumsAdds(t *testing.T) {
	b := newArray(2, nil)
	for v := range Value(3) {
		b.Set(0, v+10)
		b.Add(1, v+10)
	}
	for id, want := range []Value{12, 33} {
		if got, err := b.Reset(ID(id)); err != nil || got != want {
			t.Errorf("slot %d: %d, %v; want %d", id, got, err, want)
		}
		if got, err := b.Reset(ID(id)); err != nil || got != 0 {
			t.Errorf("slot %d after a reset: %d, %v; want 0", id, got, err)
		}
	}
	b.Add(1, math.MaxUint32)
	b.Add(1, 1)
	if _, ok, _ := b.Try(Some(0, 2)); ok {
		t.Error("a sum that wrapped to 0 counts as set")
	}
}

// A scan that always begins at the lowest id starves the high ones.
func TestTryTurnsThroughARange(t *testing.T) {
	for _, first := range []ID{0, 3} {
		b := newArray(16, nil)
		for id := range ID(16) {
			b.Set(id, 1)
		}
		var got, want []ID
		for range 3 {
			for i := range ID(5) {
				want = append(want, first+i)
				id, _, _ := b.Try(Some(first, 5))
				got = append(got, id)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("from %d (-want +got):\n%s", first, d)
		}
	}
}

// Two goroutines post to one slot and at once take what is there. A reset that
// looks and then stores, or compares and then swaps, hands some values to both:
// it fails this within milliseconds where there are two cores.
func TestResetIsOneExchange(t *testing.T) {
	const posts = 200_000
	b := newArray(1, nil)
	var taken [2][]Value
	var wg sync.WaitGroup
	for i := range Value(2) {
		wg.Go(func() {
			for n := range Value(posts) {
				b.Set(0, 2*n+i+1)
				for range 3 {
					if v, _ := b.Reset(0); v != 0 {
						taken[i] = append(taken[i], v)
					}
				}
			}
		})
	}
	wg.Wait()
	seen := make([]bool, 2*posts+1)
	for i := range taken {
		for _, v := range taken[i] {
			if seen[v] {
				t.Fatalf("value %d was handed out twice", v)
			}
			seen[v] = true
		}
	}
}

// A writer posts 1, 2, 3 ... to one slot while several goroutines take. No value
// is handed out twice, each taker sees them grow, and the last is not lost.
func TestResetHandsOutEachValueOnce(t *testing.T) {
	const last, takers = 30_000, 4
	b := newArray(1, GoroutineWait(0, 0))
	got := make([][]Value, takers)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for {
				v, err := b.Reset(0)
				if errors.Is(err, base.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
				}
				if v == 0 {
					if _, err := b.Wait(t.Context(), Some(0, 1), nil, nil); err != nil {
						return // closed
					}
					continue
				}
				got[i] = append(got[i], v)
				if v == last {
					b.Close()
				}
			}
		})
	}
	for v := range Value(last) {
		b.Set(0, v+1)
	}
	wg.Wait()
	owner := make(map[Value]int)
	for i, values := range got {
		for j, v := range values {
			if other, taken := owner[v]; taken {
				t.Fatalf("value %d was handed to %d and to %d", v, other, i)
			}
			owner[v] = i
			if j > 0 && v < values[j-1] {
				t.Fatalf("taker %d got %d after %d", i, v, values[j-1])
			}
		}
	}
	if _, ok := owner[last]; !ok {
		t.Error("the last value was lost")
	}
}

func TestArrayAllocatesNothing(t *testing.T) {
	b := newArray(64, GoroutineWait(0, 0))
	ctx := t.Context()
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"Post", func() { b.Set(40, 1) }},
		{"Add", func() { b.Add(40, 1) }},
		{"Try", func() { b.Try(Some(0, 64)) }},
		{"Wait that finds at once", func() { b.Wait(ctx, Some(0, 64), nil, nil) }},
		{"Reset", func() { b.Set(3, 1); b.Reset(3) }},
	} {
		if n := testing.AllocsPerRun(1000, c.run); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
