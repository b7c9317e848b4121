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

// Lines along z are rows of the grid, so that they are turned around to become lanes
// of a tile. That is done four lines at a time: as many complex128 are a cache line.
const together = 4

// load fills a tile with w lines along z, those from outer on: point i of line l is
// at tile[2*(i*w+l)].
func (a lines[F]) load(tile []F, w, outer int) {
	for _, p := range a.parts {
		line := func(l int) []F { return p.mem[2*(outer+l)*p.n : 2*(outer+l+1)*p.n] }
		l := 0
		for ; l+together <= w; l += together {
			a, b, c, d := line(l), line(l+1), line(l+2), line(l+3)
			b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
			at := 2 * l
			for i := 0; i+1 < len(a); i += 2 {
				t := tile[at : at+2*together]
				t[0], t[1], t[2], t[3] = a[i], a[i+1], b[i], b[i+1]
				t[4], t[5], t[6], t[7] = c[i], c[i+1], d[i], d[i+1]
				at += 2 * w
			}
		}
		for ; l < w; l++ {
			src, at := line(l), 2*l
			for i := 0; i+1 < len(src); i += 2 {
				tile[at], tile[at+1] = src[i], src[i+1]
				at += 2 * w
			}
		}
		tile = tile[2*w*p.n:]
	}
}

// store is the reverse of load, times scale.
func (a lines[F]) store(tile []F, w, outer int, scale F) {
	for _, p := range a.parts {
		line := func(l int) []F { return p.mem[2*(outer+l)*p.n : 2*(outer+l+1)*p.n] }
		l := 0
		for ; l+together <= w; l += together {
			a, b, c, d := line(l), line(l+1), line(l+2), line(l+3)
			b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
			at := 2 * l
			for i := 0; i+1 < len(a); i += 2 {
				t := tile[at : at+2*together]
				a[i], a[i+1], b[i], b[i+1] = t[0]*scale, t[1]*scale, t[2]*scale, t[3]*scale
				c[i], c[i+1], d[i], d[i+1] = t[4]*scale, t[5]*scale, t[6]*scale, t[7]*scale
				at += 2 * w
			}
		}
		for ; l < w; l++ {
			dst, at := line(l), 2*l
			for i := 0; i+1 < len(dst); i += 2 {
				dst[i], dst[i+1] = tile[at]*scale, tile[at+1]*scale
				at += 2 * w
			}
		}
		tile = tile[2*w*p.n:]
	}
}

// rowsOf are the rows of a tile of w lanes, in opposite order if that is asked for.
func rowsOf[F Real](to [][]F, tile []F, w int, opposite bool) {
	whole := lines[F]{w, []part[F]{{len(to), tile}}}
	whole.rows(to, w, 0, 0, opposite)
}
