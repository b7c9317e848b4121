package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A drawing is what a reader of an SVG finds in it.
type drawing struct {
	svg   string
	texts map[string]int
	count map[string]int // elements by name
}

// read parses an SVG and checks that every coordinate in it is a finite number.
func read(t *testing.T, svg string) drawing {
	t.Helper()
	d := drawing{svg: svg, texts: map[string]int{}, count: map[string]int{}}
	inText := false
	for dec := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatalf("not well-formed: %v in\n%s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inText = x.Name.Local == "text"
			d.count[x.Name.Local]++
			for _, a := range x.Attr {
				switch a.Name.Local {
				case "x", "y", "cx", "cy", "width", "height":
					v, err := strconv.ParseFloat(strings.TrimSuffix(a.Value, "pt"), 64)
					if err != nil || !finite(v) {
						t.Errorf("%s of a %s is %q", a.Name.Local, x.Name.Local, a.Value)
					}
				}
			}
		case xml.CharData:
			if inText && strings.TrimSpace(string(x)) != "" {
				d.texts[string(x)]++
			}
		}
	}
}

// marks is how many points are marked.
func (d drawing) marks() int { return strings.Count(d.svg, `class="mark"`) }

// drawn draws a chart and reads the result.
func drawn(t *testing.T, write func(io.Writer) error) drawing {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Errorf("the drawing contains numbers that are none:\n%s", b.String())
	}
	return read(t, b.String())
}

// chartOf is a chart of two panels, of which the second has no points.
func chartOf(p Panel) Chart {
	p.Title, p.XLabel, p.YLabel = "full", "across", "up"
	p.Curves = []Curve{
		{Name: "a <b> & c", X: []float64{1024, 1 << 20}, Y: []float64{1, 200}, Low: []float64{1, 100}, High: []float64{1, 300}},
		{Name: "none"},
	}
	empty := Panel{Title: "empty", LogY: true, Curves: []Curve{{Name: "a <b> & c"}, {Name: "none"}}}
	return Chart{Title: "all <of> it", Panels: []Panel{p, empty}}
}

func TestWriteSVG(t *testing.T) {
	for _, test := range []struct {
		name  string
		panel Panel
		want  string // a tick
	}{
		{"lengths", Panel{XBytes: true}, "1K"},
		{"lengths and logarithms", Panel{XBytes: true, LogY: true}, "100"},
		{"logarithms of numbers", Panel{XLog: true}, "10000"},
		{"numbers", Panel{}, "200"},
		{"cut", Panel{Cut: true}, "200"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := chartOf(test.panel)
			alone := drawn(t, c.WriteSVG)
			for want, times := range map[string]int{test.want: 1, "a <b> & c": 1, "none": 0, "empty: not measured": 1, "full": 1, "across": 1, "up": 1, "all <of> it": 1} {
				if alone.texts[want] != times {
					t.Errorf("%q stands %d times in the drawing, want %d: %v", want, alone.texts[want], times, alone.texts)
				}
			}
			if !strings.Contains(alone.svg, paper) || !strings.Contains(alone.svg, "sans-serif") || alone.marks() != 2+1 {
				t.Errorf("no white ground, no fallback for the font, or %d marks instead of 2 points and 1 in a legend", alone.marks())
			}
			if strings.Count(alone.svg, `class="band"`) != 1 {
				t.Errorf("the band is there %d times, want once", strings.Count(alone.svg, `class="band"`))
			}
		})
	}
}

// TestCoordinates places points by hand: a quarter and three quarters of both axes.
func TestCoordinates(t *testing.T) {
	b := box{left: 100, right: 300, top: 50, bottom: 150}
	for _, test := range []struct {
		name string
		axes [2]axis
		x, y float64
	}{
		{"even", [2]axis{{low: 0, high: 4}, {low: -2, high: 2}}, 1, 1},
		{"logarithmic", [2]axis{{low: 1, high: 16, log: true}, {low: 0.01, high: 100, log: true}}, 2, 10},
	} {
		b.axes = test.axes
		if x, y := b.x(test.x), b.y(test.y); math.Abs(x-150) > 1e-9 || math.Abs(y-75) > 1e-9 {
			t.Errorf("%s: (%v, %v), want (150, 75)", test.name, x, y)
		}
	}
}

// decay is a curve of n points that falls from 1 to 0.7.
func decay(name string, n int) Curve {
	c := Curve{Name: name}
	for i := range n {
		c.X = append(c.X, 0.01*float64(i+1))
		c.Y = append(c.Y, 0.7+0.3*math.Exp(-4*float64(i)/float64(n)))
	}
	return c
}

