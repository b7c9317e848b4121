package line

import "math"

// The functions of this file compute one group of a pass: for every number of the
// rows, a transform of length 2, 3, 4 or 5 across the rows, times a factor per row
// of the result. Rows of the result, y, and of the input, x, have equal length and do
// not overlap. Their bounds are checked once, before a loop without branches.

// step2 is a transform of length 2.
func step2[F Real](y, x [][]F, tw []F) {
	n := len(y[0])
	y0, y1, x0, x1 := y[0][:n], y[1][:n], x[0][:n], x[1][:n]
	wr, wi := tw[0], tw[1]
	for i := 0; i+1 < n; i += 2 {
		ar, ai, br, bi := x0[i], x0[i+1], x1[i], x1[i+1]
		y0[i], y0[i+1] = ar+br, ai+bi
		ar, ai = ar-br, ai-bi
		y1[i], y1[i+1] = ar*wr-ai*wi, ar*wi+ai*wr
	}
}

// step3 is a transform of length 3.
func step3[F Real](y, x [][]F, tw []F) {
	n := len(y[0])
	y0, y1, y2, x0, x1, x2 := y[0][:n], y[1][:n], y[2][:n], x[0][:n], x[1][:n], x[2][:n]
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
func step4[F Real](y, x [][]F, tw []F) {
	n := len(y[0])
	y0, y1, y2, y3 := y[0][:n], y[1][:n], y[2][:n], y[3][:n]
	x0, x1, x2, x3 := x[0][:n], x[1][:n], x[2][:n], x[3][:n]
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

// last4 is step4 without factors: those of the last pass are 1.
func last4[F Real](y, x [][]F) {
	n := len(y[0])
	y0, y1, y2, y3 := y[0][:n], y[1][:n], y[2][:n], y[3][:n]
	x0, x1, x2, x3 := x[0][:n], x[1][:n], x[2][:n], x[3][:n]
	for i := 0; i+1 < n; i += 2 {
		ar, ai, br, bi := x0[i], x0[i+1], x1[i], x1[i+1]
		cr, ci, dr, di := x2[i], x2[i+1], x3[i], x3[i+1]
		sr, si, tr, ti := ar+cr, ai+ci, br+dr, bi+di
		ar, ai, br, bi = ar-cr, ai-ci, br-dr, bi-di
		y0[i], y0[i+1], y2[i], y2[i+1] = sr+tr, si+ti, sr-tr, si-ti
		y1[i], y1[i+1], y3[i], y3[i+1] = ar+bi, ai-br, ar-bi, ai+br
	}
}

// step5 is a transform of length 5.
func step5[F Real](y, x [][]F, tw []F) {
	n := len(y[0])
	y0, y1, y2, y3, y4 := y[0][:n], y[1][:n], y[2][:n], y[3][:n], y[4][:n]
	x0, x1, x2, x3, x4 := x[0][:n], x[1][:n], x[2][:n], x[3][:n], x[4][:n]
	tw = tw[:8]
	// Cosines and sines of one and two fifths of the circle.
	c1, c2 := F((math.Sqrt(5)-1)/4), F(-(math.Sqrt(5)+1)/4)
	s1, s2 := F(math.Sqrt((5+math.Sqrt(5))/8)), F(math.Sqrt((5-math.Sqrt(5))/8))
	for i := 0; i+1 < n; i += 2 {
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
// terms r and length-r have the same cosines and opposite sines: so sums and
// differences of such pairs, which spare has room for, are made first.
func stepOdd[F Real](y, x [][]F, tw, roots, spare []F) {
	length, n := len(roots)/2, len(y[0])
	half := length / 2
	sum := func(r int) []F { return spare[(r-1)*n : r*n] }
	diff := func(r int) []F { return spare[(half+r-1)*n : (half+r)*n] }
	copy(y[0], x[0])
	for r := 1; r <= half; r++ {
		pair(sum(r), diff(r), y[0], x[r], x[length-r])
	}
	for k := 1; k <= half; k++ {
		up, down := y[k], y[length-k]
		copy(up, x[0])
		clear(down)
		r := 1
		for ; r+1 <= half; r += 2 {
			a, b := 2*(r*k%length), 2*((r+1)*k%length)
			addTwo(up, sum(r), sum(r+1), roots[a], roots[b])
			addTwo(down, diff(r), diff(r+1), roots[a+1], roots[b+1])
		}
		if r <= half {
			a := 2 * (r * k % length)
			addTwo(up, sum(r), sum(r), roots[a], 0)
			addTwo(down, diff(r), diff(r), roots[a+1], 0)
		}
		finish(up, down, tw[2*k-2:2*k], tw[2*(length-k)-2:2*(length-k)])
	}
}

// pair stores the sum and the difference of two rows, and adds the sum to total.
func pair[F Real](sum, diff, total, a, b []F) {
	n := len(sum)
	diff, total, a, b = diff[:n], total[:n], a[:n], b[:n]
	for i := range sum {
		s := a[i] + b[i]
		sum[i], diff[i] = s, a[i]-b[i]
		total[i] += s
	}
}

// addTwo adds two rows times a factor each.
func addTwo[F Real](to, a, b []F, c, d F) {
	n := len(to)
	a, b = a[:n], b[:n]
	for i := range to {
		to[i] += c*a[i] + d*b[i]
	}
}

// finish makes two rows of a result of what cosines and sines contribute to both, and
// multiplies each with its factor.
func finish[F Real](up, down, upTw, downTw []F) {
	down = down[:len(up)]
	ur, ui, dr, di := upTw[0], upTw[1], downTw[0], downTw[1]
	for i := 0; i+1 < len(up); i += 2 {
		cr, ci, sr, si := up[i], up[i+1], down[i], down[i+1]
		up[i], up[i+1] = times(cr-si, ci+sr, ur, ui)
		down[i], down[i+1] = times(cr+si, ci-sr, dr, di)
	}
}
