package chart

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A point is a place in the drawing, y downwards.
type point struct{ x, y float64 }

// A stroke is how a line looks.
type stroke struct {
	color  string
	width  float64
	dashes string // as SVG writes them; empty for none
}

// Colours that a drawing for a page takes from the page.
const (
	ink        = "#000000"
	gridColor  = "#DDDDDD"
	levelColor = "#6E6E6E"
)

var axisStroke = stroke{color: ink, width: 0.7}

// strokeOf returns the look of the i-th curve. Hue, lightness and dashes all differ, so
// that curves can be told apart in print and by readers who do not see some colours. The
// palette of Okabe and Ito is used, without the colours that cannot be seen on black or on
// white.
func strokeOf(i int) stroke {
	looks := []stroke{
		{color: "#0072B2"},
		{color: "#D55E00", dashes: "7,2.5"},
		{color: "#009E73", dashes: "3,2"},
		{color: "#CC79A7", dashes: "8,2,2,2"},
		{color: "#E69F00", dashes: "1.5,1.5"},
		{color: "#56B4E9", dashes: "10,3,2,3,2,3"},
		{color: "#828282"},
	}
	look := looks[i%len(looks)]
	look.width = lineWidth
	return look
}

// An svg is a drawing in the making.
type svg struct {
	b      strings.Builder
	inline bool
}

// newSVG returns an empty drawing of so many points.
func newSVG(width, height float64, inline bool) *svg {
	s := &svg{inline: inline}
	size := fmt.Sprintf(` width="%spt" height="%spt"`, number(width), number(height))
	if inline {
		size = ""
	}
	// Fonts of the same widths, for readers who lack the first.
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg"%s viewBox="0 0 %s %s" font-family="'Liberation Sans',Arial,Helvetica,sans-serif" fill="%s">`+"\n",
		size, number(width), number(height), s.hue(ink))
	if !inline {
		s.rect(0, 0, width, height, "#FFFFFF")
	}
	return s
}

// write ends the drawing and writes it.
func (s *svg) write(w io.Writer) error {
	s.b.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.b.String())
	return err
}

// hue returns a colour, or what stands for it on a page.
func (s *svg) hue(color string) string {
	switch {
	case s.inline && color == ink:
		return "currentColor"
	case s.inline && color == gridColor:
		return "#8888884d"
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

// line draws a line through points; one of less than two points is not drawn.
func (s *svg) line(points []point, look stroke) {
	if len(points) < 2 {
		return
	}
	s.b.WriteString(`<path d="M`)
	for i, p := range points {
		if i > 0 {
			s.b.WriteByte('L')
		}
		s.b.WriteString(number(p.x) + "," + number(p.y))
	}
	fmt.Fprintf(&s.b, `" fill="none" stroke="%s" stroke-width="%s"`, s.hue(look.color), number(look.width))
	if look.dashes != "" {
		fmt.Fprintf(&s.b, ` stroke-dasharray="%s"`, look.dashes)
	}
	s.b.WriteString("/>\n")
}

func (s *svg) dot(at point, color string) {
	fmt.Fprintf(&s.b, `<circle cx="%s" cy="%s" r="%s" fill="%s"/>`+"\n", number(at.x), number(at.y), number(dotRadius), color)
}

func (s *svg) rect(x, y, width, height float64, color string) {
	fmt.Fprintf(&s.b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n", number(x), number(y), number(width), number(height), color)
}

// number writes a coordinate to a hundredth of a point.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// widths are the widths, in thousandths of the font size, of the characters from the space to
// the tilde in Helvetica, Liberation Sans and Arial.
var widths = [...]uint16{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// textWidth returns how much room text needs, in points: its width in Helvetica and an
// eighth, since a reader who lacks all three fonts gets a wider one. Characters beyond
// ASCII count as a digit.
func textWidth(text string, size float64) float64 {
	sum := 0
	for _, r := range text {
		if i := int(r) - ' '; i >= 0 && i < len(widths) {
			sum += int(widths[i])
		} else {
			sum += 556
		}
	}
	return 1.125 * float64(sum) * size / 1000
}
