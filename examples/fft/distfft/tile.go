package distfft

// The lines of one axis lie in memory as [outer][n][inner]: outer are the axes
// before it and inner those behind it, each taken as one. An exchange cuts n into
// parts, each of which is an array of that form.

// A part is some consecutive points of all lines: pairs of real and imaginary
// parts as [outer][n][inner].
type part[F Real] struct {
	n   int
	mem []F
}

// lines are all lines of one axis in a box, in parts along that axis.
type lines[F Real] struct {
	inner int
	parts []part[F]
}

// rows finds the rows of w lines that are neighbours, those from at on with this outer
// index: point i of all of them is to[i]. With opposite, points 1 to n-1 come in
// opposite order: that turns a transform into n times its inverse.
func (a lines[F]) rows(to [][]F, w, outer, at int, opposite bool) {
	row, step := 0, 1
	if opposite {
		step = -1
	}
	for _, p := range a.parts {
		from := 2 * (outer*p.n*a.inner + at)
		for range p.n {
			to[row] = p.mem[from : from+2*w]
			from += 2 * a.inner
			row += step
			if row < 0 {
				row = len(to) - 1
			}
		}
	}
}

// each calls f for each part of w lines along z, those from outer on, with the part's lines, in memory of
// to, and where their first point is in a tile. Lines along z are rows of the grid, so that they are packed to
// become lanes of a tile.
func (a lines[F]) each(to [][]F, w, outer int, f func(lines [][]F, at int)) {
	at := 0
	for _, p := range a.parts {
		for l := range w {
			to[l] = p.mem[2*(outer+l)*p.n : 2*(outer+l+1)*p.n]
		}
		f(to[:w], at)
		at += 2 * w * p.n
	}
}

// rowsOf are the rows of a tile of w lanes, in opposite order if that is asked for.
func rowsOf[F Real](to [][]F, tile []F, w int, opposite bool) {
	whole := lines[F]{w, []part[F]{{len(to), tile}}}
	whole.rows(to, w, 0, 0, opposite)
}
