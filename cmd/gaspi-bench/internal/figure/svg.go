package figure

import (
	"bytes"
	"errors"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Sizes of a drawing and of what is on it, in points.
const (
	panelWidth  = 350
	panelHeight = 250
	margin      = 8
	gap         = 22
	labelSize   = 10
	tickSize    = 9
	lineWidth   = 1.6
	legendLine  = 15 // height of a line of the legend
	legendMark  = 26 // width of a piece of curve in it
)

// WriteSVG draws the chart, on white, or for a page that is light or dark on nothing and
// in the colour of its text. It returns an error if there is nothing to draw.
func (c Chart) WriteSVG(w io.Writer, onPage bool) error {
	if !c.drawable() {
		return errors.New("there is no point to draw")
	}
	columns := min(len(c.Panels), 2)
	rows := (len(c.Panels) + columns - 1) / columns
	width := vg.Length(columns*panelWidth + 2*margin)
	marks := c.legend(width)
	legend := vg.Length(marks[len(marks)-1].row+1) * legendLine
	height := vg.Length(rows*panelHeight) + legend + 3*margin
	canvas := vgsvg.New(width, height)
	all := draw.New(canvas)
	if !onPage {
		all.FillPolygon(color.White, []vg.Point{{X: 0, Y: 0}, {X: width, Y: 0}, {X: width, Y: height}, {X: 0, Y: height}})
	}
	drawLegend(all, marks, height-margin)
	if err := c.drawPanels(all, rows, columns, legend+2*margin); err != nil {
		return err
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	_, err := w.Write(dress(svg.Bytes(), onPage))
	return err
}

func (c Chart) drawable() bool { return slices.ContainsFunc(c.Panels, Panel.drawable) }

func (p Panel) drawable() bool {
	return slices.ContainsFunc(p.Curves, func(c Curve) bool { return len(c.X) > 0 })
}

// drawPanels draws the panels below so much room at the top.
func (c Chart) drawPanels(all draw.Canvas, rows, columns int, top vg.Length) error {
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, columns)
	}
	for i, p := range c.Panels {
		made, err := p.plot()
		if err != nil {
			return err
		}
		plots[i/columns][i%columns] = made
	}
	tiles := draw.Tiles{
		Rows: rows, Cols: columns, PadX: gap, PadY: gap,
		PadLeft: margin, PadRight: 2 * margin, PadBottom: margin, PadTop: top,
	}
	for i, row := range plot.Align(plots, tiles, all) {
		for j, canvas := range row {
			if plots[i][j] != nil {
				plots[i][j].Draw(canvas)
			}
		}
	}
	return nil
}

// plot makes a panel.
func (p Panel) plot() (*plot.Plot, error) {
	pl := plot.New()
	pl.BackgroundColor = nil // that of the page
	empty := !p.drawable()
	if empty { // which no logarithm has
		p.XBytes, p.XLog, p.LogY = false, false, false
		p.Title += ": not measured"
	}
	pl.Title.Text, pl.X.Label.Text, pl.Y.Label.Text = p.Title, p.XLabel, p.YLabel
	pl.Title.TextStyle.Font, pl.Title.Padding = sans(labelSize), 3
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(labelSize), sans(tickSize)
		a.Label.Padding, a.Padding = 4, 0
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.7, 0.7
		a.Tick.Marker = plot.TickerFunc(evenTicks)
	}
	if p.XBytes {
		pl.X.Scale, pl.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(byteTicks)
	}
	if p.XLog {
		pl.X.Scale, pl.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decadeTicks)
	}
	if p.LogY {
		pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decadeTicks)
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColor, gridColor
	grid.Horizontal.Width, grid.Vertical.Width = 0.5, 0.5
	pl.Add(grid)
	for i, c := range p.Curves {
		if err := c.addTo(pl, strokeOf(i)); err != nil {
			return nil, err
		}
	}
	if empty {
		pl.X.Min, pl.X.Max, pl.Y.Min, pl.Y.Max = 0, 1, 0, 1
		return pl, nil
	}
	p.fit(pl)
	return pl, nil
}

// fit leaves some room around curves.
func (p Panel) fit(pl *plot.Plot) {
	switch room := 0.05 * (pl.Y.Max - pl.Y.Min); {
	case p.LogY:
		pl.Y.Min, pl.Y.Max = pl.Y.Min/1.3, pl.Y.Max*1.3
	case p.Cut:
		pl.Y.Min, pl.Y.Max = pl.Y.Min-room, pl.Y.Max+room
	default:
		pl.Y.Min, pl.Y.Max = 0, pl.Y.Max*1.06
	}
	if pl.X.Max <= pl.X.Min || math.IsInf(pl.X.Min, 0) {
		pl.X.Min, pl.X.Max = pl.X.Min*0.9, pl.X.Min*1.1
	}
	if !p.XBytes && !p.XLog {
		pl.X.Min = 0
		pl.X.Max *= 1.03
	}
}

// addTo draws a curve, its points and its error bars.
func (c Curve) addTo(pl *plot.Plot, look stroke) error {
	points := make(plotter.XYs, len(c.X))
	for i := range c.X {
		points[i] = plotter.XY{X: c.X[i], Y: c.Y[i]}
	}
	if len(points) == 0 {
		return nil
	}
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.LineStyle = look.line()
	dots.GlyphStyle = draw.GlyphStyle{Color: look.color, Radius: 1.9, Shape: draw.CircleGlyph{}}
	pl.Add(line)
	if len(points) <= maxDots {
		pl.Add(dots)
	}
	for i := range c.Low {
		if c.High[i] > c.Low[i] {
			bar, err := plotter.NewLine(plotter.XYs{{X: c.X[i], Y: c.Low[i]}, {X: c.X[i], Y: c.High[i]}})
			if err != nil {
				return err
			}
			bar.LineStyle = draw.LineStyle{Color: look.color, Width: 0.9}
			pl.Add(bar)
		}
	}
	return nil
}

// maxDots is up to how many points each is marked.
const maxDots = 40

// sans is the font of all text.
func sans(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// A mark is an entry of the legend: a piece of curve and its name.
type mark struct {
	name string
	look stroke
	row  int
	x    vg.Length
}

// legend places the names of all curves in lines of the width. The panels of a chart
// have the same curves.
func (c Chart) legend(width vg.Length) []mark {
	var marks []mark
	style := textStyle()
	row, x := 0, vg.Length(margin)
	for i, curve := range c.Panels[0].Curves {
		wide := legendMark + 6 + style.Width(curve.Name) + 16
		if x+wide > width && x > margin {
			row, x = row+1, margin
		}
		marks = append(marks, mark{curve.Name, strokeOf(i), row, x})
		x += wide
	}
	return marks
}

func drawLegend(all draw.Canvas, marks []mark, top vg.Length) {
	style := textStyle()
	for _, m := range marks {
		y := top - vg.Length(m.row)*legendLine - legendLine/2
		all.StrokeLine2(m.look.line(), m.x, y, m.x+legendMark, y)
		all.FillText(style, vg.Point{X: m.x + legendMark + 6, Y: y}, m.name)
	}
}

// textStyle is that of the legend.
func textStyle() draw.TextStyle {
	style := plot.New().Title.TextStyle
	style.Font, style.XAlign, style.YAlign = sans(labelSize), draw.XLeft, draw.YCenter
	return style
}
