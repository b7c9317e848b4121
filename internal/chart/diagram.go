package chart

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// diagramStyle has the classes of shapes and texts, with colours for light and for dark screens.
const diagramStyle = `
.back{fill:#fff}.box{fill:#f3f5f8;stroke:#8a94a1}.cell{fill:#fff;stroke:#8a94a1}.hot{fill:#dbeafb;stroke:#0b5cad}
.open{fill:none;stroke:#8a94a1;stroke-dasharray:5 4}.line{stroke:#8a94a1;fill:none}.way{stroke:#0b5cad;fill:none}
.head{fill:#0b5cad}text{fill:#1d2127;font:14px system-ui,"Liberation Sans","DejaVu Sans",Arial,sans-serif}
.soft{fill:#5b6470}.code{font:13px ui-monospace,"Liberation Mono","DejaVu Sans Mono",monospace}
@media(prefers-color-scheme:dark){
.back{fill:#14171b}.box{fill:#1f242b;stroke:#77818e}.cell{fill:#14171b;stroke:#77818e}.hot{fill:#17344f;stroke:#7db6f2}
.open,.line{stroke:#77818e}.way{stroke:#7db6f2}.head{fill:#7db6f2}text{fill:#e4e7eb}.soft{fill:#a3adb9}}
`

// Widths of a letter, estimated, and the height of a line above and below its base.
const (
	letterWidth     = 7.7
	codeLetterWidth = 7.9
	aboveBase       = 12.0
	belowBase       = 4.0
)

// A caption is a text of a diagram with the room that it takes.
type caption struct {
	text                     string
	left, right, top, bottom float64
}

// A Diagram is boxes, lines and texts at places that its maker chose, in points. Shapes have a
// class of the style: back, box, cell, hot, open, line or way; texts have none, soft or code.
type Diagram struct {
	Name, Title   string
	width, height float64
	shapes        strings.Builder
	texts         []caption
}

// NewDiagram returns an empty diagram of a size.
func NewDiagram(name, title string, width, height float64) *Diagram {
	return &Diagram{Name: name, Title: title, width: width, height: height}
}

// Box draws a rectangle of a class.
func (d *Diagram) Box(class string, x, y, width, height float64) {
	fmt.Fprintf(&d.shapes, "<rect class=%q x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"3\"/>\n", class, x, y, width, height)
}

// Line draws a line of a class.
func (d *Diagram) Line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&d.shapes, "<path class=%q d=\"M%g %gL%g %g\"/>\n", class, x1, y1, x2, y2)
}

// Arrow draws a line with a head at its end.
func (d *Diagram) Arrow(x1, y1, x2, y2 float64) {
	const length, half = 9, 4
	d.Line("way", x1, y1, x2, y2)
	far := math.Hypot(x2-x1, y2-y1)
	dx, dy := (x2-x1)/far, (y2-y1)/far
	round := func(x float64) float64 { return math.Round(10*x) / 10 }
	fmt.Fprintf(&d.shapes, "<path class=\"head\" d=\"M%g %gL%g %gL%g %gZ\"/>\n", x2, y2,
		round(x2-length*dx-half*dy), round(y2-length*dy+half*dx), round(x2-length*dx+half*dy), round(y2-length*dy-half*dx))
}

// Word writes a text whose base begins at a point, with a class or none.
func (d *Diagram) Word(class string, x, y float64, text string) { d.write(class, "start", x, y, text) }

// Middle writes a text around a point.
func (d *Diagram) Middle(class string, x, y float64, text string) {
	d.write(class, "middle", x, y, text)
}

// Last writes a text that ends at a point.
func (d *Diagram) Last(class string, x, y float64, text string) { d.write(class, "end", x, y, text) }

func (d *Diagram) write(class, anchor string, x, y float64, text string) {
	wide := letterWidth * float64(len([]rune(text)))
	if class == "code" {
		wide = codeLetterWidth * float64(len([]rune(text)))
	}
	left := map[string]float64{"start": x, "middle": x - wide/2, "end": x - wide}[anchor]
	d.texts = append(d.texts, caption{text, left, left + wide, y - aboveBase, y + belowBase})
	fmt.Fprintf(&d.shapes, "<text class=%q x=\"%g\" y=\"%g\" text-anchor=%q>%s</text>\n", class, x, y, anchor, html.EscapeString(text))
}

// WriteSVG draws the diagram. It returns an error, and writes nothing, if a text leaves the
// diagram, or if two overlap by the estimated width of their letters.
func (d *Diagram) WriteSVG(w io.Writer) error {
	for i, p := range d.texts {
		if p.left < 0 || p.right > d.width || p.top < 0 || p.bottom > d.height {
			return fmt.Errorf("%s: %q leaves the drawing: %v", d.Name, p.text, p)
		}
		for _, o := range d.texts[:i] {
			if p.left < o.right && o.left < p.right && p.top < o.bottom && o.top < p.bottom {
				return fmt.Errorf("%s: %q overlaps %q", d.Name, p.text, o.text)
			}
		}
	}
	_, err := fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" role=\"img\">\n"+
		"<title>%s</title>\n<style>%s</style>\n<rect class=\"back\" width=\"%g\" height=\"%g\"/>\n%s</svg>\n",
		d.width, d.height, d.width, d.height, html.EscapeString(d.Title), diagramStyle, d.width, d.height, d.shapes.String())
	return err
}
