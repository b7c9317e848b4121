package chart

import (
	"bytes"
	"strings"
	"testing"
)

// TestDiagram draws every kind of shape, with a text that needs escaping.
func TestDiagram(t *testing.T) {
	d := NewDiagram("d", "a & b", 400, 100)
	d.Box("hot", 10, 10, 50, 20)
	d.Line("line", 0, 50, 100, 50)
	d.Arrow(10, 60, 100, 60)
	d.Word("", 10, 90, "left <")
	d.Middle("soft", 200, 90, "middle")
	d.Last("code", 390, 90, "right")
	got := drawn(t, d.WriteSVG)
	for _, want := range []string{"left <", "middle", "right"} {
		if got.texts[want] != 1 {
			t.Errorf("%q is there %d times", want, got.texts[want])
		}
	}
	if got.count["rect"] != 2 || got.count["path"] != 3 || !strings.Contains(got.svg, "prefers-color-scheme:dark") {
		t.Errorf("%d rectangles, %d paths: %s", got.count["rect"], got.count["path"], got.svg)
	}
}

func TestDiagramRefuses(t *testing.T) {
	for want, words := range map[string][][2]any{
		`d: "two" overlaps "one"`: {{10.0, "one"}, {12.0, "two"}}, `d: "far" leaves the drawing`: {{95.0, "far"}},
	} {
		d := NewDiagram("d", "", 100, 50)
		for _, w := range words {
			d.Word("", w[0].(float64), 30, w[1].(string))
		}
		var out bytes.Buffer
		if err := d.WriteSVG(&out); err == nil || !strings.Contains(err.Error(), want) || out.Len() != 0 {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
