package figure

import (
	"bytes"
	"image/color"
	"math"
	"regexp"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A stroke is how a curve looks. Hue, lightness and dashes all differ, so that curves can
// be told apart in print and by readers who do not see some colours.
type stroke struct {
	color  color.RGBA
	dashes []vg.Length
}

// strokeOf is the look of the i-th curve. The colours are those of Okabe and Ito that can
// be seen on black and on white.
func strokeOf(i int) stroke {
	looks := []stroke{
		{color: color.RGBA{R: 0, G: 114, B: 178, A: 255}},
		{color: color.RGBA{R: 213, G: 94, B: 0, A: 255}, dashes: []vg.Length{7, 2.5}},
		{color: color.RGBA{R: 0, G: 158, B: 115, A: 255}, dashes: []vg.Length{3, 2}},
		{color: color.RGBA{R: 204, G: 121, B: 167, A: 255}, dashes: []vg.Length{8, 2, 2, 2}},
		{color: color.RGBA{R: 230, G: 159, B: 0, A: 255}, dashes: []vg.Length{1.5, 1.5}},
		{color: color.RGBA{R: 86, G: 180, B: 233, A: 255}, dashes: []vg.Length{10, 3, 2, 3, 2, 3}},
		{color: color.RGBA{R: 130, G: 130, B: 130, A: 255}},
	}
	return looks[i%len(looks)]
}

func (s stroke) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: lineWidth, Dashes: s.dashes}
}

// gridColor is that of the lines behind the curves.
var gridColor = color.RGBA{R: 221, G: 221, B: 221, A: 255}

// evenTicks labels an axis about six times, at multiples of 1, 2 or 5 times a power of ten.
func evenTicks(low, high float64) []plot.Tick {
	const wanted = 6
	step := math.Pow(10, math.Floor(math.Log10((high-low)/wanted)))
	for _, f := range []float64{2, 2.5, 2} { // 2, 5, 10
		if (high-low)/step <= wanted {
			break
		}
		step *= f
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var marks []plot.Tick
	for i := math.Ceil(low/step-1e-9) + 0; i <= high/step+1e-9; i++ {
		marks = append(marks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'f', digits, 64)})
	}
	return marks
}

// byteTicks labels a logarithmic axis of lengths, at powers of two that leave room.
func byteTicks(low, high float64) []plot.Tick {
	const wanted = 7
	from, to := math.Ceil(math.Log2(low)-1e-9), math.Floor(math.Log2(high)+1e-9)
	step := max(1, math.Ceil((to-from)/wanted))
	var marks []plot.Tick
	for e := from; e <= to; e++ {
		t := plot.Tick{Value: math.Exp2(e)}
		if math.Mod(e-from, step) == 0 {
			t.Label = compactBytes(t.Value)
		}
		marks = append(marks, t)
	}
	return marks
}

// compactBytes is showBytes for where there is little room.
func compactBytes(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{gib, "G"}, {mib, "M"}, {kib, "K"}} {
		if n >= u.size {
			return strconv.FormatFloat(n/u.size, 'g', 3, 64) + u.name
		}
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// decadeTicks labels a logarithmic axis at powers of ten, and marks 2 and 5 times these.
func decadeTicks(low, high float64) []plot.Tick {
	var marks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, f := range []float64{1, 2, 5} {
			v := f * math.Pow(10, e)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if f == 1 || high/low < 300 {
				t.Label = strconv.FormatFloat(v, 'g', 6, 64)
			}
			marks = append(marks, t)
		}
	}
	return marks
}

var (
	svgProlog = regexp.MustCompile(`(?s)^.*?<svg`)
	svgSize   = regexp.MustCompile(`<svg width="[^"]*" height="[^"]*"`)
)

// dress finishes what the drawing library wrote: it names fonts of the same widths for
// readers who lack the one that the text was laid out with. For a page it also takes the
// prolog off, lets the drawing shrink with the page, and gives text and axes the page's
// own colour.
func dress(svg []byte, onPage bool) []byte {
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	if !onPage {
		return svg
	}
	svg = svgProlog.ReplaceAll(svg, []byte("<svg"))
	svg = svgSize.ReplaceAll(svg, []byte("<svg"))
	svg = bytes.ReplaceAll(svg, []byte("#000000"), []byte("currentColor"))
	return bytes.ReplaceAll(svg, []byte("#DDDDDD"), []byte("#8888884d"))
}
