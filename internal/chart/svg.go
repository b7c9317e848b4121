package chart

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A point is a place in the drawing, y downwards.
type point struct{ x, y float64 }

// An svg is a drawing in the making.
type svg struct {
	b     strings.Builder
	theme Theme
}

// newSVG returns an empty drawing of so many points.
func newSVG(width, height float64, theme Theme) *svg {
	s := &svg{theme: theme}
	size := fmt.Sprintf(` width="%spt" height="%spt"`, number(width), number(height))
	if theme == inline {
		size = ""
	}
	// Fonts of the same widths, for readers who lack the first.
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg"%s viewBox="0 0 %s %s" font-family="'Liberation Sans',Arial,Helvetica,sans-serif" fill="%s">`+"\n",
		size, number(width), number(height), s.hue(ink))
	if theme != inline {
		s.rect(0, 0, width, height, paper)
	}
	return s
}

// write ends the drawing and writes it.
func (s *svg) write(w io.Writer) error {
	s.b.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.b.String())
	return err
}

// hue returns a colour, or the one that stands for it in the theme.
func (s *svg) hue(color string) string {
	if own := s.theme.color(color); own != "" {
		return own
	}
	return color
}

// text writes text of a size, of which (x, y) is the start, middle or end of the base line.
func (s *svg) text(x, y float64, anchor string, size float64, text string) {
	s.words(text, fmt.Sprintf(`x="%s" y="%s" text-anchor="%s" font-size="%s"`, number(x), number(y), anchor, number(size)))
}

// rotated writes text upwards, centred on y.
func (s *svg) rotated(x, y, size float64, text string) {
	s.words(text, fmt.Sprintf(`transform="translate(%s,%s) rotate(-90)" text-anchor="middle" font-size="%s"`, number(x), number(y), number(size)))
}

func (s *svg) words(text, attributes string) {
	if text != "" {
		fmt.Fprintf(&s.b, "<text %s>%s</text>\n", attributes, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text))
	}
}

// outline writes the places of a path.
func (s *svg) outline(points []point) {
	s.b.WriteString(`<path d="M`)
	for i, p := range points {
		if i > 0 {
			s.b.WriteByte('L')
		}
		s.b.WriteString(number(p.x) + "," + number(p.y))
	}
}

// line draws a line through points; one of less than two points is not drawn.
func (s *svg) line(points []point, look stroke) {
	if len(points) < 2 {
		return
	}
	s.outline(points)
	fmt.Fprintf(&s.b, `" fill="none" stroke="%s" stroke-width="%s"`, s.hue(look.color), number(look.width))
	if look.dashes != "" {
		fmt.Fprintf(&s.b, ` stroke-dasharray="%s"`, look.dashes)
	}
	s.b.WriteString("/>\n")
}

// area fills a polygon so that shapes behind it can be seen. Its name is a class.
func (s *svg) area(name string, points []point, color string) {
	s.outline(points)
	fmt.Fprintf(&s.b, `Z" class="%s" fill="%s" fill-opacity="0.18"/>`+"\n", name, s.hue(color))
}

// mark draws the mark of a point of a curve.
func (s *svg) mark(at point, l look) {
	if l.shape == noShape {
		return
	}
	if l.shape == 0 {
		fmt.Fprintf(&s.b, `<circle class="mark" cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", number(at.x), number(at.y), number(dotRadius), l.color)
		return
	}
	var around []point
	for _, p := range shapes[l.shape] {
		around = append(around, point{at.x + dotRadius*p.x, at.y + dotRadius*p.y})
	}
	s.outline(around)
	fmt.Fprintf(&s.b, `Z" class="mark" fill="%s"/>`+"\n", l.color)
}

// sample draws a piece of a curve of a look, from x to the right, as legends show it.
func (s *svg) sample(x, y float64, l look) {
	s.line([]point{{x, y}, {x + legendMark, y}}, l.stroke)
	s.mark(point{x + legendMark/2, y}, l)
}

func (s *svg) rect(x, y, width, height float64, color string) {
	fmt.Fprintf(&s.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", number(x), number(y), number(width), number(height), s.hue(color))
}

// number writes a coordinate to a hundredth of a point.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
