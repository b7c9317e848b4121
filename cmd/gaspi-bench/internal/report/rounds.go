package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Tally collects the rows of rounds. The zero tally is empty.
type Tally struct {
	rows []Row // combined, in the order in which they first came
}

// A RoundRow is what a round contributed to a row.
type RoundRow struct {
	Round  int     `json:"round"`
	Iters  int     `json:"iters"`
	MinUS  float64 `json:"min_us"`
	P50US  float64 `json:"p50_us"`
	P99US  float64 `json:"p99_us"`
	MeanUS float64 `json:"mean_us"`

	CPUSPerGB float64 `json:"cpu_s_per_gb,omitempty"`
}

// SameAs reports whether two rows are about the same contender at the same size.
func (r Row) SameAs(other Row) bool {
	return r.Op == other.Op && r.Impl == other.Impl && r.Bytes == other.Bytes && r.Way == other.Way &&
		r.Congestion == other.Congestion && (r.Algorithm == other.Algorithm || r.Impl == ImplGaspi)
}

// Add adds the row of a round. Of two with the same size, because sizes are rounded
// to whole blocks, the first counts. Allocations are those of the round with most.
func (t *Tally) Add(round int, r Row) {
	i := slices.IndexFunc(t.rows, r.SameAs)
	if i < 0 {
		t.rows = append(t.rows, r)
		i = len(t.rows) - 1
		t.rows[i].Rounds = nil
	}
	if r.Note != "" {
		t.rows[i].Note = r.Note
		return
	}
	if n := len(t.rows[i].Rounds); n > 0 && t.rows[i].Rounds[n-1].Round == round {
		return
	}
	if most := t.rows[i].AllocsPerOp; most != nil && r.AllocsPerOp != nil && *r.AllocsPerOp > *most {
		t.rows[i].AllocsPerOp = r.AllocsPerOp
	}
	t.rows[i].Rounds = append(t.rows[i].Rounds, RoundRow{round, r.Iters, r.MinUS, r.P50US, r.P99US, r.MeanUS, r.CPUSPerGB})
	t.rows[i].combine()
}

// combine makes the figures of a row from those of its rounds: the least minimum, the
// medians of medians, of 99th percentiles and of processor seconds, the mean of means, and the interval
// that holds the mean with 95 % confidence, for which a round is one observation:
// blocks of one round are too much alike.
func (r *Row) combine() {
	column := func(of func(RoundRow) float64) []float64 {
		var xs []float64
		for _, x := range r.Rounds {
			xs = append(xs, of(x))
		}
		return xs
	}
	r.Iters = 0
	for _, x := range r.Rounds {
		r.Iters += x.Iters
	}
	r.MinUS = slices.Min(column(func(x RoundRow) float64 { return x.MinUS }))
	r.P50US = Round(Median(column(func(x RoundRow) float64 { return x.P50US })))
	r.P99US = Round(Median(column(func(x RoundRow) float64 { return x.P99US })))
	if r.GBPerS > 0 {
		r.GBPerS = Round(float64(r.Bytes) / r.P50US / 1e3)
	}
	r.CPUSPerGB = Round(Median(column(func(x RoundRow) float64 { return x.CPUSPerGB })))
	means := column(func(x RoundRow) float64 { return x.MeanUS })
	mean, deviation := stat.MeanStdDev(means, nil)
	r.MeanUS = Round(mean)
	if n := float64(len(means)); n > 1 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
		r.MeanCI95US = Round(t * deviation / math.Sqrt(n))
	}
}

// Median is the middle of values, or the mean of the two in the middle. xs is not
// empty; it is sorted in place.
func Median(xs []float64) float64 {
	slices.Sort(xs)
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}

// Empty reports whether there are no rows.
func (t *Tally) Empty() bool { return len(t.rows) == 0 }

// Sorted are the rows by operation and size: the runtime, its limit, and peers.
func (t *Tally) Sorted() []Row {
	rows := slices.Clone(t.rows)
	place := map[string]int{}
	for _, r := range rows {
		if _, ok := place[r.Op]; !ok {
			place[r.Op] = len(place)
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(place[a.Op], place[b.Op]), cmp.Compare(a.Bytes, b.Bytes))
	})
	return rows
}

// ReadRows reads the rows that a Printer has written to a JSON file.
func ReadRows(file string) ([]Row, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading rows: %w", err)
	}
	var rows []Row
	for text := range strings.Lines(string(data)) {
		var r Row
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return nil, fmt.Errorf("reading rows: %w", err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
