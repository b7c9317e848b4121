// Package figure draws how runs with different slacks went, after Figure 6 of
// "Eventually consistent collectives": the error over time on the left, the
// iterations done over time on the right.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Curve is one run. The point at index i belongs to iteration i+1; the slices
// have equal length.
type Curve struct {
	Name    string
	Seconds []float64 // since the run began, when the iteration ended
	RMSE    []float64 // on held-out ratings; not finite where unknown
}

// A Figure is what to draw.
type Figure struct {
	Title  string
	Target float64 // a level to mark in the left panel; 0 for none
	Curves []Curve
}

// Size of the drawing, and of what is on it, in points.
const (
	width, height = 760, 320
	margin        = 8
	gap           = 26 // between the panels
	titleSize     = 11
	labelSize     = 10
	tickSize      = 9
	lineWidth     = 1.6
)

// maxPoints is how many points of a curve are drawn: about two per point of the
// panel's width, beyond which more cannot be seen.
const maxPoints = 700

// WriteSVG draws the figure. It returns an error if there is nothing to draw.
func (f Figure) WriteSVG(w io.Writer) error {
	left, right, err := f.panels()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(width, height)
	all := draw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{{X: 0, Y: 0}, {X: width, Y: 0}, {X: width, Y: height}, {X: 0, Y: height}})
	title := left.Title.TextStyle
	title.YAlign = draw.YTop
	all.FillText(title, vg.Point{X: width / 2, Y: height - margin}, f.Title)
	tiles := draw.Tiles{
		Rows: 1, Cols: 2, PadX: gap,
		PadLeft: margin, PadRight: 2 * margin, PadBottom: margin, PadTop: 3*margin + titleSize,
	}
	// Align gives both panels the same height, whatever their labels need.
	for i, c := range plot.Align([][]*plot.Plot{{left, right}}, tiles, all)[0] {
		[]*plot.Plot{left, right}[i].Draw(c)
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	_, err = w.Write(nameFallbacks(svg.Bytes()))
	return err
}

// nameFallbacks adds fonts of the same widths, for readers who lack the one that
// the text was laid out with.
func nameFallbacks(svg []byte) []byte {
	const from, to = "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"
	return bytes.ReplaceAll(svg, []byte(from), []byte(to))
}

// panels makes the two plots.
func (f Figure) panels() (left, right *plot.Plot, err error) {
	left = newPanel("held-out RMSE (stars)")
	right = newPanel("iterations")
	drawn := 0
	for i, c := range f.Curves {
		if len(c.Seconds) != len(c.RMSE) {
			return nil, nil, fmt.Errorf("curve %q has %d times and %d errors", c.Name, len(c.Seconds), len(c.RMSE))
		}
		errs, its := c.points()
		if len(errs) == 0 {
			continue
		}
		drawn++
		// To the right of a legend's text nothing keeps it off the line but a space.
		if err := addLine(left, c.Name+" ", errs, i); err != nil {
			return nil, nil, err
		}
		if err := addLine(right, c.Name, its, i); err != nil {
			return nil, nil, err
		}
	}
	if drawn == 0 {
		return nil, nil, errors.New("no run has an iteration with a finite error to draw")
	}
	const room = 0.03 // beyond the curves, as a share of the axis
	left.X.Max = (1 + room) * max(left.X.Max, right.X.Max)
	right.X.Max = left.X.Max
	right.Y.Max *= 1 + room
	left.X.Min, right.X.Min, right.Y.Min = 0, 0, 0
	pad := room * (left.Y.Max - left.Y.Min)
	left.Y.Min -= pad
	left.Y.Max += pad
	if f.Target > left.Y.Min && f.Target < left.Y.Max {
		left.Add(levelLine(f.Target, left.X.Max))
	}
	left.Legend.Top = true
	right.Legend.Top, right.Legend.Left = true, true
	right.Legend.XOffs, right.Legend.YOffs = 8, -4
	left.Legend.XOffs, left.Legend.YOffs = -8, -4
	return left, right, nil
}

