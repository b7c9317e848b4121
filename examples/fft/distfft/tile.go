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

// loadColumns fills a tile with w lines that are neighbours, those from at on with
// this outer index.
func (a lines[F]) loadColumns(tile []F, w, outer, at int) {
	for _, p := range a.parts {
		from := 2 * (outer*p.n*a.inner + at)
		for range p.n {
			copy(tile[:2*w], p.mem[from:from+2*w])
			tile, from = tile[2*w:], from+2*a.inner
		}
	}
}

// storeColumns is the reverse of loadColumns, by the given order of rows and times a factor.
func (a lines[F]) storeColumns(tile []F, w, outer, at int, rows rows[F]) {
	row := 0
	for _, p := range a.parts {
		to := 2 * (outer*p.n*a.inner + at)
		for range p.n {
			dst, src := p.mem[to:to+2*w], tile[2*row*w:2*(row+1)*w]
			if rows.scale == 1 {
				copy(dst, src)
			} else {
				for i, v := range src {
					dst[i] = v * rows.scale
				}
			}
			row, to = rows.next(row), to+2*a.inner
		}
	}
}

// loadRows fills a tile with w lines, those from outer on, where inner is 1.
func (a lines[F]) loadRows(tile []F, w, outer int) {
	for _, p := range a.parts {
		for l := range w {
			src := p.mem[2*(outer+l)*p.n : 2*(outer+l+1)*p.n]
			for i, to := 0, 2*l; i+1 < len(src); i, to = i+2, to+2*w {
				tile[to], tile[to+1] = src[i], src[i+1]
			}
		}
		tile = tile[2*w*p.n:]
	}
}

// storeRows is the reverse of loadRows, by the given order of rows and times a factor.
func (a lines[F]) storeRows(tile []F, w, outer int, rows rows[F]) {
	first := 0
	for _, p := range a.parts {
		row := first
		for l := range w {
			dst := p.mem[2*(outer+l)*p.n : 2*(outer+l+1)*p.n]
			row = first
			for i := 0; i+1 < len(dst); i += 2 {
				from := 2 * (row*w + l)
				dst[i], dst[i+1] = tile[from]*rows.scale, tile[from+1]*rows.scale
				row = rows.next(row)
			}
		}
		first = row
	}
}

// rows is in which order the rows of a tile are stored, and times what. The
// inverse of a transform is the transform with all rows but the first in opposite
// order, divided by their number.
type rows[F Real] struct {
	n        int
	opposite bool
	scale    F
}

// next is the row of the tile that is stored after this one; the first is row 0.
func (r rows[F]) next(row int) int {
	switch {
	case !r.opposite:
		return row + 1
	case row == 0:
		return r.n - 1
	}
	return row - 1
}
