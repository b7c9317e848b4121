package figure

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/gaspi-go/gaspi-go/cmd/gaspi-bench/internal/report"
	"github.com/gaspi-go/gaspi-go/internal/schedule"
	"github.com/gaspi-go/gaspi-go/internal/schedule/price"
)

// elementBytes is the size of a float64. All sweeps work on float64, as both papers do where
// they state the type.
const elementBytes = 8

// A Sweep is a collective operation done in several ways for several numbers of ranks
// and sizes: what most figures consist of.
type Sweep struct {
	Op    schedule.Operation
	Lines []Line
	// Machine is the model of the paper's machine.
	Machine price.Machine
	// Grids are what is looked at in each way. A way without one is left out.
	Grids map[Setting]Grid
}

// A Line is one curve of a chart.
type Line struct {
	Name string // in the legend
	// Algorithm is as gaspi-bench takes it; auto is what the library chooses, and in the
	// simulation the best of all by the model.
	Algorithm string
	// Segments are under way together: all there are if SegmentBytes is 0.
	Segments, SegmentBytes int
	// Threshold is the part of the vector that is sent, Processes the part of the ranks
	// that is combined; 0 is all.
	Threshold, Processes float64
	// NoOp leaves the arithmetic out.
	NoOp bool
	// Peer is the library that does the call instead, as --peer of gaspi-bench names it. It is
	// measured where ranks are real.
	Peer string
	// Emit, if not nil, is an algorithm that the library does not have: it is simulated
	// only.
	Emit schedule.Emitter
}

// impl is the contender in the rows of a line.
func (l *Line) impl() string {
	if l.Peer != "" {
		return l.Peer
	}
	return report.ImplGaspi
}

// A Grid is the points of a sweep.
type Grid struct {
	Ranks []int
	// Bytes are lengths of vectors; of an AllToAll, of each block.
	Bytes []int
	// Large is from which length on a vector counts as large where a claim speaks of
	// large ones: where the bandwidth of the links matters and their latency does not.
	Large int
	// FoldRate is the bytes per second that a rank folds on emulated links, 0 for as
	// fast as it can. The papers' processors folded about as fast as their links moved.
	FoldRate int
	// Scale says that lengths of segments are those of the lines divided by it; 0 is 1.
	Scale int
	// Link is what is emulated, if it is.
	Link string
}

// LargeBytes are the lengths that count as large.
func (g Grid) LargeBytes() []int {
	return slices.DeleteFunc(slices.Clone(g.Bytes), func(n int) bool { return n < g.Large })
}

// A Point is what one time is of.
type Point struct {
	Line         string
	Ranks, Bytes int
}

// A Timing is how long an operation takes, in seconds: the median of the rounds, and
// the least and the most of them.
type Timing struct {
	Seconds, Low, High float64
	// Invalid says that this host could not carry the emulated network meanwhile, or has
	// fewer cores than there were ranks without one.
	Invalid bool
}

// SweepTimes are the results of a sweep in one way.
type SweepTimes struct {
	Way     Setting
	Grid    Grid
	Setting string // the machine and where its figures are from
	// Doubt says why the times cannot be trusted, empty if they can.
	Doubt string
	// Cut says why some are missing, empty if none are.
	Cut string
	// Rows are those that were measured, in their order.
	Rows   []RawRow
	points map[Point]Timing

	rounds  map[Point][]float64 // seconds of each round
	cores   int                 // of this host; 0 if that does not matter
	invalid map[Point]bool      // whose load the host could not carry
	latest  float64             // the largest share of messages that were late
	without map[Point]bool      // that gaspi-bench has no row of
	asked   map[Point]bool      // since judge began; nil if it has not
	lacking map[Point]bool      // likewise; those that were not measured before the end
}

// NewTimes are no times yet.
func NewTimes(way Setting, grid Grid, setting string) *SweepTimes {
	return &SweepTimes{Way: way, Grid: grid, Setting: setting, points: make(map[Point]Timing), invalid: make(map[Point]bool), without: make(map[Point]bool)}
}

// Set notes a time.
func (t *SweepTimes) Set(p Point, x Timing) { t.points[p] = x }

// At is a time, and whether there is one.
func (t *SweepTimes) At(line string, ranks, bytes int) (Timing, bool) {
	p := Point{line, ranks, bytes}
	x, ok := t.points[p]
	switch {
	case t.asked == nil:
	case ok:
		t.asked[p] = true
	case t.Cut != "" && !t.without[p]:
		t.lacking[p] = true
	}
	return x, ok && x.Seconds > 0
}

// seconds is a time, NaN if there is none.
func (t *SweepTimes) seconds(line string, ranks, bytes int) float64 {
	if x, ok := t.At(line, ranks, bytes); ok {
		return x.Seconds
	}
	return math.NaN()
}

// mean is the geometric mean of ratios but for those that are NaN, because a time is missing;
// NaN if there is none.
func mean(ratios []float64) float64 {
	return stat.GeometricMean(slices.DeleteFunc(ratios, math.IsNaN), nil)
}

// Faster is how many times as fast one line is as another, as a geometric mean over
// the points that both have; NaN if there is none.
func (t *SweepTimes) Faster(line, than string, ranks, bytes []int) float64 {
	var ratios []float64
	for _, r := range ranks {
		for _, n := range bytes {
			ratios = append(ratios, t.seconds(than, r, n)/t.seconds(line, r, n))
		}
	}
	return mean(ratios)
}

// Best is the least time of several lines at a point, NaN if one is missing.
func (t *SweepTimes) Best(lines []string, ranks, bytes int) float64 {
	least := math.Inf(1)
	for _, line := range lines {
		least = min(least, t.seconds(line, ranks, bytes)) // which is NaN if one is
	}
	return least
}

// FasterThanBest is how many times as fast a line is as the best of others.
func (t *SweepTimes) FasterThanBest(line string, others []string, ranks, bytes int) float64 {
	return t.Best(others, ranks, bytes) / t.seconds(line, ranks, bytes)
}

// Crossover is the length from which on a line is faster than the best of others, by
// more than so many times, for all longer vectors of the grid: +Inf if it is not even
// for the longest, NaN if a time is missing.
func (t *SweepTimes) Crossover(line string, others []string, ranks int, times float64) float64 {
	at := math.Inf(1)
	for _, n := range slices.Backward(slices.Sorted(slices.Values(t.Grid.Bytes))) {
		faster := t.FasterThanBest(line, others, ranks, n)
		if math.IsNaN(faster) {
			return faster
		}
		if faster <= times {
			break
		}
		at = float64(n)
	}
	return at
}

// powers are the powers of two from low to high, every step-th.
func powers(low, high, step int) []int {
	var all []int
	for n := low; n <= high; n <<= step {
		all = append(all, n)
	}
	return all
}

// Units of lengths.
const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// thinned is a sweep with every second length of each grid. The longest stays.
func (s *Sweep) thinned() *Sweep {
	with := *s
	with.Grids = maps.Clone(s.Grids)
	for way, g := range with.Grids {
		g.Bytes = everySecond(g.Bytes)
		with.Grids[way] = g
	}
	return &with
}

// everySecond keeps the last of all, and every second before it.
func everySecond(all []int) []int {
	var kept []int
	for i, n := range all {
		if (len(all)-1-i)%2 == 0 {
			kept = append(kept, n)
		}
	}
	return kept
}
