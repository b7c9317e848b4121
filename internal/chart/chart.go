package chart

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Chart is panels, two in a row, each with a legend of its own curves. Curves of the same
// name look the same in all panels.
type Chart struct {
	Title  string // above the panels; empty for none
	Panels []Panel
}

// A Panel is curves between two axes.
type Panel struct {
	Title          string
	XLabel, YLabel string  // with their units in parentheses
	XBytes         bool    // the lower axis is lengths in bytes, logarithmic
	XLog           bool    // the lower axis is logarithmic, of numbers
	LogY           bool    // the left axis is logarithmic
	Cut            bool    // the left axis begins near the lowest point, not at 0
	Level          float64 // a height to mark with a thin line; 0 for none
	Curves         []Curve
}

// A Curve is points in the order of X, which has the length of Y. Low and High are
// the ends of the band around the curve and have that length too, or are nil for none. Points
// that the axes cannot show (not finite, or not positive on a logarithmic axis) are left out.
type Curve struct {
	Name      string
	Limit     bool // the least that is possible; all limits look the same
	X, Y      []float64
	Low, High []float64
}

// Sizes of a drawing and of the things on it, in points.
const (
	panelWidth  = 350
	panelHeight = 235 // without the legend
	margin      = 8
	gap         = 22 // between panels
	titleSize   = 11
	labelSize   = 10
	tickSize    = 9
	lineWidth   = 1.6
	legendLine  = 15 // height of a line of the legend
	legendMark  = 26 // width of a piece of curve in it
	dotRadius   = 2.1
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
func (c Chart) WriteSVG(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	columns := min(len(c.Panels), 2)
	width := float64(columns*panelWidth + 2*margin)
	wide := (width - 2*margin - float64(columns-1)*gap - margin) / float64(columns)
	top := float64(margin)
	if c.Title != "" {
		top += titleSize + margin
	}
	tops := []float64{top} // of rows of panels
	for row := range slices.Chunk(c.Panels, columns) {
		lines := 0
		for _, p := range row {
			lines = max(lines, p.legendLines(wide))
		}
		tops = append(tops, tops[len(tops)-1]+panelHeight+float64(lines*legendLine)+gap/2)
	}
	s := newSVG(width, tops[len(tops)-1], Light)
	if c.Title != "" {
		s.text(width/2, margin+titleSize, "middle", titleSize, c.Title)
	}
	looks, left, axes := c.looks(), make([]float64, columns), make([][2]axis, len(c.Panels))
	for i, p := range c.Panels { // whose axes are aligned
		axes[i] = p.axes()
		left[i%columns] = max(left[i%columns], axes[i][1].room())
	}
	for i, p := range c.Panels {
		x := margin + float64(i%columns)*(wide+gap)
		b := panelBox(x+left[i%columns], x+wide, tops[i/columns], axes[i])
		p.draw(s, b, looks)
		p.legend(s, x, tops[i/columns]+panelHeight, wide, looks)
	}
	return s.write(w)
}

// Drawable reports whether there is a point to draw.
func (c Chart) Drawable() bool { return slices.ContainsFunc(c.Panels, Panel.drawable) }

func (p Panel) drawable() bool {
	return slices.ContainsFunc(p.Curves, func(c Curve) bool { return len(p.points(c)) > 0 })
}

// check finds slices of unequal length, and charts without a point.
func (c Chart) check() error {
	for _, p := range c.Panels {
		for _, v := range p.Curves {
			if len(v.X) != len(v.Y) || (v.Low != nil || v.High != nil) && (len(v.Low) != len(v.X) || len(v.High) != len(v.X)) {
				return fmt.Errorf("curve %q has %d values of x, %d of y, and %d and %d ends of bands", v.Name, len(v.X), len(v.Y), len(v.Low), len(v.High))
			}
		}
	}
	if !c.Drawable() {
		return errors.New("there is no point to draw")
	}
	return nil
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

// hasBand reports whether a curve has a band of some height at a point.
func (p Panel) hasBand(c Curve, i int) bool {
	return c.Low != nil && p.showsY(c.Low[i]) && p.showsY(c.High[i]) && c.High[i] > c.Low[i]
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