// TestOddData draws what real runs may leave behind.
func TestOddData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	many := []Curve{}
	for i := range 9 {
		many = append(many, decay(fmt.Sprintf("a curve with a long name, number %d", i), 9))
	}
	for _, test := range []struct {
		name  string
		panel Panel
		dots  int
	}{
		{"one point", Panel{Curves: []Curve{decay("a", 1)}}, 1},
		{"one point, logarithms", Panel{XBytes: true, LogY: true, Curves: []Curve{{Name: "a", X: []float64{8}, Y: []float64{3}}}}, 1},
		{"one point at 0", Panel{Cut: true, Curves: []Curve{{Name: "a", X: []float64{0}, Y: []float64{0}}}}, 1},
		{"a constant", Panel{Cut: true, Curves: []Curve{{Name: "a", X: []float64{1, 2}, Y: []float64{1, 1}}}}, 2},
		{"negative", Panel{Curves: []Curve{{Name: "a", X: []float64{-1, 2}, Y: []float64{-3, 1}}}}, 2},
		{"unknown", Panel{Curves: []Curve{{Name: "a", X: []float64{1, 2, 3, inf}, Y: []float64{nan, 1, inf, 2}}}}, 1},
		{"no logarithm", Panel{XBytes: true, LogY: true, Curves: []Curve{{Name: "a", X: []float64{0, 8, 16}, Y: []float64{1, 0, 4}, Low: []float64{1, 0, 0}, High: []float64{1, 1, 5}}}}, 1},
		{"one empty curve", Panel{Curves: []Curve{{Name: "a"}, decay("b", 5)}}, 5},
		{"very many points", Panel{Curves: []Curve{decay("a", 100_000)}}, 0},
		{"a level", Panel{Level: 0.9, Cut: true, Curves: []Curve{decay("a", 5)}}, 5},
		{"more curves than looks", Panel{Curves: many}, 81},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := drawn(t, Chart{Panels: []Panel{test.panel}}.WriteSVG)
			if inPlot := d.marks() - len(test.panel.entries(panelWidth)); inPlot != test.dots || len(d.svg) > 200<<10 {
				t.Errorf("%d points are marked, want %d; %d bytes", inPlot, test.dots, len(d.svg))
			}
			if has := strings.Contains(d.svg, levelColor); has != (test.panel.Level != 0) {
				t.Errorf("the level is drawn: %v", has)
			}
		})
	}
	if all, shown := decay("a", 100_000), (Panel{}).points(decay("a", 100_000)); len(shown) > maxPoints+1 || shown[len(shown)-1] != len(all.X)-1 {
		t.Errorf("%d points are drawn, the last is %d", len(shown), shown[len(shown)-1])
	}
}

// TestLegendWraps places names that do not fit into a line in the next.
func TestLegendWraps(t *testing.T) {
	p := Panel{Curves: []Curve{decay("a curve with a rather long name", 2), decay("another curve with such a name", 2), decay("b", 2)}}
	var rows []int
	for _, e := range p.entries(panelWidth) {
		rows = append(rows, e.row)
		if end := e.x + legendMark + 6 + textWidth(e.name, labelSize); end > panelWidth {
			t.Errorf("%q ends at %v, beyond the drawing", e.name, end)
		}
	}
	if d := cmp.Diff([]int{0, 1, 1}, rows); d != "" || p.legendLines(panelWidth) != 2 {
		t.Errorf("%s, %d lines", d, p.legendLines(panelWidth))
	}
}

// TestLooksDiffer: as many curves as Looks says can be told apart, neighbours by more than one
// thing.
func TestLooksDiffer(t *testing.T) {
	seen := map[look]int{}
	for i := range Looks {
		l := lookOf(i)
		if k, twice := seen[l]; twice {
			t.Errorf("curves %d and %d look the same: %v", k, i, l)
		}
		seen[l] = i
		if next := lookOf(i + 1); next.color == l.color || next.dashes == l.dashes || next.shape == l.shape {
			t.Errorf("curves %d and %d share colour, dashes or shape", i, i+1)
		}
	}
	if Looks < 20 {
		t.Errorf("%d looks", Looks)
	}
}

