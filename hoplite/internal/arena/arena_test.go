package arena

import (
	"math/rand/v2"
	"testing"
)

// TestArena hands out and takes back at random and compares with a map of every byte.
func TestArena(t *testing.T) {
	const capacity = 1000
	rng := rand.New(rand.NewPCG(7, 7))
	a := New(capacity, 8)
	taken := make([]bool, capacity)
	var held []Extent
	mark := func(s Extent, to bool) {
		for i := s.Off; i < s.Off+s.N; i++ {
			if taken[i] == to {
				t.Fatalf("byte %d is handed out twice, or was not", i)
			}
			taken[i] = to
		}
	}
	for range 20000 {
		if rng.IntN(2) == 0 {
			n := 1 + rng.Int64N(120)
			if off, ok := a.Alloc(n); ok {
				if off%8 != 0 {
					t.Fatalf("offset %d is not aligned", off)
				}
				held = append(held, Extent{off, n})
				mark(Extent{off, n}, true)
			}
		} else if len(held) > 0 {
			i := rng.IntN(len(held))
			a.Release(held[i].Off, held[i].N)
			mark(held[i], false)
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
		}
	}
	for _, s := range held {
		a.Release(s.Off, s.N)
	}
	if len(a.free) != 1 || a.free[0] != (Extent{0, capacity}) || a.used != 0 {
		t.Errorf("in the end %v is free, %d bytes are used", a.free, a.used)
	}
}
