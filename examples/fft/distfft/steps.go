package distfft

// steps are what one rank computes of a transform, between the exchanges.
type steps[F Real] struct {
	distribution
	atP    int // where this rank is in the grid of ranks
	atQ    int
	isReal bool
	plane  lines[F] // of slabs: one plane of constant x between the transforms along z and y
	worker *worker[F]
	scale  F // of Inverse
}

func newSteps[F Real](l distribution, rank int, isReal bool) (*steps[F], error) {
	w, err := newWorker[F](l)
	if err != nil {
		return nil, err
	}
	s := &steps[F]{distribution: l, isReal: isReal, worker: w}
	s.atP, s.atQ = l.place(rank)
	points, _ := l.grid.Points()
	s.scale = F(1 / float64(points))
	if l.q == 1 {
		s.plane = lines[F]{l.nz, []part[F]{{l.grid.NY, make([]F, 2*l.grid.NY*l.nz)}}}
	}
	return s, nil
}

// A band is one grid on its way through the steps: the memory of its exchanges.
type band[F Real] struct {
	zy, yx *exchange[F] // between the steps along z and y, and y and x; zy is nil for slabs
}

// of are the steps of one direction; as many as layout.parts.
func (s *steps[F]) of(b *band[F], inverse bool, dst, src []F) []func() error {
	if inverse {
		return s.inverse(b, dst, src)
	}
	return s.forward(b, dst, src)
}

// forward are the steps of Forward. The first reads src, the last writes dst.
func (s *steps[F]) forward(b *band[F], dst, src []F) []func() error {
	last := func() error { return s.alongX(s.outside(dst), b.yx.far, false) }
	if b.zy == nil {
		return []func() error{func() error { return s.planes(b.yx.near, s.source(src)) }, last}
	}
	return []func() error{
		func() error {
			return s.worker.rows(b.zy.near, 0, s.source(src), 0, s.x(s.atP).N*s.firstY(s.atQ).N, s.kind(false), false, 1)
		},
		func() error { return s.alongY(b.yx.near, b.zy.far, false) },
		last,
	}
}

// inverse are the steps of Inverse.
func (s *steps[F]) inverse(b *band[F], dst, src []F) []func() error {
	first := func() error { return s.alongX(b.yx.far, s.outside(src), true) }
	if b.zy == nil {
		return []func() error{first, func() error { return s.planesBack(s.source(dst), b.yx.near) }}
	}
	return []func() error{
		first,
		func() error { return s.alongY(b.zy.far, b.yx.near, true) },
		func() error {
			return s.worker.rows(s.source(dst), 0, b.zy.near, 0, s.x(s.atP).N*s.firstY(s.atQ).N, s.kind(true), true, s.scale)
		},
	}
}

func (s *steps[F]) kind(inverse bool) lineKind {
	switch {
	case !s.isReal:
		return complexLines
	case inverse:
		return halfToReal
	}
	return realToHalf
}

// source is what Forward reads and Inverse writes, as lines along z; those may be real.
func (s *steps[F]) source(mem []F) lines[F] {
	return lines[F]{1, []part[F]{{s.grid.NZ, mem}}}
}

// outside is what Forward writes and Inverse reads, as lines along x.
func (s *steps[F]) outside(mem []F) lines[F] {
	return lines[F]{s.lastY(s.atP).N * s.distribution.z(s.atQ).N, []part[F]{{s.grid.NX, mem}}}
}

func (s *steps[F]) alongX(dst, src lines[F], inverse bool) error {
	return s.worker.columns(axisX, dst, 0, src, 0, inverse)
}

func (s *steps[F]) alongY(dst, src lines[F], inverse bool) error {
	for x := range s.x(s.atP).N {
		if err := s.worker.columns(axisY, dst, x, src, x, inverse); err != nil {
			return err
		}
	}
	return nil
}

// planes transforms along z and y, a plane of constant x at a time, which stays in cache.
func (s *steps[F]) planes(dst, src lines[F]) error {
	rows := s.grid.NY
	byRow := lines[F]{1, []part[F]{{s.nz, s.plane.parts[0].mem}}}
	for x := range s.x(s.atP).N {
		if err := s.worker.rows(byRow, 0, src, x*rows, rows, s.kind(false), false, 1); err != nil {
			return err
		}
		if err := s.worker.columns(axisY, dst, x, s.plane, 0, false); err != nil {
			return err
		}
	}
	return nil
}

// planesBack is the inverse of planes.
func (s *steps[F]) planesBack(dst, src lines[F]) error {
	rows := s.grid.NY
	byRow := lines[F]{1, []part[F]{{s.nz, s.plane.parts[0].mem}}}
	for x := range s.x(s.atP).N {
		if err := s.worker.columns(axisY, s.plane, 0, src, x, true); err != nil {
			return err
		}
		if err := s.worker.rows(dst, x*rows, byRow, 0, rows, s.kind(true), true, s.scale); err != nil {
			return err
		}
	}
	return nil
}
