//go:build ignore

// Draw writes the drawings of docs/guide/img, which concepts.md shows, into a folder:
//
//	go run docs/guide/img/draw.go docs/guide/img
//
// A drawing is boxes, lines and texts at places that stand here. Its own style has colours for a
// light and for a dark screen. Texts that overlap by the estimated width of their letters, or leave
// the drawing, are an error.
package main

import (
	"fmt"
	"html"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run docs/guide/img/draw.go FOLDER")
	}
	for _, d := range []*drawing{segment(), write(), queue(), team(), clock(), chain()} {
		text, err := d.svg()
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], d.name+".svg"), []byte(text), 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// style has the classes of shapes and texts.
const style = `
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
	letter     = 7.7
	codeLetter = 7.9
	above      = 12.0
	below      = 4.0
)

// A caption is a text with the room that it takes.
type caption struct {
	text                     string
	left, right, top, bottom float64
}

// A drawing is an SVG in the making.
type drawing struct {
	name, title   string
	width, height float64
	shapes        strings.Builder
	texts         []caption
}

func newDrawing(name, title string, width, height float64) *drawing {
	return &drawing{name: name, title: title, width: width, height: height}
}

// box draws a rectangle of a class.
func (d *drawing) box(class string, x, y, width, height float64) {
	fmt.Fprintf(&d.shapes, "<rect class=%q x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"3\"/>\n", class, x, y, width, height)
}

// line draws a line of a class.
func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&d.shapes, "<path class=%q d=\"M%g %gL%g %g\"/>\n", class, x1, y1, x2, y2)
}

// arrow draws a line with a head at its end.
func (d *drawing) arrow(x1, y1, x2, y2 float64) {
	const length, half = 9, 4
	d.line("way", x1, y1, x2, y2)
	far := math.Hypot(x2-x1, y2-y1)
	dx, dy := (x2-x1)/far, (y2-y1)/far
	round := func(x float64) float64 { return math.Round(10*x) / 10 }
	fmt.Fprintf(&d.shapes, "<path class=\"head\" d=\"M%g %gL%g %gL%g %gZ\"/>\n", x2, y2,
		round(x2-length*dx-half*dy), round(y2-length*dy+half*dx), round(x2-length*dx+half*dy), round(y2-length*dy-half*dx))
}

// word writes a text whose base begins at a point, with a class or none.
func (d *drawing) word(class string, x, y float64, text string) { d.write(class, "start", x, y, text) }

// middle writes a text around a point.
func (d *drawing) middle(class string, x, y float64, text string) {
	d.write(class, "middle", x, y, text)
}

// last writes a text that ends at a point.
func (d *drawing) last(class string, x, y float64, text string) { d.write(class, "end", x, y, text) }

func (d *drawing) write(class, anchor string, x, y float64, text string) {
	wide := letter * float64(len([]rune(text)))
	if class == "code" {
		wide = codeLetter * float64(len([]rune(text)))
	}
	left := map[string]float64{"start": x, "middle": x - wide/2, "end": x - wide}[anchor]
	d.texts = append(d.texts, caption{text, left, left + wide, y - above, y + below})
	fmt.Fprintf(&d.shapes, "<text class=%q x=\"%g\" y=\"%g\" text-anchor=%q>%s</text>\n", class, x, y, anchor, html.EscapeString(text))
}

// svg is the file, or an error that names texts that overlap.
func (d *drawing) svg() (string, error) {
	for i, p := range d.texts {
		if p.left < 0 || p.right > d.width || p.top < 0 || p.bottom > d.height {
			return "", fmt.Errorf("%s: %q leaves the drawing: %v", d.name, p.text, p)
		}
		for _, o := range d.texts[:i] {
			if p.left < o.right && o.left < p.right && p.top < o.bottom && o.top < p.bottom {
				return "", fmt.Errorf("%s: %q overlaps %q", d.name, p.text, o.text)
			}
		}
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" role=\"img\">\n"+
		"<title>%s</title>\n<style>%s</style>\n<rect class=\"back\" width=\"%g\" height=\"%g\"/>\n%s</svg>\n",
		d.width, d.height, d.width, d.height, html.EscapeString(d.title), style, d.width, d.height, d.shapes.String()), nil
}

// segment is the memory of three ranks, two of which write into that of the third.
func segment() *drawing {
	d := newDrawing("segment", "Segment 0 of three ranks", 740, 290)
	for i, x := range []float64{20, 285, 550} {
		d.middle("", x+85, 24, fmt.Sprintf("rank %d", i))
		d.box("box", x, 34, 170, 190)
		d.word("soft", x+10, 54, "segment 0")
		d.box("cell", x+10, 64, 150, 92)
		d.word("soft", x+18, 82, "data")
		d.box("cell", x+10, 168, 150, 46)
		d.word("soft", x+18, 186, "notifications")
		d.word("code", x+18, 206, "id 0, 1, 2 ...")
	}
	cell := func(x float64, value, offset string) {
		d.box("hot", x, 92, 66, 28)
		d.middle("code", x+33, 111, value)
		d.middle("soft", x+33, 140, offset)
	}
	cell(36, "42", "0 to 7")
	cell(302, "42", "64 to 71")
	cell(371, "43", "72 to 79")
	cell(632, "43", "0 to 7")
	d.arrow(102, 106, 300, 106)
	d.arrow(632, 106, 439, 106)
	d.middle("code", 237, 98, "At(1, 64)")
	d.middle("code", 502, 98, "At(1, 72)")
	d.word("", 20, 250, "Rank 0 names its own bytes by")
	d.word("code", 270, 250, "seg.Span(0, 8)")
	d.word("", 20, 274, "and those of rank 1 by")
	d.word("code", 270, 274, "seg.At(1, 64)")
	d.word("soft", 400, 274, "= rank 1, segment 0, offset 64")
	return d
}

// write is the order of a write and its notification.
func write() *drawing {
	d := newDrawing("write", "A write with a notification, in the order of time", 740, 290)
	const left, right = 180, 460
	for i, x := range []float64{left, right} {
		d.middle("", x, 24, fmt.Sprintf("rank %d", i))
		d.line("line", x, 34, x, 276)
	}
	d.last("code", left-12, 62, "q.WriteNotify")
	d.arrow(left, 70, right, 84)
	d.middle("", 320, 64, "1. the bytes: 42")
	d.word("", right+12, 88, "42 is in its memory")
	d.arrow(left, 116, right, 130)
	d.middle("", 320, 110, "2. notification 7")
	d.word("", right+12, 134, "notification 7 is 1")
	d.last("", left-12, 134, "goes on computing")
	d.word("code", right+12, 178, "3. seg.WaitSome returns")
	d.word("soft", right+12, 198, "the 1 is seen, so the 42 is there")
	d.word("code", right+12, 238, "4. seg.Reset")
	d.word("soft", right+12, 258, "reads 1 and leaves 0")
	d.last("code", left-12, 238, "q.Wait returns")
	d.last("soft", left-12, 258, "source may change")
	return d
}

// queue is the time for which an operation holds what.
func queue() *drawing {
	d := newDrawing("queue", "The life of a queue entry", 740, 250)
	const posted, waited, flushed = 160, 470, 640
	d.middle("code", posted, 28, "q.Write")
	d.middle("code", waited, 28, "q.Wait returns")
	d.middle("code", flushed, 28, "q.Flush returns")
	d.word("", 20, 77, "queue entry")
	d.box("hot", posted, 60, waited-posted, 26)
	d.middle("", (posted+waited)/2, 78, "taken")
	d.word("soft", waited+10, 78, "free again")
	d.word("", 20, 117, "source")
	d.box("hot", posted, 100, waited-posted, 26)
	d.middle("", (posted+waited)/2, 118, "borrowed: do not change it")
	d.word("soft", waited+10, 118, "may be changed")
	d.word("", 20, 157, "bytes at target")
	d.box("open", posted, 140, flushed-posted, 26)
	d.middle("", (posted+waited)/2, 158, "arrive some time")
	d.word("soft", flushed+10, 158, "are there")
	for _, x := range []float64{posted, waited, flushed} {
		d.line("line", x, 38, x, 176)
	}
	d.arrow(posted, 196, 720, 196)
	d.last("soft", posted-10, 200, "time")
	d.word("code", 20, 234, "ErrQueueFull")
	d.word("soft", 130, 234, "no entry is free: q.Write returns it, and nothing is written")
	return d
}

// team is a group, a smaller one, and its team.
func team() *drawing {
	d := newDrawing("team", "Groups and a team", 740, 300)
	column := func(rank int) float64 { return 200 + 56*float64(rank) }
	row := func(y float64, class string, ranks ...int) {
		for i, r := range ranks {
			text := fmt.Sprint(r)
			if class == "hot" {
				text = fmt.Sprint(i)
			}
			d.box(class, column(r), y, 40, 30)
			d.middle("code", column(r)+20, y+20, text)
		}
	}
	for i, text := range []string{"p.World()", "g", "team"} {
		d.word("code", 20, 44+104*float64(i), text)
		d.word("soft", 20, 64+104*float64(i), []string{"group of all ranks", "group of some ranks", "g with memory"}[i])
		d.box("open", 190, 24+104*float64(i), 340, 50)
	}
	row(34, "cell", 0, 1, 2, 3, 4, 5)
	row(138, "cell", 0, 2, 4)
	row(242, "hot", 0, 2, 4)
	for _, r := range []int{0, 2, 4} {
		d.arrow(column(r)+20, 74, column(r)+20, 128)
		d.arrow(column(r)+20, 178, column(r)+20, 232)
	}
	d.word("code", 545, 106, "Subgroup, Dup, Shrink")
	d.word("code", 545, 210, "collectives.NewTeam")
	d.word("soft", 545, 250, "its own numbers,")
	d.word("soft", 545, 268, "memory, queue and")
	d.word("soft", 545, 286, "notifications")
	return d
}

// clock is a stale-synchronous reduction with slack 2, at call 7 of rank 0.
func clock() *drawing {
	d := newDrawing("clock", "Rank 0 makes call 7 with slack 2", 740, 230)
	column := func(call int) float64 { return 50 + 52*float64(call) }
	d.middle("soft", column(3)+21, 24, "too old for call 7")
	d.middle("soft", column(6)+21, 24, "slack 2: new enough")
	d.line("line", column(5)-5, 12, column(5)-5, 186)
	for rank, calls := range []int{7, 5, 4} {
		y := 40 + 50*float64(rank)
		d.word("", 20, y+22, fmt.Sprintf("rank %d", rank))
		for call := 1; call <= calls; call++ {
			class := "cell"
			if call == calls && call >= 5 {
				class = "hot"
			}
			d.box(class, column(call), y, 42, 32)
			d.middle("code", column(call)+21, y+21, fmt.Sprint(call))
		}
	}
	d.box("open", column(5), 140, 42, 32)
	d.middle("code", column(5)+21, 161, "5")
	d.word("", 480, 62, "contributes call 7")
	d.word("", 480, 112, "call 5 is used: no wait")
	d.word("", 480, 162, "rank 0 waits for its call 5")
	d.word("code", 102, 212, "result.Oldest = 5, result.Newest = 7")
	return d
}

// chain is an object on its way from store to store.
func chain() *drawing {
	d := newDrawing("chain", "An object moves along a chain of ranks", 740, 190)
	const pieces = 8
	for i, has := range []int{8, 5, 2} {
		x := 20 + 265*float64(i)
		d.word("", x, 24, fmt.Sprintf("rank %d", i))
		d.word("code", x+60, 24, []string{"Put", "Get", "Get"}[i])
		d.box("box", x, 36, 170, 60)
		for piece := range pieces {
			class := "open"
			if piece < has {
				class = "hot"
			}
			d.box(class, x+9+19.2*float64(piece), 54, 16, 24)
		}
		if i > 0 {
			d.arrow(x-93, 66, x-4, 66)
			d.middle("soft", x-48, 58, "pieces")
		}
		d.word("soft", x, 118, []string{"has all pieces", "has some, and", "is the end of the"}[i])
		d.word("soft", x, 136, []string{"and sends to one rank", "passes them on", "chain: the next Get"}[i])
	}
	d.word("soft", 550, 154, "is put behind it")
	return d
}
