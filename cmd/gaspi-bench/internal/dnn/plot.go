package dnn

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of the drawing, in points.
const (
	width     = 760
	barWidth  = 13
	barRoom   = 22 // from one bar to the next
	frame     = 90 // axis, title and margins
	titleSize = 11
	textSize  = 9
)

// WriteSVG draws a bar for each result: how long a step computes, and how much
// communication adds to it. It fails if there are no results.
func WriteSVG(w io.Writer, results []Result) error {
	if len(results) == 0 {
		return errors.New("there are no results to draw")
	}
	p := plot.New()
	first := results[0]
	p.Title.Text = fmt.Sprintf("%s, %d ranks, batch %d per rank", first.Model, first.N, first.Batch)
	p.Title.TextStyle.Font = sans(titleSize)
	p.X.Label.Text = "time of a step (ms)"
	p.Legend.Top, p.Legend.Padding = true, 3
	p.Legend.TextStyle.Font = sans(textSize)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(textSize), sans(textSize)
	}
	p.X.Min = 0
	if err := addBars(p, results); err != nil {
		return err
	}
	height := vg.Length(frame + barRoom*len(results))
	canvas := vgsvg.New(width, height)
	all := draw.New(canvas)
	all.FillPolygon(color.White, []vg.Point{{X: 0, Y: 0}, {X: width, Y: 0}, {X: width, Y: height}, {X: 0, Y: height}})
	p.Draw(draw.Crop(all, 8, -16, 8, -8))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Fonts of the same widths, for readers who lack the one that the text was laid
	// out with.
	const from, to = "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"
	_, err := w.Write(bytes.ReplaceAll(svg.Bytes(), []byte(from), []byte(to)))
	return err
}

// addBars adds the bars, the first result on top.
func addBars(p *plot.Plot, results []Result) error {
	n := len(results)
	compute, exposed, names := make(plotter.Values, n), make(plotter.Values, n), make([]string, n)
	for i, r := range results {
		at := n - 1 - i
		compute[at], exposed[at], names[at] = r.ComputeUS/1e3, r.ExposedUS/1e3, label(r)
	}
	// The colours are those of Okabe and Ito, which all readers can tell apart.
	under, err := bars(compute, color.RGBA{R: 0, G: 114, B: 178, A: 255})
	if err != nil {
		return err
	}
	over, err := bars(exposed, color.RGBA{R: 230, G: 159, B: 0, A: 255})
	if err != nil {
		return err
	}
	over.StackOn(under)
	p.Add(under, over)
	p.Legend.Add("computing ", under)
	p.Legend.Add("exposed communication ", over)
	p.NominalY(names...)
	// Room to the right for the legend, which is drawn over the bars.
	p.X.Max *= 1.3
	return nil
}

func bars(values plotter.Values, fill color.Color) (*plotter.BarChart, error) {
	b, err := plotter.NewBarChart(values, barWidth)
	if err != nil {
		return nil, err
	}
	b.Horizontal, b.Color, b.LineStyle.Width = true, fill, 0
	return b, nil
}

// label names the bar of a result.
func label(r Result) string {
	if r.Mode == Silent {
		return string(r.Mode)
	}
	fused := "not fused"
	if r.Fuse > 0 {
		fused = "fused to " + fuseText(r.Fuse)
	}
	return fmt.Sprintf("%s, %s, %s", r.Mode, r.Algorithm, fused)
}

func sans(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}
