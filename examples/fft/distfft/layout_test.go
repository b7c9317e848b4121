package distfft

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBoxesTile sees that every point of the grid is on exactly one rank, before and
// after.
func TestBoxesTile(t *testing.T) {
	for _, c := range []Config{
		{Grid: Grid{NX: 5, NY: 7, NZ: 4}, P: 1, Q: 1},
		{Grid: Grid{NX: 5, NY: 7, NZ: 4}, P: 5, Q: 1},
		{Grid: Grid{NX: 5, NY: 7, NZ: 6}, P: 2, Q: 3},
	} {
		t.Run(fmt.Sprintf("%v on %dx%d", c.Grid, c.P, c.Q), func(t *testing.T) {
			before, after := map[[3]int]int{}, map[[3]int]int{}
			count := func(m map[[3]int]int, b Box) {
				for x := range b.X.N {
					for y := range b.Y.N {
						for z := range b.Z.N {
							m[[3]int{b.X.Lo + x, b.Y.Lo + y, b.Z.Lo + z}]++
						}
					}
				}
			}
			for r := range c.P * c.Q {
				in, out, err := Boxes[float32, complex64](c, r)
				if err != nil {
					t.Fatal(err)
				}
				count(before, in)
				count(after, out)
			}
			for _, m := range []struct {
				name string
				m    map[[3]int]int
				nz   int
			}{{"before", before, c.Grid.NZ}, {"after", after, c.Grid.NZ/2 + 1}} {
				if len(m.m) != c.Grid.NX*c.Grid.NY*m.nz {
					t.Errorf("%s there are %d points", m.name, len(m.m))
				}
				for p, n := range m.m {
					if n != 1 || p[0] >= c.Grid.NX || p[1] >= c.Grid.NY || p[2] >= m.nz {
						t.Errorf("%s point %v is on %d ranks", m.name, p, n)
					}
				}
			}
		})
	}
}

func TestRankGrid(t *testing.T) {
	for _, c := range []struct {
		grid  Grid
		real  bool
		ranks int
		want  [2]int
	}{
		{Grid{8, 8, 8}, false, 1, [2]int{1, 1}},
		{Grid{8, 8, 8}, false, 4, [2]int{2, 2}},
		{Grid{8, 8, 8}, false, 6, [2]int{3, 2}},
		{Grid{8, 8, 8}, false, 7, [2]int{7, 1}},
		{Grid{2, 8, 8}, false, 6, [2]int{2, 3}},
		{Grid{8, 8, 2}, true, 9, [2]int{0, 0}},
		{Grid{4, 4, 4}, false, 5, [2]int{0, 0}},
		{Grid{3, 9, 1}, false, 3, [2]int{3, 1}},
	} {
		t.Run(fmt.Sprintf("%v/%v/%d", c.grid, c.real, c.ranks), func(t *testing.T) {
			p, q, err := RankGrid(c.grid, c.real, c.ranks)
			if diff := cmp.Diff(c.want, [2]int{p, q}); diff != "" {
				t.Errorf("grid of ranks (-want +got):\n%s", diff)
			}
			if (err != nil) != (c.want[0] == 0) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestConfigsThatCannotBe(t *testing.T) {
	cube := Grid{8, 8, 8}
	for _, c := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"no points", Config{Grid: Grid{8, 0, 8}, P: 1, Q: 1}, "grid 8x0x8 has no points; every size must be at least 1"},
		{"countless points", Config{Grid: Grid{1 << 40, 1 << 40, 1 << 40}, P: 1, Q: 1}, "grid 1099511627776x1099511627776x1099511627776 is too large to be counted; use smaller sizes"},
		{"no ranks", Config{Grid: cube, P: 0, Q: 2}, "a grid of 0x2 ranks has no ranks; both numbers must be at least 1"},
		{"more than x has", Config{Grid: Grid{2, 8, 8}, P: 3, Q: 1}, "grid 2x8x8 cannot be shared by 3x1 ranks: its sides x and y have points for at most 2 of the first number; use fewer ranks, another grid of ranks, or a larger grid"},
		{"more than z has", Config{Grid: Grid{8, 8, 2}, P: 1, Q: 3}, "grid 8x8x2 cannot be shared by 1x3 ranks: y before and z after the transform have points for at most 2 of the second number; use fewer ranks, another grid of ranks, or a larger grid"},
		{"negative depth", Config{Grid: cube, P: 1, Q: 1, Depth: -1}, "-1 exchanges at a time are not possible; expected 0 to 64"},
		{"uneven for bruck", Config{Grid: cube, P: 3, Q: 1, AllToAll: "bruck"}, "grid 8x8x8 gives 3x1 ranks shares of different sizes, which bruck cannot exchange; choose another algorithm, or sizes that the ranks divide"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Memory[complex128, complex128](c.cfg)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := Memory[float32, complex128](Config{Grid: cube, P: 1, Q: 1}); err == nil {
		t.Error("mixed precisions were accepted")
	}
}

// TestMemory states what the buffers of small cases take, beside those of a worker.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want uint64
	}{
		{"one rank", Config{Grid: Grid{4, 4, 4}, P: 1, Q: 1}, 64 + 16},
		{"slabs", Config{Grid: Grid{4, 4, 4}, P: 2, Q: 1}, 2*32 + 16},
		{"slabs, two bands", Config{Grid: Grid{4, 4, 4}, P: 2, Q: 1, Depth: 1}, 2*2*32 + 16},
		{"pencils, three bands", Config{Grid: Grid{4, 4, 4}, P: 2, Q: 2, Depth: 1}, 3 * 4 * 16},
		{"uneven slabs", Config{Grid: Grid{5, 4, 4}, P: 2, Q: 1}, 3*16 + 5*8 + 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Memory[complex128, complex128](c.cfg)
			if want := 16 * (c.want + newLayout(c.cfg, false).workNumbers()); err != nil || got != want {
				t.Errorf("got %d, %v, want %d", got, err, want)
			}
		})
	}
}

// TestWorkStaysSmall sees that a worker has no more lanes than there are lines, so that it
// takes no more than a few times the memory of its box.
func TestWorkStaysSmall(t *testing.T) {
	for _, c := range []struct {
		grid Grid
		p, q int
	}{
		{Grid{1, 1, 1 << 20}, 1, 1}, {Grid{1, 1 << 20, 1}, 1, 1}, {Grid{1 << 20, 1, 1}, 1, 1},
		{Grid{1, 1 << 10, 1 << 10}, 1, 8}, {Grid{2, 2, 3 << 20}, 2, 1},
	} {
		l := newLayout(Config{Grid: c.grid, P: c.p, Q: c.q}, false)
		points, _ := c.grid.Points()
		if n := l.workNumbers(); n > 16*uint64(points)+1<<20 {
			t.Errorf("grid %v on %dx%d: room for %d numbers", c.grid, c.p, c.q, n)
		}
	}
}
