package figure

import (
	"fmt"
	"math"
	"slices"

	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// A ChartForm says how the times of a sweep are drawn.
type ChartForm struct {
	// OverRanks puts ranks on the lower axis and makes a panel for each length. Else the
	// length is on the lower axis and there is a panel for each number of ranks.
	OverRanks bool
	// AsTime draws times; else the length divided by the time is drawn, which both papers
	// call throughput.
	AsTime bool
	// LogY makes the left axis logarithmic.
	LogY bool
}

// charts are the drawing of a sweep.
func (f ChartForm) charts(s *Sweep, t *SweepTimes) []chart.Chart {
	c := chart.Chart{Title: t.Way.String()}
	outer, inner := t.Grid.Ranks, t.Grid.Bytes
	if f.OverRanks {
		outer, inner = inner, outer
	}
	for _, fixed := range outer {
		p := chart.Panel{Title: fmt.Sprintf("%d ranks", fixed), XLabel: "length of the vector (bytes)", XBytes: true, LogY: f.LogY}
		if f.OverRanks {
			p.Title, p.XLabel, p.XBytes = showBytes(float64(fixed)), "ranks", false
		}
		p.YLabel = "throughput (MB/s)"
		if f.AsTime {
			p.YLabel = "time (us)"
		}
		for _, line := range s.in(t.Way) {
			curve := chart.Curve{Name: line.Name}
			for _, moving := range inner {
				ranks, bytes := fixed, moving
				if f.OverRanks {
					ranks, bytes = moving, fixed
				}
				if x, ok := t.At(line.Name, ranks, bytes); ok {
					f.add(&curve, float64(moving), bytes, x)
				}
			}
			p.Curves = append(p.Curves, curve)
		}
		c.Panels = append(c.Panels, p)
	}
	if !c.Drawable() {
		return nil
	}
	return []chart.Chart{c}
}

// in are the lines that there are in a way.
func (s *Sweep) in(way Setting) []Line {
	return slices.DeleteFunc(slices.Clone(s.Lines), func(l Line) bool {
		return l.Emit != nil && way != Simulated || l.Peer != "" && way != Raw
	})
}

// add appends a time to a curve.
func (f ChartForm) add(c *chart.Curve, x float64, bytes int, t Timing) {
	y := func(seconds float64) float64 {
		if f.AsTime {
			return seconds * 1e6
		}
		return float64(bytes) / seconds * 1e-6
	}
	c.X, c.Y = append(c.X, x), append(c.Y, y(t.Seconds))
	low, high := y(t.Low), y(t.High)
	c.Low, c.High = append(c.Low, min(low, high)), append(c.High, max(low, high))
}

// table is the times of a sweep, in microseconds.
func (s *Sweep) table(t *SweepTimes) Table {
	table := Table{Title: "Time in microseconds", Head: []string{"ranks", "length"}}
	for _, line := range s.in(t.Way) {
		table.Head = append(table.Head, line.Name)
	}
	for _, ranks := range t.Grid.Ranks {
		for _, bytes := range t.Grid.Bytes {
			cells := []string{fmt.Sprint(ranks), showBytes(float64(bytes))}
			for _, line := range s.in(t.Way) {
				cells = append(cells, showNumber(t.seconds(line.Name, ranks, bytes)*1e6))
			}
			table.Rows = append(table.Rows, cells)
		}
	}
	return table
}

// showNumber writes a number with about four digits.
func showNumber(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}
