package chart

// panelBox returns the area between the axes of a panel whose upper edge is top.
func panelBox(left, right, top float64, axes [2]axis) box {
	return box{left: left, right: right, top: top + labelSize + 5, bottom: top + panelHeight - tickSize - labelSize - 12, axes: axes}
}

// room returns how wide the labels left of an axis are, the name of the axis included.
func (a axis) room() float64 { return a.widest() + tickSize + labelSize + 8 }

// draw draws a panel whose axes are the left and the lower edge of a box.
func (p Panel) draw(s *svg, b box, looks map[string]look) {
	title := p.Title
	if !p.drawable() {
		title += ": not measured"
	}
	s.text((b.left+b.right)/2, b.top-5, "middle", labelSize, title)
	s.text((b.left+b.right)/2, b.bottom+tickSize+labelSize+8, "middle", labelSize, p.XLabel)
	s.rotated(b.left-b.axes[1].widest()-11, (b.top+b.bottom)/2, labelSize, p.YLabel)
	b.grid(s)
	if level := b.axes[1].at(p.Level); p.Level != 0 && level > 0 && level < 1 {
		y := b.y(p.Level)
		s.line([]point{{b.left, y}, {b.right, y}}, stroke{color: levelColor, width: 0.8, dashes: "2,2"})
	}
	for _, part := range []func(*svg, box, Curve, look){p.band, p.curve} { // no band hides a curve
		for i, c := range p.Curves {
			s.b.WriteString(`<g class="curve" data-curve="` + number(float64(i)) + `">` + "\n")
			part(s, b, c, looks[c.Name])
			s.b.WriteString("</g>\n")
		}
	}
}

// curve draws a curve and marks its points.
func (p Panel) curve(s *svg, b box, c Curve, l look) {
	shown := p.points(c)
	line := make([]point, len(shown))
	for i, k := range shown {
		line[i] = point{b.x(c.X[k]), b.y(c.Y[k])}
	}
	s.line(line, l.stroke)
	for _, at := range line {
		if len(shown) <= maxDots {
			s.mark(at, l)
		}
	}
}

// band fills the area between the ends of a curve's band, at each run of points that have
// one; the band of a single point is a line.
func (p Panel) band(s *svg, b box, c Curve, l look) {
	shown := p.points(c)
	var lower, upper []point
	end := func() {
		switch {
		case len(lower) == 1:
			s.line([]point{lower[0], upper[0]}, stroke{color: l.color, width: 0.9})
		case len(lower) > 1:
			for i := range lower {
				upper = append(upper, lower[len(lower)-1-i])
			}
			s.area("band", upper, l.color)
		}
		lower, upper = nil, nil
	}
	known := func(k int) bool { return c.Low != nil && p.showsY(c.Low[k]) && p.showsY(c.High[k]) }
	some := false
	for _, k := range shown {
		some = some || p.hasBand(c, k)
	}
	for _, k := range shown {
		if !some || !known(k) {
			end()
			continue
		}
		lower = append(lower, point{b.x(c.X[k]), b.y(c.Low[k])})
		upper = append(upper, point{b.x(c.X[k]), b.y(c.High[k])})
	}
	end()
}

// A legendEntry is a place in a legend: the name of a curve, its line and where that begins.
type legendEntry struct {
	name string
	row  int
	x    float64
}

// entries places the names of the curves that have points in lines of a width.
func (p Panel) entries(width float64) []legendEntry {
	var all []legendEntry
	row, x := 0, 0.0
	for _, c := range p.Curves {
		if len(p.points(c)) == 0 {
			continue
		}
		wide := legendMark + 6 + textWidth(c.Name, labelSize)
		if x+wide > width && x > 0 {
			row, x = row+1, 0
		}
		all = append(all, legendEntry{c.Name, row, x})
		x += wide + 14
	}
	return all
}

// legendLines returns how many lines the legend of a panel has.
func (p Panel) legendLines(width float64) int {
	all := p.entries(width)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].row + 1
}

// legend writes the names of the curves, each beside a piece of its curve.
func (p Panel) legend(s *svg, x, y, width float64, looks map[string]look) {
	for _, e := range p.entries(width) {
		middle := y + float64(e.row)*legendLine + legendLine/2
		s.sample(x+e.x, middle, looks[e.name])
		s.text(x+e.x+legendMark+6, middle+labelSize/3.0, "start", labelSize, e.name)
	}
}
