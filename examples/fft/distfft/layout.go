package distfft

import (
	"errors"
	"fmt"
	"math/bits"
)

// A Grid is the size of what is transformed, in points along each axis.
type Grid struct{ NX, NY, NZ int }

// String is the grid as "NXxNYxNZ".
func (g Grid) String() string { return fmt.Sprintf("%dx%dx%d", g.NX, g.NY, g.NZ) }

// maxPoints is how many points a grid may have: so few that the bytes of many such
// grids can be counted. It is beyond any memory.
const maxPoints = 1 << 48

// maxDepth is how many exchanges may be under way at a time. More than a few win
// nothing, and each takes memory.
const maxDepth = 64

// Points is the number of points; false if there are none or too many.
func (g Grid) Points() (int, bool) {
	n := uint64(1)
	for _, k := range []int{g.NX, g.NY, g.NZ} {
		if k < 1 {
			return 0, false
		}
		hi, lo := bits.Mul64(n, uint64(k))
		if hi != 0 || lo > maxPoints {
			return 0, false
		}
		n = lo
	}
	return int(n), true
}

// A Range is the indices from Lo on, N of them.
type Range struct{ Lo, N int }

// A Box is a part of a grid: a range along each axis.
type Box struct{ X, Y, Z Range }

// Count is the number of points in the box.
func (b Box) Count() int { return b.X.N * b.Y.N * b.Z.N }

// share is part i of n indices that are dealt out to so many parts: the first
// ones get one more if there is a rest.
func share(n, parts, i int) Range {
	size, rest := n/parts, n%parts
	r := Range{Lo: i*size + min(i, rest), N: size}
	if i < rest {
		r.N++
	}
	return r
}

// A distribution says which part of the grid each rank has at which time.
type distribution struct {
	grid Grid
	nz   int // points along z after the first transform: fewer for real input
	p, q int
}

func newLayout(cfg Config, isReal bool) distribution {
	l := distribution{grid: cfg.Grid, nz: cfg.Grid.NZ, p: cfg.P, q: cfg.Q}
	if isReal {
		l.nz = l.grid.NZ/2 + 1
	}
	return l
}

// Where a rank has what, by its place in the grid of ranks.
func (l distribution) x(p int) Range             { return share(l.grid.NX, l.p, p) } // until the last exchange
func (l distribution) firstY(q int) Range        { return share(l.grid.NY, l.q, q) } // before the first exchange
func (l distribution) lastY(p int) Range         { return share(l.grid.NY, l.p, p) } // after the last exchange
func (l distribution) z(q int) Range             { return share(l.nz, l.q, q) }      // after the first exchange
func (l distribution) place(rank int) (p, q int) { return rank / l.q, rank % l.q }

// input is what a rank has before Forward.
func (l distribution) input(rank int) Box {
	p, q := l.place(rank)
	return Box{X: l.x(p), Y: l.firstY(q), Z: Range{N: l.grid.NZ}}
}

// output is what a rank has after Forward.
func (l distribution) output(rank int) Box {
	p, q := l.place(rank)
	return Box{X: Range{N: l.grid.NX}, Y: l.lastY(p), Z: l.z(q)}
}

// parts is how many steps there are with an exchange between two: planes and then x for
// slabs, z, y and x for pencils.
func (l distribution) parts() int {
	if l.q > 1 {
		return 3
	}
	return 2
}

// bandsAtATime is how many bands are somewhere between their first and their last
// step if depth of them are in each exchange.
func (l distribution) bandsAtATime(depth int) int { return (l.parts()-1)*depth + 1 }

// zy is what the ranks of one p exchange between the steps along z and y.
func (l distribution) zy(p, q int) trade {
	return trade{
		block:       func(i, j int) int { return l.x(p).N * l.firstY(i).N * l.z(j).N },
		before:      func(i int) int { return l.z(i).N },
		after:       func(i int) int { return l.firstY(i).N },
		innerBefore: 1,
		innerAfter:  l.z(q).N,
	}
}

// yx is what the ranks of one q exchange between the steps along y and x.
func (l distribution) yx(p, q int) trade {
	return trade{
		block:       func(i, j int) int { return l.x(i).N * l.lastY(j).N * l.z(q).N },
		before:      func(i int) int { return l.lastY(i).N },
		after:       func(i int) int { return l.x(i).N },
		innerBefore: l.z(q).N,
		innerAfter:  l.lastY(p).N * l.z(q).N,
	}
}

