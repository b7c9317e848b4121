package core

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestPlans: every position leads to the caller, none has more inputs than a JobReq carries,
// and of two inputs at most one comes after the position in arrival.
func TestPlans(t *testing.T) {
	links := Links{Bandwidth: 1e9, Latency: 1e-4}
	for _, shape := range []Shape{ShapeAuto, ShapeChain, ShapeGrid, ShapeTree} {
		for count := range 130 {
			for _, size := range []int64{0, 1000, 1e5, 1e7, 1e10} {
				name := fmt.Sprintf("shape %d, %d positions, %d bytes", shape, count, size)
				p := newPlan(shape, links, count, size)
				if len(p.parent) != count {
					t.Fatalf("%s: %d parents", name, len(p.parent))
				}
				inputs, late := map[int]int{}, map[int]int{}
				for i := range count {
					steps := 0
					for j := i; j != math.MaxInt; j = p.up(j) {
						if steps++; steps > count {
							t.Fatalf("%s: position %d never reaches the caller", name, i)
						}
					}
					inputs[p.up(i)]++
					if i > p.up(i) {
						late[p.up(i)]++
					}
				}
				for pos, n := range inputs {
					if n > 2 || late[pos] > 1 {
						t.Errorf("%s: position %d has %d inputs, %d of them later", name, pos, n, late[pos])
					}
				}
			}
		}
	}
}

// TestAutoIsCheapest: no forced shape is cheaper than the one that is chosen.
func TestAutoIsCheapest(t *testing.T) {
	links := Links{Bandwidth: 1e9, Latency: 1e-4}
	for _, count := range []int{1, 2, 3, 7, 15, 63} {
		for size := int64(1); size < 1e10; size *= 10 {
			auto := newPlan(ShapeAuto, links, count, size).cost(links, size)
			for _, s := range []Shape{ShapeChain, ShapeGrid, ShapeTree} {
				if c := newPlan(s, links, count, size).cost(links, size); c < auto {
					t.Errorf("%d positions, %d bytes: shape %d costs %g, auto %g", count, size, s, c, auto)
				}
			}
		}
	}
}

// TestArena hands out and takes back at random and compares with a map of every byte.
func TestArena(t *testing.T) {
	const capacity = 1000
	rng := rand.New(rand.NewPCG(7, 7))
	a := newArena(capacity, 8)
	taken := make([]bool, capacity)
	var held []span
	mark := func(s span, to bool) {
		for i := s.off; i < s.off+s.n; i++ {
			if taken[i] == to {
				t.Fatalf("byte %d is handed out twice, or was not", i)
			}
			taken[i] = to
		}
	}
	for range 20000 {
		if rng.IntN(2) == 0 {
			n := 1 + rng.Int64N(120)
			if off, ok := a.alloc(n); ok {
				if off%8 != 0 {
					t.Fatalf("offset %d is not aligned", off)
				}
				held = append(held, span{off, n})
				mark(span{off, n}, true)
			}
		} else if len(held) > 0 {
			i := rng.IntN(len(held))
			a.release(held[i].off, held[i].n)
			mark(held[i], false)
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
		}
	}
	for _, s := range held {
		a.release(s.off, s.n)
	}
	if len(a.free) != 1 || a.free[0] != (span{0, capacity}) || a.used != 0 {
		t.Errorf("in the end %v is free, %d bytes are used", a.free, a.used)
	}
}
