package distfft

import "math"

// Memory is how many bytes New takes on a rank that has as much as any, a little less
// or more: to ask before allocating. The grids themselves, which the program
// holds, are not in it.
func Memory[In Number, Out Complex](cfg Config) (uint64, error) {
	isReal, err := realInput[In, Out]()
	if err != nil {
		return 0, err
	}
	if err := cfg.check(cfg.P*cfg.Q, isReal); err != nil {
		return 0, err
	}
	l := newLayout(cfg, isReal)
	number := uint64(16)
	if _, single := any(*new(Out)).(complex64); single {
		number = 8
	}
	// The first ranks have the largest shares.
	middle := uint64(l.x(0).N) * uint64(l.grid.NY) * uint64(l.z(0).N)
	end := uint64(l.output(0).Count())
	start := uint64(l.x(0).N) * uint64(l.firstY(0).N) * uint64(l.nz)
	var band uint64
	if l.q > 1 {
		band += start + middle
	}
	if l.p > 1 {
		band += middle + end
	} else {
		band += middle
	}
	all := band*uint64(l.bandsAtATime(cfg.Depth)) + l.workNumbers()
	if l.q == 1 {
		all += uint64(l.grid.NY) * uint64(l.nz) // a plane, between z and y
	}
	return number * all, nil
}

// An Exchange is one of those that a transform makes.
type Exchange struct {
	Ranks             int // that exchange with one another
	Smallest, Largest int // bytes that one of them sends to another, over all pairs
}

// Exchanges returns the exchanges of this plan in the order of Forward: none on one rank, one
// of slabs, and one or two of pencils.
func (p *Plan[In, Out]) Exchanges() []Exchange {
	number := 16
	if _, single := any(*new(Out)).(complex64); single {
		number = 8
	}
	l := p.layout
	var all []Exchange
	for _, x := range []struct {
		ranks int
		trade trade
		// Points of the axis that is not cut, of the ranks that have most and least of it.
		most, least int
	}{
		{l.q, l.zy(0, 0), l.x(0).N, l.x(l.p - 1).N},
		{l.p, l.yx(0, 0), l.z(0).N, l.z(l.q - 1).N},
	} {
		if x.ranks == 1 {
			continue
		}
		e := Exchange{Ranks: x.ranks, Smallest: math.MaxInt}
		for i := range x.ranks {
			for j := range x.ranks {
				if i == j {
					continue
				}
				n := number * x.trade.block(i, j)
				e.Largest = max(e.Largest, n)
				e.Smallest = min(e.Smallest, n/x.most*x.least)
			}
		}
		all = append(all, e)
	}
	return all
}
