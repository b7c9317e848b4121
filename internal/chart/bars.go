package chart

import (
	"errors"
	"fmt"
	"io"
)

// Bars is a horizontal bar for each name, the first on top, made of layers from left
// to right.
type Bars struct {
	Title  string
	Axis   string // what the lengths are, with their unit
	Names  []string
	Layers []Layer // at most 6; more have no colour of their own
}

// A Layer is a part of every bar: one length for each name.
type Layer struct {
	Name   string
	Values []float64
}

// Sizes of a drawing of bars, in points.
const (
	barsWidth = 760
	barHeight = 13
	barRoom   = 22 // from one bar to the next
)

// WriteSVG draws the bars. It returns an error, and writes nothing, if there are no bars
// or a layer has another number of values.
func (b Bars) WriteSVG(w io.Writer) error {
	if len(b.Names) == 0 || len(b.Layers) == 0 {
		return errors.New("there is no bar to draw")
	}
	longest := 0.0
	for i := range b.Names {
		sum := 0.0
		for _, l := range b.Layers {
			if len(l.Values) != len(b.Names) {
				return fmt.Errorf("%q has %d values for %d bars", l.Name, len(l.Values), len(b.Names))
			}
			sum += max(0, finiteOr0(l.Values[i]))
		}
		longest = max(longest, sum)
	}
	if longest == 0 {
		longest = 1
	}
	left := 0.0
	for _, name := range b.Names {
		left = max(left, textWidth(name, tickSize))
	}
	const top = 2*margin + titleSize + legendLine + margin
	bottom := top + float64(len(b.Names)*barRoom)
	s := newSVG(barsWidth, bottom+tickSize+labelSize+margin+10, Light)
	s.text(barsWidth/2, margin+titleSize, "middle", titleSize, b.Title)
	b.legend(s, 2*margin+titleSize)
	area := box{left: margin + left + 6, right: barsWidth - 2*margin, top: top, bottom: bottom}
	area.axes[0] = axis{high: longest * 1.03}
	area.axes[0].ticks = evenTicks(0, area.axes[0].high)
	area.axes[1] = axis{high: 1}
	area.grid(s)
	s.text((area.left+area.right)/2, bottom+tickSize+labelSize+8, "middle", labelSize, b.Axis)
	for i, name := range b.Names {
		y := top + float64(i*barRoom) + (barRoom-barHeight)/2
		s.text(area.left-6, y+barHeight/2+tickSize/3.0, "end", tickSize, name)
		x := 0.0
		for k, l := range b.Layers {
			v := max(0, finiteOr0(l.Values[i]))
			if v > 0 {
				s.rect(area.x(x), y, area.x(x+v)-area.x(x), barHeight, layerColor(k))
			}
			x += v
		}
	}
	return s.write(w)
}

// legend writes the names of the layers in a line.
func (b Bars) legend(s *svg, y float64) {
	x := float64(margin)
	for k, l := range b.Layers {
		s.rect(x, y+2, legendMark/2, labelSize, layerColor(k))
		s.text(x+legendMark/2+6, y+labelSize, "start", labelSize, l.Name)
		x += legendMark/2 + 6 + textWidth(l.Name, labelSize) + 16
	}
}

// layerColor returns the colour of the k-th layer, of Okabe and Ito's, which differ in
// lightness too.
func layerColor(k int) string {
	colors := []string{"#0072B2", "#56B4E9", "#D55E00", "#F0E442", "#BEBEBE", "#009E73"}
	return colors[k%len(colors)]
}

func finiteOr0(x float64) float64 {
	if finite(x) {
		return x
	}
	return 0
}
