package shape

import (
	"fmt"
	"math"
	"testing"
)

// TestPlans: every position leads to the caller, none has more inputs than a JobReq carries,
// and of two inputs at most one comes after the position in arrival.
func TestPlans(t *testing.T) {
	links := Links{Bandwidth: 1e9, Latency: 1e-4}
	for _, shape := range []Shape{Auto, Chain, Grid, Tree} {
		for count := range 130 {
			for _, size := range []int64{0, 1000, 1e5, 1e7, 1e10} {
				name := fmt.Sprintf("shape %d, %d positions, %d bytes", shape, count, size)
				p := New(shape, links, count, size)
				if len(p.parent) != count {
					t.Fatalf("%s: %d parents", name, len(p.parent))
				}
				inputs, late := map[int]int{}, map[int]int{}
				for i := range count {
					steps := 0
					for j := i; j != math.MaxInt; j = p.Up(j) {
						if steps++; steps > count {
							t.Fatalf("%s: position %d never reaches the caller", name, i)
						}
					}
					inputs[p.Up(i)]++
					if i > p.Up(i) {
						late[p.Up(i)]++
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
			auto := New(Auto, links, count, size).cost(links, size)
			for _, s := range []Shape{Chain, Grid, Tree} {
				if c := New(s, links, count, size).cost(links, size); c < auto {
					t.Errorf("%d positions, %d bytes: shape %d costs %g, auto %g", count, size, s, c, auto)
				}
			}
		}
	}
}
