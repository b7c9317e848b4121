package distfft

import (
	"time"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft/internal/line"
)

// A worker does the local part of the transforms: it loads lines into a tile,
// transforms and stores them.
type worker[F Real] struct {
	plans       [3]*line.Plan[F] // by axis
	tile, other []F
	times       Times
	// breathe is called between tiles, so that exchanges go on meanwhile.
	breathe func() error
}

// Axes, as indices.
const (
	axisX = iota
	axisY
	axisZ
)

// tileNumbers is how many complex numbers a tile should have: with its double it fits
// the second level of a cache of 256 KiB with float64, and the parts of rows that
// columns are loaded from are some cache lines long. Of 1,024 to 8,192, the fastest
// (BenchmarkSweep).
const tileNumbers = 2048

// Bounds of the lanes of a tile: a cache line of what columns are loaded from, and
// as many streams as hardware follows where rows are.
const minLanes, maxLanes = 4, 32

func newWorker[F Real](g Grid) (*worker[F], error) {
	w := &worker[F]{}
	most := 0
	for axis, n := range []int{g.NX, g.NY, g.NZ} {
		var err error
		if w.plans[axis], err = line.NewPlan[F](n); err != nil {
			return nil, err
		}
		most = max(most, w.plans[axis].TileLen(lanes(n)))
	}
	w.tile, w.other = make([]F, most), make([]F, most)
	return w, nil
}

// lanes is how many lines of n numbers a tile has.
func lanes(n int) int { return min(max(tileNumbers/n, minLanes), maxLanes) }

// order says how results are stored: as they are after Forward, or reversed and times
// scale after Inverse.
func (w *worker[F]) order(axis int, inverse bool, scale F) rows[F] {
	if !inverse {
		scale = 1
	}
	return rows[F]{n: w.plans[axis].Len(), opposite: inverse, scale: scale}
}

// columns transforms all lines of one axis, y or x, of one outer index. Indices of
// source and destination differ where one of them is a plane of its own.
func (w *worker[F]) columns(axis int, dst lines[F], dstOuter int, src lines[F], srcOuter int, order rows[F]) error {
	width := lanes(order.n)
	for at := 0; at < src.inner; at += width {
		n := min(width, src.inner-at)
		t := stopwatch{since: time.Now()}
		src.loadColumns(w.tile, n, srcOuter, at)
		t.lap(&w.times.Pack)
		done := w.plans[axis].Forward(w.tile, w.other, n)
		t.lap(&w.times.Local)
		dst.storeColumns(done, n, dstOuter, at, order)
		t.lap(&w.times.Pack)
		if err := w.breathe(); err != nil {
			return err
		}
	}
	return nil
}

// rows transforms count lines along z, those from srcAt on, and stores them as those from
// dstAt on. Real lines are transformed two at a time; those of the source are then
// real for Forward, and those of the destination for Inverse.
func (w *worker[F]) rows(dst lines[F], dstAt int, src lines[F], srcAt, count int, order rows[F], kind kind) error {
	perLane := 1
	if kind != complexLines {
		perLane = 2
	}
	width := perLane * lanes(order.n)
	for i := 0; i < count; i += width {
		n := min(width, count-i)
		w.tileOfRows(dst, dstAt+i, src, srcAt+i, n, order, kind)
		if err := w.breathe(); err != nil {
			return err
		}
	}
	return nil
}

// What lines along z are: the numbers that are stored for real ones are half of those
// that there are.
type kind int

const (
	complexLines kind = iota
	realToHalf
	halfToReal
)

func (w *worker[F]) tileOfRows(dst lines[F], dstAt int, src lines[F], srcAt, count int, order rows[F], kind kind) {
	t := stopwatch{since: time.Now()}
	n, width := order.n, count
	if kind != complexLines {
		width = (count + 1) / 2
	}
	switch kind {
	case complexLines:
		src.loadRows(w.tile, count, srcAt)
	case realToHalf:
		loadReal(w.tile, src.parts[0].mem, n, srcAt, count)
	case halfToReal:
		src.loadHalf(w.tile, n, srcAt, count)
	}
	t.lap(&w.times.Pack)
	done := w.plans[axisZ].Forward(w.tile, w.other, width)
	t.lap(&w.times.Local)
	switch kind {
	case complexLines:
		dst.storeRows(done, count, dstAt, order)
	case realToHalf:
		dst.storeHalf(done, n, dstAt, count)
	case halfToReal:
		storeReal(done, dst.parts[0].mem, dstAt, count, order)
	}
	t.lap(&w.times.Pack)
}

// A stopwatch takes the time of one thing after the other.
type stopwatch struct{ since time.Time }

// lap adds the time since the last lap to total.
func (s *stopwatch) lap(total *time.Duration) {
	now := time.Now()
	*total += now.Sub(s.since)
	s.since = now
}
