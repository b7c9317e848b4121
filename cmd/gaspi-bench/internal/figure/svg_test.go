package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// drawn is a chart as SVG, which is XML.
func drawn(t *testing.T, c Chart, onPage bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteSVG(&b, onPage); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
	}
}

// chartOf is a chart of two panels, of which the second has no points.
func chartOf(p Panel) Chart {
	p.Curves = []Curve{
		{Name: "a <b>", X: []float64{1024, 1 << 20}, Y: []float64{1, 200}, Low: []float64{1, 100}, High: []float64{1, 300}},
		{Name: "none"},
	}
	empty := p
	empty.Curves = []Curve{{Name: "a <b>"}, {Name: "none"}}
	return Chart{Panels: []Panel{p, empty}}
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
			svg := drawn(t, chartOf(test.panel), false)
			for _, want := range []string{test.want + "</text>", "a &lt;b&gt;", ": not measured", "#FFFFFF"} {
				if !strings.Contains(svg, want) {
					t.Errorf("the drawing lacks %q", want)
				}
			}
			page := drawn(t, chartOf(test.panel), true)
			if !strings.HasPrefix(page, "<svg") || !strings.Contains(page, "currentColor") || strings.Contains(page, "#000000") || strings.Contains(page, "#FFFFFF") {
				t.Errorf("the drawing for a page has colours of its own:\n%.300s", page)
			}
		})
	}
	if err := (Chart{Panels: []Panel{{Curves: []Curve{{Name: "none"}}}}}).WriteSVG(io.Discard, true); err == nil {
		t.Error("a chart without a point was drawn")
	}
}

// Goal: a sweep of which nothing was measured has no chart, and its page can be written.
func TestPageOfNothing(t *testing.T) {
	f := &Figure{Name: "x", Sweep: measured()}
	times := NewTimes(Raw, f.Sweep.Grids[Raw], "nowhere")
	if charts := f.Chart.charts(f.Sweep, times); charts != nil {
		t.Errorf("%d charts", len(charts))
	}
	r := &Result{Figure: f, Parts: []Part{{Way: Raw, Cut: "late", Tables: []Table{f.Sweep.table(times)}}}}
	if err := NewPage([]*Result{r}, Host{}, time.Now(), 0).Write(io.Discard); err != nil {
		t.Error(err)
	}
}
