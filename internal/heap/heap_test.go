package heap

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// timed is an element; of two at one time, the one with the lower number is first.
type timed struct{ at, number int }

func (e *timed) Before(f *timed) bool { return order(e, f) < 0 }

func order(e, f *timed) int { return cmp.Or(e.at-f.at, e.number-f.number) }

// TestHeap compares a heap with a sorted slice, between random steps.
func TestHeap(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	var h Heap[*timed]
	var want []*timed
	for number := range 3000 {
		switch kind := rng.IntN(100); {
		case kind < 60:
			e := &timed{rng.IntN(50), number}
			h.Push(e)
			want = append(want, e)
		case kind < 98 && len(h) > 0:
			slices.SortFunc(want, order)
			if got := h.Pop(); got != want[0] {
				t.Fatalf("seed %d, step %d: %v, want %v", seed, number, *got, *want[0])
			}
			want = want[1:]
		case kind == 98:
			odd := func(e *timed) bool { return e.at%5 == 1 }
			h.DeleteFunc(odd)
			want = slices.DeleteFunc(want, odd)
		case kind == 99:
			h.DeleteFunc(func(e *timed) bool {
				e.at = 49 - e.at
				return false
			})
		}
		if len(h) != len(want) {
			t.Fatalf("seed %d, step %d: %d elements, want %d", seed, number, len(h), len(want))
		}
	}
}

// TestHeapKeepsNothing: what was taken out is not referred to any more.
func TestHeapKeepsNothing(t *testing.T) {
	h := make(Heap[*timed], 0, 4)
	for i := range 4 {
		h.Push(&timed{at: i})
	}
	h.Pop()
	h.DeleteFunc(func(e *timed) bool { return e.at == 2 })
	if rest := h[:4][2:]; rest[0] != nil || rest[1] != nil {
		t.Errorf("%v behind the end", rest)
	}
}
