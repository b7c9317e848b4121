package chart

import (
	"math"
	"strconv"
)

// An axis maps values from low to high to 0 to 1.
type axis struct {
	low, high float64
	log       bool
	ticks     []tick
}

// A tick is a mark on an axis, with a label or none.
type tick struct {
	value float64
	label string
}

// at returns where a value lies on the axis: 0 at its low end, 1 at its high end.
func (a axis) at(v float64) float64 {
	if a.log {
		return math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// widest returns the width of the widest label in points.
func (a axis) widest() float64 {
	w := 0.0
	for _, t := range a.ticks {
		w = max(w, textWidth(t.label, tickSize))
	}
	return w
}

// over returns how far the label at the high end of a lower axis reaches beyond that end, at most.
func (a axis) over() float64 {
	if len(a.ticks) == 0 {
		return 0
	}
	return textWidth(a.ticks[len(a.ticks)-1].label, tickSize) / 2
}

// axes returns the lower and the left axis, with some room around the curves.
func (p Panel) axes() [2]axis {
	x, y := p.ranges()
	x.log, y.log = p.XBytes || p.XLog, p.LogY
	if !p.drawable() {
		return [2]axis{{high: 1}, {high: 1}} // without numbers, which would mean nothing
	}
	if !x.log {
		x.low, x.high = min(0, x.low), x.high*1.03
	}
	switch room := 0.05 * (y.high - y.low); {
	case p.LogY:
		y.low, y.high = y.low/1.3, y.high*1.3
	case p.Cut:
		y.low, y.high = y.low-room, y.high+room
	default:
		y.low, y.high = min(0, y.low), y.high*1.06
	}
	x.widen()
	y.widen()
	x.ticks, y.ticks = evenTicks(x.low, x.high), evenTicks(y.low, y.high)
	switch {
	case p.XBytes:
		x.ticks = byteTicks(x.low, x.high)
	case p.XLog:
		x.ticks = decadeTicks(x.low, x.high)
	}
	if p.LogY {
		y.ticks = decadeTicks(y.low, y.high)
	}
	return [2]axis{x, y}
}

// widen gives an axis of a single value a length.
func (a *axis) widen() {
	switch room := 0.1 * math.Abs(a.low); {
	case a.high > a.low:
	case room > 0:
		a.low, a.high = a.low-room, a.low+room
	default:
		a.high = a.low + 1
	}
}

// ranges returns axes from the least to the largest value of all points.
func (p Panel) ranges() (x, y axis) {
	x.low, y.low = math.Inf(1), math.Inf(1)
	x.high, y.high = math.Inf(-1), math.Inf(-1)
	for _, c := range p.Curves {
		for _, i := range p.points(c) {
			x.low, x.high = min(x.low, c.X[i]), max(x.high, c.X[i])
			y.low, y.high = min(y.low, c.Y[i]), max(y.high, c.Y[i])
			if c.Low != nil && p.showsY(c.Low[i]) && p.showsY(c.High[i]) {
				y.low, y.high = min(y.low, c.Low[i]), max(y.high, c.High[i])
			}
		}
	}
	return x, y
}

// evenTicks labels an axis about six times, at multiples of 1, 2 or 5 times a power of ten.
func evenTicks(low, high float64) []tick {
	const wanted = 6
	step := math.Pow(10, math.Floor(math.Log10((high-low)/wanted)))
	for _, f := range []float64{2, 2.5, 2} { // 2, 5, 10
		if (high-low)/step <= wanted {
			break
		}
		step *= f
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var marks []tick
	// Adding 0 turns the -0 that Ceil may return into 0.
	for i := math.Ceil(low/step-1e-9) + 0; i <= high/step+1e-9; i++ {
		marks = append(marks, tick{i * step, strconv.FormatFloat(i*step, 'f', digits, 64)})
	}
	return marks
}

// byteTicks labels a logarithmic axis of lengths, at powers of two that leave room.
func byteTicks(low, high float64) []tick {
	const wanted = 7
	from, to := math.Ceil(math.Log2(low)-1e-9), math.Floor(math.Log2(high)+1e-9)
	step := max(1, math.Ceil((to-from)/wanted))
	var marks []tick
	for e := from; e <= to; e++ {
		t := tick{value: math.Exp2(e)}
		if math.Mod(e-from, step) == 0 {
			t.label = compactBytes(t.value)
		}
		marks = append(marks, t)
	}
	return marks
}

// compactBytes writes a length in the largest unit that it reaches.
func compactBytes(n float64) string {
	units := []string{"", "K", "M", "G", "T"}
	i := 0
	for ; n >= 1024 && i < len(units)-1; i++ {
		n /= 1024
	}
	return strconv.FormatFloat(n, 'g', 3, 64) + units[i]
}

// decadeTicks labels a logarithmic axis at powers of ten, and marks 2 and 5 times these.
func decadeTicks(low, high float64) []tick {
	var marks []tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, f := range []float64{1, 2, 5} {
			v := f * math.Pow(10, e)
			if v < low || v > high {
				continue
			}
			t := tick{value: v}
			if f == 1 || high/low < 300 {
				t.label = strconv.FormatFloat(v, 'g', 6, 64)
			}
			marks = append(marks, t)
		}
	}
	return marks
}

// A box is the area between the axes of a panel, in points of the drawing.
type box struct {
	left, right, top, bottom float64
	axes                     [2]axis // lower, left
}

func (b box) x(v float64) float64 { return b.left + b.axes[0].at(v)*(b.right-b.left) }

func (b box) y(v float64) float64 { return b.bottom - b.axes[1].at(v)*(b.bottom-b.top) }

// grid draws axes, ticks, their labels, and the lines behind the curves.
func (b box) grid(s *svg) {
	behind := stroke{color: gridColor, width: 0.5}
	for _, t := range b.axes[0].ticks {
		x := b.x(t.value)
		s.line([]point{{x, b.top}, {x, b.bottom}}, behind)
		s.line([]point{{x, b.bottom}, {x, b.bottom + 3}}, axisStroke)
		s.text(x, b.bottom+tickSize+4, "middle", tickSize, t.label)
	}
	for _, t := range b.axes[1].ticks {
		y := b.y(t.value)
		s.line([]point{{b.left, y}, {b.right, y}}, behind)
		s.line([]point{{b.left - 3, y}, {b.left, y}}, axisStroke)
		s.text(b.left-5, y+tickSize/3.0, "end", tickSize, t.label)
	}
	s.line([]point{{b.left, b.top}, {b.left, b.bottom}, {b.right, b.bottom}}, axisStroke)
}
