package main

import (
	"fmt"
	"io"

	"github.com/gaspi-go/gaspi-go/examples/program"
	"github.com/gaspi-go/gaspi-go/internal/chart"
)

// A bar is one bar of the drawing: a rank of a single run, or the average rank of one of
// several.
type bar struct {
	name  string
	split Split
}

// bars returns the bars of the chart of a report.
func (r *Report) bars() []bar {
	var all []bar
	if len(r.Runs) == 1 {
		for rank, s := range r.Runs[0].Split {
			all = append(all, bar{fmt.Sprintf("rank %d", rank), s})
		}
		return all
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		name := fmt.Sprintf("%s, overlap %d", run.Grid, run.Overlap)
		if len(run.Exchanges) > 0 {
			name = fmt.Sprintf("%s, %s, overlap %d, alltoall %.0f %%", run.Grid, run.Exchanges[0].size(), run.Overlap, 100*run.alltoall())
		}
		all = append(all, bar{name, run.mean()})
	}
	return all
}

// mean is the average split of the ranks.
func (r *Run) mean() Split {
	var m Split
	n := float64(len(r.Split))
	for _, s := range r.Split {
		m.Local += s.Local / n
		m.Pack += s.Pack / n
		m.Exchange += s.Exchange / n
		m.Waiting += s.Waiting / n
		m.Other += s.Other / n
	}
	return m
}

// writeSVG draws where the time went.
func (r *Report) writeSVG(w io.Writer) error {
	drawing := chart.Bars{Title: r.title(), Axis: "ms per band, there and back"}
	drawing.Layers = []chart.Layer{{Name: "local transforms"}, {Name: "pack"}, {Name: "exchange"}, {Name: "waiting"}, {Name: "other"}}
	for _, b := range r.bars() {
		drawing.Names = append(drawing.Names, b.name)
		for i, seconds := range []float64{b.split.Local, b.split.Pack, b.split.Exchange, b.split.Waiting, b.split.Other} {
			drawing.Layers[i].Values = append(drawing.Layers[i].Values, 1e3*seconds)
		}
	}
	return drawing.WriteSVG(w)
}

// title says what was measured.
func (r *Report) title() string {
	first := &r.Runs[0]
	text := fmt.Sprintf("%s float%d on %s as %s", r.Kind, r.Precision, program.Plural(r.Ranks, "rank"), first.cut())
	if len(r.Runs) == 1 {
		text = fmt.Sprintf("%s %s, overlap %d, alltoall %.0f %%", first.Grid, text, first.Overlap, 100*first.alltoall())
	}
	if r.Network != "" {
		text += ", network emulated with " + r.Network
	}
	return text
}
