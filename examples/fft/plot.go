package main

import (
	"errors"
	"fmt"
	"image/color"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
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

// Sizes of the drawing, in points.
const (
	width, height = 760, 380
	titleSize     = 11
	textSize      = 9
	widestBar     = 44
)

// savePlot draws where the time went.
func savePlot(r *Report, path string) error {
	p := plot.New()
	style(p)
	p.Title.Text = r.title()
	p.Y.Label.Text = "ms per band, there and back"
	bars := r.bars()
	var names []string
	for _, b := range bars {
		names = append(names, b.name)
	}
	p.NominalX(names...)
	if err := stack(p, bars); err != nil {
		return err
	}
	const headroom = 1.15 // for the legend
	p.Y.Min, p.Y.Max = 0, headroom*p.Y.Max
	p.X.Min, p.X.Max = -0.6, float64(len(bars))-0.4
	return write(p, path)
}

// title says what was measured.
func (r *Report) title() string {
	first := &r.Runs[0]
	text := fmt.Sprintf("%s float%d on %s as %s", r.Kind, r.Precision, plural(r.Ranks, "rank"), first.cut())
	if len(r.Runs) == 1 {
		text = fmt.Sprintf("%s %s, overlap %d, alltoall %.0f %%", first.Grid, text, first.Overlap, 100*first.alltoall())
	}
	if r.Network != "" {
		text += ", network emulated with " + r.Network
	}
	return text
}

// stack adds the bars, layer by layer, and the legend in the order of the layers.
func stack(p *plot.Plot, bars []bar) error {
	wide := vg.Length(min(widestBar, 0.5*width/float64(len(bars))))
	var charts []*plotter.BarChart
	for i, layer := range layers() {
		var heights plotter.Values
		for _, b := range bars {
			heights = append(heights, 1e3*layer.of(b.split))
		}
		chart, err := plotter.NewBarChart(heights, wide)
		if err != nil {
			return err
		}
		chart.Color, chart.LineStyle.Width = layer.color, 0
		if i > 0 {
			chart.StackOn(charts[i-1])
		}
		p.Add(chart)
		charts = append(charts, chart)
	}
	for i, chart := range slices.Backward(charts) {
		p.Legend.Add(layers()[i].name, chart)
	}
	return nil
}

// style gives a plot the house's looks.
func style(p *plot.Plot) {
	sans := func(size font.Length) font.Font {
		return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	}
	p.Title.TextStyle.Font, p.Title.Padding = sans(titleSize), 6
	p.Legend.TextStyle.Font, p.Legend.Top, p.Legend.Padding = sans(textSize), true, 2
	p.Legend.XOffs, p.Legend.YOffs = -6, -2
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(textSize+1), sans(textSize)
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.7, 0.7
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color = color.Gray{Y: 225}
	p.Add(grid)
}

// write writes a drawing as an SVG, whatever the file is called.
func write(p *plot.Plot, path string) error {
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
