package line

import "math"

// The functions of this file compute one group of a pass: for every number of the
// rows, a transform of length 2, 3, 4 or 5 across the rows, times a factor per row
// of the result. They take slices of equal length, or longer ones where they read.
// Rows are short loops without branches; their bounds are checked once.

// step2 is a transform of length 2.
func step2[F Real](y0, y1, x0, x1, tw []F) {
	n := len(y0)
	y1, x0, x1 = y1[:n], x0[:n], x1[:n]
	wr, wi := tw[0], tw[1]
	for i := 0; i+1 < n; i += 2 {
		ar, ai, br, bi := x0[i], x0[i+1], x1[i], x1[i+1]
		y0[i], y0[i+1] = ar+br, ai+bi
		ar, ai = ar-br, ai-bi
		y1[i], y1[i+1] = ar*wr-ai*wi, ar*wi+ai*wr
	}
}

// step3 is a transform of length 3.
func step3[F Real](y0, y1, y2, x0, x1, x2, tw []F) {
	n := len(y0)
	y1, y2, x0, x1, x2 = y1[:n], y2[:n], x0[:n], x1[:n], x2[:n]
	ur, ui, vr, vi := tw[0], tw[1], tw[2], tw[3]
	sin := F(math.Sqrt(3) / 2)
	for i := 0; i+1 < n; i += 2 {
		ar, ai := x0[i], x0[i+1]
		sr, si := x1[i]+x2[i], x1[i+1]+x2[i+1]
		dr, di := sin*(x1[i]-x2[i]), sin*(x1[i+1]-x2[i+1])
		y0[i], y0[i+1] = ar+sr, ai+si
		ar, ai = ar-sr/2, ai-si/2
		br, bi := ar+di, ai-dr
		y1[i], y1[i+1] = br*ur-bi*ui, br*ui+bi*ur
		br, bi = ar-di, ai+dr
		y2[i], y2[i+1] = br*vr-bi*vi, br*vi+bi*vr
	}
}

// step4 is a transform of length 4.
func step4[F Real](y0, y1, y2, y3, x0, x1, x2, x3, tw []F) {
	n := len(y0)
	y1, y2, y3, x0, x1, x2, x3 = y1[:n], y2[:n], y3[:n], x0[:n], x1[:n], x2[:n], x3[:n]
	tw = tw[:6]
	ur, ui, vr, vi, wr, wi := tw[0], tw[1], tw[2], tw[3], tw[4], tw[5]
	for i := 0; i+1 < n; i += 2 {
		ar, ai, br, bi := x0[i], x0[i+1], x1[i], x1[i+1]
		cr, ci, dr, di := x2[i], x2[i+1], x3[i], x3[i+1]
		sr, si, tr, ti := ar+cr, ai+ci, br+dr, bi+di
		ar, ai, br, bi = ar-cr, ai-ci, br-dr, bi-di
		y0[i], y0[i+1] = sr+tr, si+ti
		sr, si = sr-tr, si-ti
		y2[i], y2[i+1] = sr*vr-si*vi, sr*vi+si*vr
		cr, ci, dr, di = ar+bi, ai-br, ar-bi, ai+br
		y1[i], y1[i+1] = cr*ur-ci*ui, cr*ui+ci*ur
		y3[i], y3[i+1] = dr*wr-di*wi, dr*wi+di*wr
	}
}

// step5 is a transform of length 5: rows of the result are one behind the other in
// y, those read are apart elements from one another in x.
func step5[F Real](y, x []F, row, apart int, tw []F) {
	x0, x1, x2, x3, x4 := x[:row], x[apart:apart+row], x[2*apart:2*apart+row], x[3*apart:3*apart+row], x[4*apart:4*apart+row]
	y0, y1, y2, y3, y4 := y[:row], y[row:2*row], y[2*row:3*row], y[3*row:4*row], y[4*row:5*row]
	tw = tw[:8]
	// Cosines and sines of one and two fifths of the circle.
	c1, c2 := F((math.Sqrt(5)-1)/4), F(-(math.Sqrt(5)+1)/4)
	s1, s2 := F(math.Sqrt((5+math.Sqrt(5))/8)), F(math.Sqrt((5-math.Sqrt(5))/8))
	for i := 0; i+1 < row; i += 2 {
		ar, ai := x0[i], x0[i+1]
		pr, pi, qr, qi := x1[i]+x4[i], x1[i+1]+x4[i+1], x2[i]+x3[i], x2[i+1]+x3[i+1]
		er, ei, fr, fi := x1[i]-x4[i], x1[i+1]-x4[i+1], x2[i]-x3[i], x2[i+1]-x3[i+1]
		y0[i], y0[i+1] = ar+pr+qr, ai+pi+qi
		br, bi := ar+c1*pr+c2*qr, ai+c1*pi+c2*qi
		gr, gi := s1*ei+s2*fi, -(s1*er + s2*fr)
		y1[i], y1[i+1] = times(br+gr, bi+gi, tw[0], tw[1])
		y4[i], y4[i+1] = times(br-gr, bi-gi, tw[6], tw[7])
		br, bi = ar+c2*pr+c1*qr, ai+c2*pi+c1*qi
		gr, gi = s2*ei-s1*fi, -(s2*er - s1*fr)
		y2[i], y2[i+1] = times(br+gr, bi+gi, tw[2], tw[3])
		y3[i], y3[i+1] = times(br-gr, bi-gi, tw[4], tw[5])
	}
}

// times is the product of two complex numbers.
func times[F Real](ar, ai, br, bi F) (re, im F) { return ar*br - ai*bi, ar*bi + ai*br }

// stepOdd is a transform of any odd length, that of roots, by its definition. The
// terms r and length-r have the same cosines and opposite sines.
func stepOdd[F Real](y, x []F, row, apart int, tw, roots []F) {
	length := len(roots) / 2
	first := x[:row]
	for k := range length {
		copy(y[k*row:(k+1)*row], first)
	}
	for r := 1; 2*r < length; r++ {
		a, b := x[r*apart:r*apart+row], x[(length-r)*apart:(length-r)*apart+row]
		sum := y[:row]
		for i := range sum {
			sum[i] += a[i] + b[i]
		}
		for k := 1; 2*k < length; k++ {
			at := 2 * (r * k % length)
			addPair(y[k*row:(k+1)*row], y[(length-k)*row:(length-k+1)*row], a, b, roots[at], roots[at+1])
		}
	}
	for k := 1; k < length; k++ {
		wr, wi := tw[2*k-2], tw[2*k-1]
		out := y[k*row : (k+1)*row]
		for i := 0; i+1 < row; i += 2 {
			out[i], out[i+1] = times(out[i], out[i+1], wr, wi)
		}
	}
}

// addPair adds to two rows of the result, k and length-k, what two rows contribute.
func addPair[F Real](up, down, a, b []F, cos, sin F) {
	n := len(up)
	down, a, b = down[:n], a[:n], b[:n]
	for i := 0; i+1 < n; i += 2 {
		sr, si := cos*(a[i]+b[i]), cos*(a[i+1]+b[i+1])
		dr, di := -sin*(a[i+1]-b[i+1]), sin*(a[i]-b[i])
		up[i], up[i+1] = up[i]+sr+dr, up[i+1]+si+di
		down[i], down[i+1] = down[i]+sr-dr, down[i+1]+si-di
	}
}
