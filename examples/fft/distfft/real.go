package distfft

// Two real lines are transformed as one complex one, the second as its imaginary
// part: what each contributes is told apart by symmetry. So lane l of a tile has the
// lines 2l and 2l+1 from the first one on; if their number is odd, the last lane has
// zeros beside the last line.

// loadReal fills a tile with count real lines of n numbers, those from first on.
func loadReal[F Real](tile, src []F, n, first, count int) {
	w := (count + 1) / 2
	for line := range 2 * w {
		to := line // in row 0, the real or imaginary part of lane line/2
		if line >= count {
			for range n {
				tile[to] = 0
				to += 2 * w
			}
			continue
		}
		for _, v := range src[(first+line)*n : (first+line+1)*n] {
			tile[to] = v
			to += 2 * w
		}
	}
}

// storeReal stores a tile as count real lines, those from first on.
func storeReal[F Real](tile, dst []F, n, first, count int, scale F) {
	w := (count + 1) / 2
	for line := range count {
		from := line
		out := dst[(first+line)*n : (first+line+1)*n]
		for i := range out {
			out[i] = tile[from] * scale
			from += 2 * w
		}
	}
}

// storeHalf stores what the transforms of count real lines of n numbers have at 0 to
// n/2; the other values follow from these.
func (a lines[F]) storeHalf(tile []F, n, first, count int) {
	w, k0 := (count+1)/2, 0
	for _, p := range a.parts {
		for line := range count {
			dst := p.mem[2*(first+line)*p.n : 2*(first+line+1)*p.n]
			at := line &^ 1
			for i := range p.n {
				k := k0 + i
				up, down := 2*k*w+at, 2*((n-k)%n)*w+at
				r, j, s, t := tile[up]/2, tile[up+1]/2, tile[down]/2, tile[down+1]/2
				if line == at {
					dst[2*i], dst[2*i+1] = r+s, j-t
				} else {
					dst[2*i], dst[2*i+1] = j+t, s-r
				}
			}
		}
		k0 += p.n
	}
}

// loadHalf is the reverse of storeHalf. The imaginary parts at 0 and, of an even n,
// at n/2, which no real line has, are not read.
func (a lines[F]) loadHalf(tile []F, n, first, count int) {
	w, k0 := (count+1)/2, 0
	if count%2 == 1 {
		for row := range n {
			tile[2*(row*w+w-1)], tile[2*(row*w+w-1)+1] = 0, 0
		}
	}
	for _, p := range a.parts {
		for line := range count {
			src := p.mem[2*(first+line)*p.n : 2*(first+line+1)*p.n]
			at := line &^ 1
			for i := range p.n {
				k := k0 + i
				up, down := 2*k*w+at, 2*((n-k)%n)*w+at
				re, im := src[2*i], src[2*i+1]
				if up == down {
					im = 0
				}
				// The first line of a lane sets what the second, times sqrt(-1), is added to.
				if line == at {
					tile[up], tile[up+1] = re, im
					tile[down], tile[down+1] = re, -im
					continue
				}
				if up == down {
					tile[up+1] += re
					continue
				}
				tile[up], tile[up+1] = tile[up]-im, tile[up+1]+re
				tile[down], tile[down+1] = tile[down]+im, tile[down+1]+re
			}
		}
		k0 += p.n
	}
}
