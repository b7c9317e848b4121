package chart

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
)

// Script makes the charts of WriteHTML answer: a click on a name hides its curve, a pointer
// reads the value that is nearest. A page has it once, in a script element at its end. It
// needs no other code and no network.
//
//go:embed chart.js
var Script string

// Style lays the charts of WriteHTML out, for pages of any width, in the variables --text,
// --soft, --card and --line of the page.
//
//go:embed chart.css
var Style string

// A reading is a point of a curve for the script: where it is, in units of the drawing, and
// the text that is shown there.
type reading struct {
	x, y float64
	text string
}

// MarshalJSON writes a reading as an array of its three parts.
func (r reading) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{json.Number(number(r.x)), json.Number(number(r.y)), r.text})
}

// readingsOf are the points of a curve.
type readingsOf struct {
	Name   string    `json:"name"`
	Points []reading `json:"points"`
}

// pageWidth is the width of a panel of a page in points, so narrow that its text can be read on a phone, which
// shows one point as about 1.2 of its own.
const pageWidth = 300

// WriteHTML writes the chart as part of a page that is light or dark: a figure for each panel,
// with a legend of buttons for the curves that have points, a line that shows a value, and the data
// for Script. A line at the end names panels without a point. The title is left to the page. Errors are those of
// WriteSVG.
func (c Chart) WriteHTML(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	looks := c.looks()
	var b bytes.Buffer
	b.WriteString("<div class=\"chart\">\n")
	var lacking []string
	for _, p := range c.Panels {
		if !p.drawable() {
			lacking = append(lacking, p.Title)
			continue
		}
		if err := p.writeHTML(&b, looks); err != nil {
			return err
		}
	}
	b.WriteString("</div>\n")
	if len(lacking) > 0 {
		fmt.Fprintf(&b, "<p class=\"lacking\">Not measured: %s</p>\n", html.EscapeString(strings.Join(lacking, "; ")))
	}
	_, err := b.WriteTo(w)
	return err
}

func (p Panel) writeHTML(w *bytes.Buffer, looks map[string]look) error {
	axes := p.axes()
	area := panelBox(axes[1].room(), pageWidth-max(margin, axes[0].over()+1), 0, axes)
	s := newSVG(pageWidth, panelHeight, inline)
	p.draw(s, area, looks)
	w.WriteString("<figure class=\"panel\">\n")
	if err := s.write(w); err != nil {
		return err
	}
	w.WriteString("<figcaption>")
	for i, c := range p.Curves {
		if len(p.points(c)) == 0 {
			continue
		}
		sample := newSVG(legendMark, labelSize, inline)
		sample.sample(0, labelSize/2, looks[c.Name])
		fmt.Fprintf(w, `<button type="button" class="key" data-curve="%d" aria-pressed="true">`, i)
		if err := sample.write(w); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s</button>\n", html.EscapeString(c.Name))
	}
	data, err := json.Marshal(p.readings(area)) // which escapes <, > and &
	if err != nil {
		return fmt.Errorf("the data of panel %q: %w", p.Title, err)
	}
	fmt.Fprintf(w, "</figcaption>\n<output class=\"value\"></output>\n<script type=\"application/json\">%s</script>\n</figure>\n", data)
	return nil
}

// readings returns the points of all curves as the script shows them.
func (p Panel) readings(b box) []readingsOf {
	all := make([]readingsOf, len(p.Curves))
	for i, c := range p.Curves {
		all[i] = readingsOf{Name: c.Name, Points: []reading{}}
		for _, k := range p.points(c) {
			text := fmt.Sprintf("%s %s, %s %s", p.XLabel, p.showX(c.X[k]), p.YLabel, showValue(c.Y[k]))
			if p.hasBand(c, k) {
				text += fmt.Sprintf(" (rounds: %s to %s)", showValue(c.Low[k]), showValue(c.High[k]))
			}
			all[i].Points = append(all[i].Points, reading{b.x(c.X[k]), b.y(c.Y[k]), text})
		}
	}
	return all
}

func (p Panel) showX(x float64) string {
	if p.XBytes {
		return compactBytes(x)
	}
	return showValue(x)
}

// showValue writes a number with four digits, or all those before the point.
func showValue(x float64) string {
	if x >= 1000 || x <= -1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
