package chart

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Chart is panels with one legend, two in a row. The names in the legend are
// those of the first panel's curves; a curve has the same look in every panel.
type Chart struct {
	Title  string // above the panels; empty for none
	Panels []Panel
}

// A Panel is curves between two axes.
type Panel struct {
	Title          string
	XLabel, YLabel string
	XBytes         bool    // the lower axis is lengths in bytes, logarithmic
	XLog           bool    // the lower axis is logarithmic, of numbers
	LogY           bool    // the left axis is logarithmic
	Cut            bool    // the left axis begins near the lowest point, not at 0
	Level          float64 // a height to mark with a thin line; 0 for none
	Curves         []Curve
}

// A Curve is points in the order of X, which has the length of Y. Low and High are
// the ends of error bars and have that length too, or are nil for none. Points that
// the axes cannot show (not finite, or not positive on a logarithmic axis) are left
// out.
type Curve struct {
	Name      string
	X, Y      []float64
	Low, High []float64
}

// Sizes of a drawing and of what is on it, in points.
const (
	panelWidth  = 350
	panelHeight = 250
	margin      = 8
	gap         = 22 // between panels
	titleSize   = 11
	labelSize   = 10
	tickSize    = 9
	lineWidth   = 1.6
	legendLine  = 15 // height of a line of the legend
	legendMark  = 26 // width of a piece of curve in it
	dotRadius   = 1.9
)

const (
	// maxDots is up to how many points of a curve are marked.
	maxDots = 40
	// maxPoints is how many points of a curve are drawn: about two per point of the
	// panel's width, beyond which more cannot be seen.
	maxPoints = 700
)

// WriteSVG draws the chart, on white. It returns an error, and writes nothing, if
// there is no point to draw or a curve's slices differ in length.
func (c Chart) WriteSVG(w io.Writer) error { return c.write(w, false) }

// WriteInlineSVG draws the chart for a page that is light or dark: on nothing, in the
// colour of the page's text, as wide as the page wants it. The title is left to the
// page. Errors are those of WriteSVG.
func (c Chart) WriteInlineSVG(w io.Writer) error {
	c.Title = ""
	return c.write(w, true)
}

func (c Chart) write(w io.Writer, inline bool) error {
	if err := c.check(); err != nil {
		return err
	}
	if !c.Drawable() {
		return errors.New("there is no point to draw")
	}
	columns := min(len(c.Panels), 2)
	rows := (len(c.Panels) + columns - 1) / columns
	width := float64(columns*panelWidth + 2*margin)
	marks := c.legend(width)
	top := float64(2*margin + (marks[len(marks)-1].row+1)*legendLine)
	if c.Title != "" {
		top += titleSize + margin
	}
	s := newSVG(width, top+float64(rows*panelHeight-gap+margin), inline)
	y := float64(margin)
	if c.Title != "" {
		s.text(width/2, y+titleSize, "middle", titleSize, c.Title)
		y += titleSize + margin
	}
	for _, m := range marks {
		middle := y + float64(m.row)*legendLine + legendLine/2
		s.line([]point{{m.x, middle}, {m.x + legendMark, middle}}, m.look)
		s.text(m.x+legendMark+6, middle+labelSize/3.0, "start", labelSize, m.name)
	}
	c.panels(s, columns, width, top)
	return s.write(w)
}

// Drawable reports whether there is a point to draw.
func (c Chart) Drawable() bool { return slices.ContainsFunc(c.Panels, Panel.drawable) }

func (p Panel) drawable() bool {
	return slices.ContainsFunc(p.Curves, func(c Curve) bool { return len(p.points(c)) > 0 })
}

// check finds slices of unequal length.
func (c Chart) check() error {
	for _, p := range c.Panels {
		for _, v := range p.Curves {
			if len(v.X) != len(v.Y) || (v.Low != nil || v.High != nil) && (len(v.Low) != len(v.X) || len(v.High) != len(v.X)) {
				return fmt.Errorf("curve %q has %d values of x, %d of y, and %d and %d ends of error bars", v.Name, len(v.X), len(v.Y), len(v.Low), len(v.High))
			}
		}
	}
	return nil
}