// TestSameNameSameLook: panels with other curves, in another order, do not change the look of a
// name, and each panel has a legend of its own curves alone. A limit looks like every other.
func TestSameNameSameLook(t *testing.T) {
	limit := decay("links", 3)
	limit.Limit = true
	c := Chart{Panels: []Panel{
		{Title: "one", Curves: []Curve{decay("store", 3), decay("tree", 3), limit}},
		{Title: "two", Curves: []Curve{decay("store", 3), decay("ring", 3), decay("tree", 3), limit}},
	}}
	looks := c.looks()
	if looks["ring"] == looks["tree"] || looks["ring"] == looks["store"] || looks["links"] != limitLook {
		t.Errorf("looks %v", looks)
	}
	d := drawn(t, c.WriteSVG)
	for name, panels := range map[string]int{"store": 2, "tree": 2, "links": 2, "ring": 1} {
		if d.texts[name] != panels {
			t.Errorf("%q is in %d legends, want %d", name, d.texts[name], panels)
		}
		if lines := strings.Count(d.svg, fmt.Sprintf(`stroke-dasharray="%s"`, looks[name].dashes)); looks[name].dashes != "" && lines != 2*panels {
			t.Errorf("%d lines look like %q, want one in the plot and one in the legend of %d panels", lines, name, panels)
		}
	}
}

// TestTicks labels axes of many lengths with few, round, distinct numbers.
func TestTicks(t *testing.T) {
	for _, test := range []struct {
		ticks     func(low, high float64) []tick
		low, high float64
		want      string
	}{
		{evenTicks, 0, 7.2, "0 2 4 6"},
		{evenTicks, 0, 6, "0 1 2 3 4 5 6"},
		{evenTicks, 0, 144, "0 50 100"},
		{evenTicks, 0, 0.004, "0.000 0.001 0.002 0.003 0.004"},
		{evenTicks, 0.69, 1.01, "0.7 0.8 0.9 1.0"},
		{evenTicks, -0.3, 0.5, "-0.2 0.0 0.2 0.4"},
		{evenTicks, 0, 123456, "0 50000 100000"},
		{byteTicks, 8, 1 << 30, "8 128 2K 32K 512K 8M 128M"},
		{byteTicks, 1024, 4096, "1K 2K 4K"},
		{decadeTicks, 0.5, 20, "0.5 1 2 5 10 20"},
		{decadeTicks, 1, 1000, "1 10 100 1000"},
	} {
		var got []string
		for _, m := range test.ticks(test.low, test.high) {
			if m.label != "" {
				got = append(got, m.label)
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("from %v to %v: %s, want %s", test.low, test.high, s, test.want)
		}
	}
}

func TestBars(t *testing.T) {
	b := Bars{
		Title: "a & b", Axis: "ms", Names: []string{"first", "second", "nothing"},
		Layers: []Layer{{"computing", []float64{1, 2, 0}}, {"waiting", []float64{3, math.NaN(), 0}}},
	}
	d := drawn(t, b.WriteSVG)
	for _, want := range []string{"a & b", "ms", "first", "second", "nothing", "computing", "waiting", "4"} {
		if d.texts[want] != 1 {
			t.Errorf("%q stands %d times in the drawing: %v", want, d.texts[want], d.texts)
		}
	}
	if d.count["rect"] != 1+2+3 { // the ground, the legend, what is longer than nothing
		t.Errorf("%d rectangles, want 6", d.count["rect"])
	}
	zero := Bars{Names: []string{"a"}, Layers: []Layer{{"x", []float64{0}}}}
	drawn(t, zero.WriteSVG)
}

// TestRefuses states what cannot be drawn; nothing is written then.
func TestRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		write func(io.Writer) error
		want  string
	}{
		{"no panel", Chart{}.WriteSVG, "there is no point to draw"},
		{"no point", Chart{Panels: []Panel{{Curves: []Curve{{Name: "a"}}}}}.WriteSVG, "there is no point to draw"},
		{"uneven", Chart{Panels: []Panel{{Curves: []Curve{{Name: "a", X: []float64{1}}}}}}.WriteHTML,
			`curve "a" has 1 values of x, 0 of y, and 0 and 0 ends of bands`},
		{"half a band", Chart{Panels: []Panel{{Curves: []Curve{{Name: "a", X: []float64{1}, Y: []float64{1}, Low: []float64{1}}}}}}.WriteSVG,
			`curve "a" has 1 values of x, 1 of y, and 1 and 0 ends of bands`},
		{"no bar", Bars{Layers: []Layer{{Name: "a"}}}.WriteSVG, "there is no bar to draw"},
		{"uneven layer", Bars{Names: []string{"a"}, Layers: []Layer{{Name: "x"}}}.WriteSVG, `"x" has 0 values for 1 bars`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := test.write(&out); fmt.Sprint(err) != test.want || out.Len() != 0 {
				t.Errorf("error is %v and %d bytes were written; want %s and none", err, out.Len(), test.want)
			}
		})
	}
}
