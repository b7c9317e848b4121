package chart

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Ratios is a bar for each row, the first on top, from 1 to the ratio on a logarithmic axis: to
// the right where it is above 1, to the left where it is below.
type Ratios struct {
	Title string
	Axis  string // the meaning of the ratios
	Rows  []Ratio
}

// A Ratio is one bar, with a name on its left and a note on its right.
type Ratio struct {
	Name, Note string
	Value      float64
}

// Sizes of a drawing of ratios, in points.
const (
	ratiosWidth = 560
	ratioRoom   = 20
	ratioHeight = 12
)

// WriteSVG draws the ratios on the ground of a theme. It returns an error, and writes nothing, if
// there is no row, or one whose value is no positive number.
func (r Ratios) WriteSVG(w io.Writer, theme Theme) error {
	if len(r.Rows) == 0 {
		return errors.New("there is no ratio to draw")
	}
	low, high, left, right := 1.0, 1.0, 0.0, 0.0
	for _, row := range r.Rows {
		if !finite(row.Value) || row.Value <= 0 {
			return fmt.Errorf("the ratio of %q is %v, not above 0", row.Name, row.Value)
		}
		low, high = min(low, row.Value), max(high, row.Value)
		left, right = max(left, textWidth(row.Name, labelSize)), max(right, textWidth(row.Note, labelSize))
	}
	const top = 3*margin + titleSize
	bottom := top + float64(len(r.Rows)*ratioRoom)
	area := box{left: margin + left + 8, right: ratiosWidth - margin - right - 8, top: top, bottom: bottom}
	area.axes[0] = axis{low: low / 1.1, high: max(high, 2) * 1.1, log: true}
	area.axes[0].ticks = decadeTicks(area.axes[0].low, area.axes[0].high)
	area.axes[1] = axis{high: 1}
	s := newSVG(ratiosWidth, bottom+tickSize+labelSize+margin+10, theme)
	s.text(ratiosWidth/2, margin+titleSize, "middle", titleSize, r.Title)
	area.grid(s)
	s.text((area.left+area.right)/2, bottom+tickSize+labelSize+8, "middle", labelSize, r.Axis)
	one := area.x(1)
	for i, row := range r.Rows {
		y := top + float64(i*ratioRoom) + (ratioRoom-ratioHeight)/2
		at, color := area.x(row.Value), colors[0]
		if row.Value < 1 {
			color = colors[1]
		}
		s.rect(math.Min(one, at), y, math.Abs(at-one), ratioHeight, color)
		s.text(area.left-8, y+ratioHeight/2+labelSize/3.0, "end", labelSize, row.Name)
		s.text(area.right+8, y+ratioHeight/2+labelSize/3.0, "start", labelSize, row.Note)
	}
	s.line([]point{{one, area.top}, {one, area.bottom}}, axisStroke)
	return s.write(w)
}
