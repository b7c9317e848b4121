package distfft

import (
	"time"

	"github.com/gaspi-go/gaspi-go/examples/fft/distfft/internal/line"
)

// A worker does the local part of the transforms: it transforms lines from where they
// are to where they belong, as many at a time as stay in cache.
type worker[F Real] struct {
	plans       [3]*line.Transform[F] // by axis
	lanes       [3]int
	work        [3]*line.Work[F]
	in, out     [3][][]F // rows of the lines that are transformed, by axis
	packer      line.Packer[F]
	packed      [][]F // lines along z that are packed
	tile, other []F   // lines along z and their transforms, packed
	times       Times
	// breathe is called between tiles, so that exchanges go on meanwhile.
	breathe func(now time.Time) error
}

// Axes, as indices.
const (
	axisX = iota
	axisY
	axisZ
)

// How many lines are transformed at a time: tileNumbers complex128 and their double
// take 256 KiB of the second level of a cache, and parts of rows should be some cache
// lines long, since memory is slow at skipping. BenchmarkSweep at length 128, along x,
// ms: 20 with 2,048 numbers, 17 with 4,096, 14 with 8,192.
const (
	tileNumbers        = 8192
	minLanes, maxLanes = 8, 64
	rowLanes           = 16 // along z: hardware follows about as many streams
)

// lanes is how many lines of an axis are transformed at a time: no more than there are.
func (l distribution) lanes(axis int) int {
	n := min(max(tileNumbers/l.length(axis), minLanes), maxLanes)
	switch axis {
	case axisX:
		return min(n, l.lastY(0).N*l.z(0).N)
	case axisY:
		return min(n, l.z(0).N)
	}
	if l.q == 1 {
		return min(n, rowLanes, l.grid.NY)
	}
	return min(n, rowLanes, l.x(0).N*l.firstY(0).N)
}

// length is the length of the lines of an axis.
func (l distribution) length(axis int) int {
	return [...]int{axisX: l.grid.NX, axisY: l.grid.NY, axisZ: l.grid.NZ}[axis]
}

func newWorker[F Real](l distribution) (*worker[F], error) {
	w := &worker[F]{}
	for axis := range w.plans {
		n := l.length(axis)
		var err error
		if w.plans[axis], err = line.NewPlan[F](n); err != nil {
			return nil, err
		}
		w.lanes[axis] = l.lanes(axis)
		w.work[axis] = w.plans[axis].NewWork(w.lanes[axis])
		w.in[axis], w.out[axis] = make([][]F, n), make([][]F, n)
	}
	n := 2 * l.grid.NZ * w.lanes[axisZ]
	w.tile, w.other = make([]F, n), make([]F, n)
	w.packer, w.packed = line.NewPacker[F](), make([][]F, w.lanes[axisZ])
	return w, nil
}

// workNumbers is how many complex numbers a worker has room for, about: at most three
// tiles for each axis, two more along z, and the factors of transforms.
func (l distribution) workNumbers() uint64 {
	n := 2 * uint64(l.lanes(axisZ)) * uint64(l.grid.NZ)
	for axis := axisX; axis <= axisZ; axis++ {
		n += (3*uint64(l.lanes(axis)) + 4) * uint64(l.length(axis))
	}
	return n
}

// columns transforms all lines of one axis, y or x, of one outer index; back is the
// opposite sign. Indices of source and destination differ where one of them is a plane
// of its own.
func (w *worker[F]) columns(axis int, dst lines[F], dstOuter int, src lines[F], srcOuter int, back bool) error {
	plan, in, out := w.plans[axis], w.in[axis], w.out[axis]
	width := w.lanes[axis]
	for at := 0; at < src.inner; at += width {
		n := min(width, src.inner-at)
		t := stopwatch{since: time.Now()}
		src.rows(in, n, srcOuter, at, false)
		dst.rows(out, n, dstOuter, at, back)
		plan.Forward(out, in, n, w.work[axis])
		t.lap(&w.times.Local)
		if err := w.breathe(t.since); err != nil {
			return err
		}
	}
	return nil
}

// rows transforms count lines along z, those from srcAt on, and stores them as those from
// dstAt on; back is the opposite sign, times scale. Real lines are transformed two at a
// time; those of the source are then real for Forward, and those of the destination for Inverse.
func (w *worker[F]) rows(dst lines[F], dstAt int, src lines[F], srcAt, count int, kind lineKind, back bool, scale F) error {
	width := w.lanes[axisZ]
	if kind != complexLines {
		width *= 2
	}
	for i := 0; i < count; i += width {
		n := min(width, count-i)
		now := w.tileOfRows(dst, dstAt+i, src, srcAt+i, n, kind, back, scale)
		if err := w.breathe(now); err != nil {
			return err
		}
	}
	return nil
}

// A lineKind says whether lines along z are real or complex: half of the numbers of a real
// transform are stored.
type lineKind int

const (
	complexLines lineKind = iota
	realToHalf
	halfToReal
)

// tileOfRows does a tile of what rows does. It returns the time.
func (w *worker[F]) tileOfRows(dst lines[F], dstAt int, src lines[F], srcAt, count int, kind lineKind, back bool, scale F) time.Time {
	t := stopwatch{since: time.Now()}
	plan, in, out := w.plans[axisZ], w.in[axisZ], w.out[axisZ]
	n, width := plan.Len(), count
	if kind != complexLines {
		width = (count + 1) / 2
	}
	switch kind {
	case complexLines:
		src.each(w.packed, count, srcAt, func(lines [][]F, at int) { w.packer.Pack(w.tile[at:], lines) })
	case realToHalf:
		loadReal(w.tile, src.parts[0].mem, n, srcAt, count)
	case halfToReal:
		src.loadHalf(w.tile, n, srcAt, count)
	}
	t.lap(&w.times.Pack)
	rowsOf(in, w.tile, width, false)
	rowsOf(out, w.other, width, back)
	plan.Forward(out, in, width, w.work[axisZ])
	t.lap(&w.times.Local)
	switch kind {
	case complexLines:
		dst.each(w.packed, count, dstAt, func(lines [][]F, at int) { w.packer.Unpack(lines, w.other[at:], scale) })
	case realToHalf:
		dst.storeHalf(w.other, n, dstAt, count)
	case halfToReal:
		storeReal(w.other, dst.parts[0].mem, n, dstAt, count, scale)
	}
	t.lap(&w.times.Pack)
	return t.since
}

// A stopwatch takes the time of one thing after the other.
type stopwatch struct{ since time.Time }

// lap adds the time since the last lap to total.
func (s *stopwatch) lap(total *time.Duration) {
	now := time.Now()
	*total += now.Sub(s.since)
	s.since = now
}