// check reports whether so many ranks can do what cfg says.
func (cfg Config) check(ranks int, isReal bool) error {
	l := newLayout(cfg, isReal)
	if cfg.Depth < 0 || cfg.Depth > maxDepth {
		return fmt.Errorf("%d exchanges at a time are not possible; expected 0 to %d", cfg.Depth, maxDepth)
	}
	if err := l.check(ranks); err != nil {
		return err
	}
	if cfg.AllToAll == evenAlgorithm && !l.even() {
		return fmt.Errorf("grid %v gives %dx%d ranks shares of different sizes, which %s cannot exchange; choose another algorithm, or sizes that the ranks divide",
			cfg.Grid, cfg.P, cfg.Q, evenAlgorithm)
	}
	return nil
}

// even reports whether all blocks of an exchange have one length.
func (l distribution) even() bool {
	return l.grid.NX%l.p == 0 && l.grid.NY%l.p == 0 && l.grid.NY%l.q == 0 && l.nz%l.q == 0
}

// check reports whether so many ranks can share the grid.
func (l distribution) check(ranks int) error {
	if l.grid.NX < 1 || l.grid.NY < 1 || l.grid.NZ < 1 {
		return fmt.Errorf("grid %v has no points; every size must be at least 1", l.grid)
	}
	if _, ok := l.grid.Points(); !ok {
		return fmt.Errorf("grid %v is too large to be counted; use smaller sizes", l.grid)
	}
	if l.p < 1 || l.q < 1 {
		return fmt.Errorf("a grid of %dx%d ranks has no ranks; both numbers must be at least 1", l.p, l.q)
	}
	if l.p > ranks || l.q > ranks || l.p*l.q != ranks {
		return fmt.Errorf("a grid of %dx%d ranks needs %d of them, but there are %d; choose numbers whose product is %d", l.p, l.q, l.p*l.q, ranks, ranks)
	}
	if most := min(l.grid.NX, l.grid.NY); l.p > most {
		return fmt.Errorf("grid %v cannot be shared by %dx%d ranks: its sides x and y have points for at most %d of the first number; %w", l.grid, l.p, l.q, most, errTooMany)
	}
	if most := min(l.grid.NY, l.nz); l.q > most {
		return fmt.Errorf("grid %v cannot be shared by %dx%d ranks: y before and z after the transform have points for at most %d of the second number; %w", l.grid, l.p, l.q, most, errTooMany)
	}
	return nil
}

var errTooMany = errors.New("use fewer ranks, another grid of ranks, or a larger grid")

// RankGrid is the grid of P by Q ranks for pencils that is the closest to a
// square among those that grid allows, with the larger number first. isReal says
// that the input is real. It returns an error if there is none.
func RankGrid(grid Grid, isReal bool, ranks int) (p, q int, err error) {
	for small := 1; small*small <= ranks; small++ {
		if ranks%small != 0 {
			continue
		}
		for _, c := range []Config{{Grid: grid, P: small, Q: ranks / small}, {Grid: grid, P: ranks / small, Q: small}} {
			if newLayout(c, isReal).check(ranks) == nil {
				p, q = c.P, c.Q
			}
		}
	}
	if p == 0 {
		l := newLayout(Config{Grid: grid, P: 1, Q: 1}, isReal)
		if err := l.check(1); err != nil {
			return 0, 0, err
		}
		return 0, 0, fmt.Errorf("grid %v cannot be shared by %d ranks in any grid of ranks: one side of that may be at most %d, the other at most %d; %w",
			grid, ranks, min(grid.NX, grid.NY), min(grid.NY, l.nz), errTooMany)
	}
	return p, q, nil
}

// Boxes are what a rank has before and after Forward of a Plan of these types, which
// need not exist. It returns an error if it cannot.
func Boxes[In Number, Out Complex](cfg Config, rank int) (input, output Box, err error) {
	isReal, err := realInput[In, Out]()
	if err != nil {
		return input, output, err
	}
	if err := cfg.check(cfg.P*cfg.Q, isReal); err != nil {
		return input, output, err
	}
	l := newLayout(cfg, isReal)
	return l.input(rank), l.output(rank), nil
}
