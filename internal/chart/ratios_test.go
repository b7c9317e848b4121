package chart

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
)

// TestRatios draws a bar to the right and one to the left, in both themes.
func TestRatios(t *testing.T) {
	r := Ratios{Title: "a & b", Axis: "times as long", Rows: []Ratio{{"first", "1 us", 4}, {"second", "2 us", 0.5}, {"third", "3 us", 1}}}
	for theme, ground := range map[Theme]string{Light: paper, Dark: Dark.color(paper)} {
		d := drawn(t, func(w io.Writer) error { return r.WriteSVG(w, theme) })
		for _, want := range []string{"a & b", "times as long", "first", "1 us", "second", "2 us", "third", "0.5", "1", "2"} {
			if d.texts[want] != 1 {
				t.Errorf("%q stands %d times in the drawing: %v", want, d.texts[want], d.texts)
			}
		}
		if !strings.Contains(d.svg, ground) || d.count["rect"] != 1+3 || strings.Count(d.svg, colors[1]) != 1 || strings.Count(d.svg, colors[0]) != 2 {
			t.Errorf("ground, rectangles or colours are wrong: %.400s", d.svg)
		}
		if theme == Dark && (strings.Contains(d.svg, paper) || strings.Contains(d.svg, ink)) {
			t.Error("the dark drawing has black or white of the light one")
		}
	}
	for _, bad := range []Ratios{{}, {Rows: []Ratio{{"a", "", 0}}}, {Rows: []Ratio{{"a", "", math.NaN()}}}} {
		var out bytes.Buffer
		if err := bad.WriteSVG(&out, Light); err == nil || out.Len() != 0 {
			t.Errorf("%+v was drawn", bad)
		}
	}
}
