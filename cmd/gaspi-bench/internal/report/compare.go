package report

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// A Comparison is the runtime beside peers at one size.
type Comparison struct {
	Op      string      `json:"op"`
	Bytes   uint64      `json:"bytes"`
	GaspiUS float64     `json:"gaspi_us"` // p50, as of all here
	LimitUS float64     `json:"limit_us,omitempty"`
	Peers   []Challenge `json:"peers"`
	// Better is the index of the fastest of Peers, -1 if none has a figure. Ratio is
	// its time by that of the runtime: above 1, the runtime is faster.
	Better    int     `json:"better"`
	Ratio     float64 `json:"ratio,omitempty"`
	RatioLow  float64 `json:"ratio_low,omitempty"` // the least of a round
	RatioHigh float64 `json:"ratio_high,omitempty"`
}

// A Challenge is what a peer has to show at a size: its best way and algorithm.
type Challenge struct {
	Impl       string  `json:"impl"`
	Version    string  `json:"version"`
	Congestion string  `json:"congestion,omitempty"`
	Algorithm  string  `json:"algorithm,omitempty"`
	Way        string  `json:"way,omitempty"`
	US         float64 `json:"us,omitempty"`
	Ratio      float64 `json:"ratio,omitempty"`
	Note       string  `json:"note,omitempty"`

	low, high float64
}

// Compare makes a comparison of each operation and size from sorted rows. Ratios are
// medians of those of rounds: within a round, both sides met the machine in the same
// mood.
func Compare(rows []Row) []Comparison {
	var all []Comparison
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Op == rows[0].Op && rows[n].Bytes == rows[0].Bytes {
			n++
		}
		if c, ok := compareOne(rows[:n]); ok {
			all = append(all, c)
		}
		rows = rows[n:]
	}
	return all
}

// compareOne compares the rows of one size, in which the runtime has one.
func compareOne(rows []Row) (Comparison, bool) {
	c := Comparison{Op: rows[0].Op, Bytes: rows[0].Bytes, Better: -1}
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Impl == ImplGaspi })
	if i < 0 {
		return c, false
	}
	ours := rows[i]
	c.GaspiUS = ours.P50US
	for _, r := range rows {
		switch r.Impl {
		case ImplGaspi:
		case ImplLimit:
			c.LimitUS = r.P50US
		default:
			c.enter(r, ours)
		}
	}
	for i, p := range c.Peers {
		if p.US > 0 && (c.Better < 0 || p.US < c.Peers[c.Better].US) {
			c.Better = i
			c.Ratio, c.RatioLow, c.RatioHigh = p.Ratio, p.low, p.high
		}
	}
	return c, true
}

// enter counts a row of a peer if it is its best so far.
func (c *Comparison) enter(r, ours Row) {
	made := Challenge{
		Impl: r.Impl, Version: r.Version, Congestion: r.Congestion, Algorithm: r.Algorithm, Way: r.Way, Note: r.Note,
	}
	if r.Note == "" {
		made.US = r.P50US
		made.Ratio, made.low, made.high = ratios(r, ours)
	}
	i := slices.IndexFunc(c.Peers, func(p Challenge) bool { return p.Impl == r.Impl && p.Congestion == r.Congestion })
	switch {
	case i < 0:
		c.Peers = append(c.Peers, made)
	case made.US > 0 && (c.Peers[i].US == 0 || made.US < c.Peers[i].US):
		c.Peers[i] = made
	}
}

// ratios are a row's p50 by ours, over the rounds that both have: the median, the
// least and the largest; zeros if there are none.
func ratios(theirs, ours Row) (middle, low, high float64) {
	var xs []float64
	for _, t := range theirs.Rounds {
		for _, o := range ours.Rounds {
			if t.Round == o.Round && o.P50US > 0 {
				xs = append(xs, t.P50US/o.P50US)
			}
		}
	}
	if len(xs) == 0 {
		return 0, 0, 0
	}
	middle = Median(xs)
	return Round(middle), Round(xs[0]), Round(xs[len(xs)-1])
}

// A Mean is the geometric mean of ratios over sizes.
type Mean struct {
	Op    string  `json:"op"`
	Of    string  `json:"of"` // a peer, or better for the faster of them at each size
	Ratio float64 `json:"ratio"`
	Sizes int     `json:"sizes"`
}

// Means are the geometric means of an operation, of each peer and of the better.
func Means(op string, all []Comparison) []Mean {
	var labels []string
	logs := map[string][]float64{}
	enter := func(label string, ratio float64) {
		if ratio > 0 {
			if logs[label] == nil {
				labels = append(labels, label)
			}
			logs[label] = append(logs[label], math.Log(ratio))
		}
	}
	for _, c := range all {
		for _, p := range c.Peers {
			if c.Op == op {
				enter(p.label(), p.Ratio)
			}
		}
	}
	for _, c := range all {
		if c.Op == op {
			enter("better", c.Ratio)
		}
	}
	var made []Mean
	for _, label := range labels {
		made = append(made, Mean{op, label, Round(math.Exp(stat.Mean(logs[label], nil))), len(logs[label])})
	}
	return made
}

// label is the name of a peer in columns.
func (p Challenge) label() string {
	if p.Congestion == "" {
		return p.Impl
	}
	return p.Impl + "/" + p.Congestion
}