// A mark is an entry of the legend: a piece of curve and its name.
type mark struct {
	name string
	look stroke
	row  int
	x    float64
}

// legend places the names of the first panel's curves in lines of the width.
func (c Chart) legend(width float64) []mark {
	marks := make([]mark, 1, 8)
	row, x := 0, float64(margin)
	for i, curve := range c.Panels[0].Curves {
		wide := legendMark + 6 + textWidth(curve.Name, labelSize) + 16
		if x+wide > width && x > margin {
			row, x = row+1, margin
		}
		marks = append(marks, mark{curve.Name, strokeOf(i), row, x})
		x += wide
	}
	if len(marks) > 1 {
		marks = marks[1:]
	}
	return marks
}

// panels draws the panels, whose axes are aligned, below top.
func (c Chart) panels(s *svg, columns int, width, top float64) {
	tall := float64(panelHeight - gap)
	wide := (width - 2*margin - float64(columns-1)*gap - margin) / float64(columns)
	left := make([]float64, columns)
	axes := make([][2]axis, len(c.Panels))
	for i, p := range c.Panels {
		axes[i] = p.axes()
		left[i%columns] = max(left[i%columns], axes[i][1].widest()+tickSize+labelSize+8)
	}
	for i, p := range c.Panels {
		column, row := i%columns, i/columns
		x := margin + float64(column)*(wide+gap)
		y := top + float64(row*panelHeight)
		p.draw(s, axes[i], box{
			left: x + left[column], right: x + wide,
			top: y + labelSize + 5, bottom: y + tall - tickSize - labelSize - 10,
		})
	}
}

// draw draws a panel whose axes are the left and the lower edge of a box.
func (p Panel) draw(s *svg, axes [2]axis, b box) {
	title := p.Title
	if !p.drawable() {
		title += ": not measured"
	}
	s.text((b.left+b.right)/2, b.top-5, "middle", labelSize, title)
	s.text((b.left+b.right)/2, b.bottom+tickSize+labelSize+8, "middle", labelSize, p.XLabel)
	s.rotated(b.left-axes[1].widest()-11, (b.top+b.bottom)/2, labelSize, p.YLabel)
	b.axes = axes
	b.grid(s)
	if level := b.axes[1].at(p.Level); p.Level != 0 && level > 0 && level < 1 {
		y := b.y(p.Level)
		s.line([]point{{b.left, y}, {b.right, y}}, stroke{color: levelColor, width: 0.8, dashes: "2,2"})
	}
	for i, c := range p.Curves {
		p.curve(s, b, c, strokeOf(i))
	}
}

// curve draws a curve, its points and its error bars.
func (p Panel) curve(s *svg, b box, c Curve, look stroke) {
	shown := p.points(c)
	line := make([]point, len(shown))
	for i, k := range shown {
		line[i] = point{b.x(c.X[k]), b.y(c.Y[k])}
	}
	s.line(line, look)
	for i, k := range shown {
		if len(shown) <= maxDots {
			s.dot(line[i], look.color)
		}
		if c.Low != nil && c.High[k] > c.Low[k] && p.showsY(c.Low[k]) {
			s.line([]point{{line[i].x, b.y(c.Low[k])}, {line[i].x, b.y(c.High[k])}}, stroke{color: look.color, width: 0.9})
		}
	}
}

// points returns the indices of the points that can be shown, thinned out evenly; the
// last one stays.
func (p Panel) points(c Curve) []int {
	var shown []int
	every := max(1, (len(c.X)+maxPoints-1)/maxPoints)
	for i := range c.X {
		if (i%every == 0 || i == len(c.X)-1) && p.showsX(c.X[i]) && p.showsY(c.Y[i]) {
			shown = append(shown, i)
		}
	}
	return shown
}

func (p Panel) showsX(x float64) bool { return finite(x) && (x > 0 || !p.XBytes && !p.XLog) }

func (p Panel) showsY(y float64) bool { return finite(y) && (y > 0 || !p.LogY) }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
