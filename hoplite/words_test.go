package hoplite

import (
	"math/rand/v2"
	"testing"
)

// TestWordsTellWatermarks makes sure that a word never tells of more than is there, tells
// of the end exactly, loses less than a unit, and leaves elements whole.
func TestWordsTellWatermarks(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, size := range []int64{1, 63, 64, 65, 1<<30 - 1, 1 << 30, 1<<30 + 1, 1<<31 + 7, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<36 + 12345, 1 << 50} {
		marks := []int64{size, 1, size - 1}
		for range 1000 {
			marks = append(marks, rng.Int64N(size)/align*align)
		}
		for _, mark := range marks {
			if mark == 0 {
				continue
			}
			w := wordOf(mark, size)
			got := markOf(w, size)
			unit := unitOf(size)
			switch {
			case w == 0 || w-1 > 1<<wordBits:
				t.Fatalf("seed %d: word %#x for %d of %d", seed, w, mark, size)
			case got > mark || mark-got >= unit:
				t.Fatalf("seed %d: %d of %d became %d, in units of %d", seed, mark, size, got, unit)
			case got == size && mark != size || mark == size && got != size:
				t.Fatalf("seed %d: %d of %d became %d", seed, mark, size, got)
			case mark%align == 0 && got%align != 0 && got != size:
				t.Fatalf("seed %d: %d of %d became %d, which may be within an element", seed, mark, size, got)
			}
		}
	}
}
