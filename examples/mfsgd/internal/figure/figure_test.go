package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

// decay is a curve of n iterations that falls from 1 to 0.7.
func decay(name string, n int, perIteration float64) Curve {
	c := Curve{Name: name}
	for i := range n {
		c.Seconds = append(c.Seconds, perIteration*float64(i+1))
		c.RMSE = append(c.RMSE, 0.7+0.3*math.Exp(-4*float64(i)/float64(n)))
	}
	return c
}

// render draws a figure and returns its text elements and its number of paths,
// having checked that it is well-formed XML.
func render(t *testing.T, f Figure) (svg []byte, texts []string, paths int) {
	t.Helper()
	var out bytes.Buffer
	if err := f.WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), texts, paths
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inText = x.Name.Local == "text"
			if x.Name.Local == "path" {
				paths++
			}
		case xml.CharData:
			if s := strings.TrimSpace(string(x)); inText && s != "" {
				texts = append(texts, s)
			}
		}
	}
}

// TestWriteSVG looks for everything that a reader needs: title, axes with units,
// and a legend entry per curve in each panel. With SVG_OUT set it keeps the file
// for the eye.
func TestWriteSVG(t *testing.T) {
	f := Figure{
		Title:  "8 ranks <&> jitter",
		Target: 0.75,
		Curves: []Curve{decay("slack 0", 120, 0.06), decay("slack 2", 124, 0.045), decay("slack 32", 140, 0.03)},
	}
	svg, texts, _ := render(t, f)
	if path := os.Getenv("SVG_OUT"); path != "" {
		if err := os.WriteFile(path, svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	count := make(map[string]int)
	for _, s := range texts {
		count[s]++
	}
	for text, want := range map[string]int{
		f.Title: 1, "time (s)": 2, "held-out RMSE (stars)": 1, "iterations": 1, "slack 0": 2, "slack 2": 2, "slack 32": 2,
	} {
		if count[text] != want {
			t.Errorf("%q appears %d times, want %d; texts: %q", text, count[text], want, texts)
		}
	}
	if bytes.Contains(svg, []byte("font-family:Liberation Sans;")) || !bytes.Contains(svg, []byte("sans-serif")) {
		t.Error("no fallback for the font")
	}
}

// TestWriteSVGOddData draws what real runs may leave behind.
func TestWriteSVGOddData(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		name   string
		curves []Curve
	}{
		{"one iteration", []Curve{decay("a", 1, 1)}},
		{"a constant error", []Curve{{Name: "a", Seconds: []float64{1, 2}, RMSE: []float64{1, 1}}}},
		{"an unknown error", []Curve{{Name: "a", Seconds: []float64{1, 2, 3}, RMSE: []float64{nan, 1, math.Inf(1)}}}},
		{"one empty curve", []Curve{{Name: "a"}, decay("b", 5, 1)}},
		{"very many iterations", []Curve{decay("a", 100_000, 0.001)}},
		{"more curves than looks", []Curve{
			decay("1", 9, 1), decay("2", 9, 2), decay("3", 9, 3), decay("4", 9, 4), decay("5", 9, 5), decay("6", 9, 6), decay("7", 9, 7)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			svg, _, paths := render(t, Figure{Title: tt.name, Curves: tt.curves})
			if paths == 0 {
				t.Error("nothing is drawn")
			}
			if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
				t.Error("the drawing contains numbers that are none")
			}
			if len(svg) > 200<<10 {
				t.Errorf("the drawing has %d bytes", len(svg))
			}
		})
	}
}

// TestTicks labels axes of many lengths with few, round, distinct numbers.
func TestTicks(t *testing.T) {
	tests := []struct {
		low, high float64
		want      string
	}{
		{0, 7.2, "0 1 2 3 4 5 6 7"},
		{0, 6, "0 1 2 3 4 5 6"},
		{0, 144, "0 20 40 60 80 100 120 140"},
		{0, 0.004, "0.0000 0.0005 0.0010 0.0015 0.0020 0.0025 0.0030 0.0035 0.0040"},
		{0.69, 1.01, "0.70 0.75 0.80 0.85 0.90 0.95 1.00"},
		{0.74, 0.81, "0.74 0.75 0.76 0.77 0.78 0.79 0.80 0.81"},
		{0, 123456, "0 20000 40000 60000 80000 100000 120000"},
	}
	for _, tt := range tests {
		var got []string
		for _, m := range ticks(tt.low, tt.high) {
			got = append(got, m.Label)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("from %v to %v: %s, want %s", tt.low, tt.high, s, tt.want)
		}
	}
}

func TestWriteSVGRefuses(t *testing.T) {
	tests := []struct {
		name   string
		curves []Curve
		want   string
	}{
		{"nothing", nil, "no run has an iteration with a finite error to draw"},
		{"empty", []Curve{{Name: "a"}}, "no run has an iteration with a finite error to draw"},
		{"uneven", []Curve{{Name: "a", Seconds: []float64{1}}}, `curve "a" has 1 times and 0 errors`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Figure{Curves: tt.curves}.WriteSVG(&out)
			if fmt.Sprint(err) != tt.want || out.Len() != 0 {
				t.Errorf("error is %v and %d bytes were written; want %s and none", err, out.Len(), tt.want)
			}
		})
	}
}