// newPanel returns a plot over time with the house's looks.
func newPanel(y string) *plot.Plot {
	p := plot.New()
	p.Title.TextStyle.Font = sans(titleSize)
	p.X.Label.Text, p.Y.Label.Text = "time (s)", y
	p.Legend.TextStyle.Font = sans(tickSize)
	p.Legend.ThumbnailWidth = 26
	p.Legend.Padding = 2
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = sans(labelSize)
		a.Label.Padding = 4
		a.Tick.Label.Font = sans(tickSize)
		a.Tick.Marker = plot.TickerFunc(ticks)
		a.Padding = 0
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.7, 0.7
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color = color.Gray{Y: 225}
	grid.Vertical.Color = color.Gray{Y: 225}
	p.Add(grid)
	return p
}

// ticks labels an axis at most nine times, at multiples of 1, 2 or 5 times a power
// of ten.
func ticks(low, high float64) []plot.Tick {
	const wanted = 8
	step := math.Pow(10, math.Floor(math.Log10((high-low)/wanted)))
	for _, f := range []float64{2, 2.5, 2} { // 2, 5, 10
		if (high-low)/step <= wanted {
			break
		}
		step *= f
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var marks []plot.Tick
	// Adding 0 turns the -0 that Ceil may return into 0.
	for i := math.Ceil(low/step-1e-9) + 0; i <= high/step+1e-9; i++ {
		marks = append(marks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'f', digits, 64)})
	}
	return marks
}

// sans is the font of all text.
func sans(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// A stroke is how a curve looks. Hue, lightness and dashes all differ, so that
// curves can be told apart in print and by readers who do not see some colours.
type stroke struct {
	color  color.RGBA
	dashes []vg.Length
}

// strokeOf returns the look of the i-th curve. The colours are those of Okabe
// and Ito.
func strokeOf(i int) stroke {
	looks := []stroke{
		{color: color.RGBA{R: 0, G: 0, B: 0, A: 255}},
		{color: color.RGBA{R: 0, G: 114, B: 178, A: 255}, dashes: []vg.Length{7, 2.5}},
		{color: color.RGBA{R: 213, G: 94, B: 0, A: 255}, dashes: []vg.Length{3, 2}},
		{color: color.RGBA{R: 0, G: 158, B: 115, A: 255}, dashes: []vg.Length{8, 2, 2, 2}},
		{color: color.RGBA{R: 204, G: 121, B: 167, A: 255}, dashes: []vg.Length{1.5, 1.5}},
		{color: color.RGBA{R: 230, G: 159, B: 0, A: 255}, dashes: []vg.Length{10, 3, 2, 3, 2, 3}},
	}
	return looks[i%len(looks)]
}

// addLine draws a curve in a panel and names it in the legend.
func addLine(p *plot.Plot, name string, points plotter.XYs, i int) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	look := strokeOf(i)
	line.LineStyle = draw.LineStyle{Color: look.color, Width: lineWidth, Dashes: look.dashes}
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// levelLine is a thin horizontal line through a panel.
func levelLine(y, right float64) plot.Plotter {
	line := &plotter.Line{XYs: plotter.XYs{{X: 0, Y: y}, {X: right, Y: y}}}
	line.LineStyle = draw.LineStyle{Color: color.Gray{Y: 110}, Width: 0.8, Dashes: []vg.Length{2, 2}}
	return line
}

// points returns the points of both panels, thinned out evenly; the last one
// stays.
func (c Curve) points() (errs, its plotter.XYs) {
	every := max(1, (len(c.Seconds)+maxPoints-1)/maxPoints)
	for i := range c.Seconds {
		if i%every != 0 && i != len(c.Seconds)-1 {
			continue
		}
		t, e := c.Seconds[i], c.RMSE[i]
		if math.IsNaN(t+e) || math.IsInf(t+e, 0) {
			continue
		}
		errs = append(errs, plotter.XY{X: t, Y: e})
		its = append(its, plotter.XY{X: t, Y: float64(i + 1)})
	}
	return errs, its
}
