package main

import (
	"errors"
	"fmt"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// A bar is one bar of the drawing: a rank of a single run, or the average rank of one of
// several.
type bar struct {
	name  string
	split Split
}

// bars are those of a report.
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
		name := fmt.Sprintf("%s\noverlap %d", run.Grid, run.Overlap)
		if len(run.Exchanges) > 0 {
			name = fmt.Sprintf("%s\n%s\noverlap %d\nalltoall %.0f %%", run.Grid, run.Exchanges[0].size(), run.Overlap, 100*run.alltoall())
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

// layers are the parts of a bar from below, in colours of Okabe and Ito, which differ
// in lightness too.
func layers() []struct {
	name  string
	color color.Color
	of    func(Split) float64
} {
	return []struct {
		name  string
		color color.Color
		of    func(Split) float64
	}{
		{"local transforms", color.RGBA{R: 0, G: 114, B: 178, A: 255}, func(s Split) float64 { return s.Local }},
		{"pack", color.RGBA{R: 86, G: 180, B: 233, A: 255}, func(s Split) float64 { return s.Pack }},
		{"exchange", color.RGBA{R: 213, G: 94, B: 0, A: 255}, func(s Split) float64 { return s.Exchange }},
		{"waiting", color.RGBA{R: 240, G: 228, B: 66, A: 255}, func(s Split) float64 { return s.Waiting }},
		{"other", color.Gray{Y: 190}, func(s Split) float64 { return s.Other }},
	}
}

// savePlot draws where the time went.
func savePlot(r *Report, path string) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s float%d on %s as %s: where the time goes", r.Kind, r.Precision, plural(r.Ranks, "rank"), r.Runs[0].cut())
	if len(r.Runs) == 1 {
		p.Title.Text = fmt.Sprintf("%s, overlap %d: %s", r.Runs[0].Grid, r.Runs[0].Overlap, p.Title.Text)
	}
	p.Title.Padding = 6
	p.Y.Label.Text = "ms per band, there and back"
	p.Y.Min = 0
	bars := r.bars()
	var names []string
	for _, b := range bars {
		names = append(names, b.name)
		p.Y.Max = max(p.Y.Max, 1e3*b.split.total())
	}
	const width, height, headroom = 760, 380, 1.25 // points; of the scale, for the legend
	barWidth := vg.Length(min(40, 0.6*width/float64(len(bars))))
	var below *plotter.BarChart
	for _, layer := range layers() {
		var heights plotter.Values
		for _, b := range bars {
			heights = append(heights, 1e3*layer.of(b.split))
		}
		chart, err := plotter.NewBarChart(heights, barWidth)
		if err != nil {
			return err
		}
		chart.Color, chart.LineStyle.Width = layer.color, 0
		if below != nil {
			chart.StackOn(below)
		}
		below = chart
		p.Add(chart)
		p.Legend.Add(layer.name, chart)
	}
	p.Y.Max *= headroom
	p.Legend.Top = true
	p.NominalX(names...)
	return write(p, width, height, path)
}

// write writes a drawing as an SVG, whatever the file is called.
func write(p *plot.Plot, width, height vg.Length, path string) error {
	to, err := p.WriterTo(width, height, "svg")
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("the drawing cannot be written: %w", err)
	}
	_, err = to.WriteTo(f)
	return errors.Join(err, f.Close())
}
