//go:build ignore

// Draw writes the drawings of docs/guide/img, which concepts.md shows, into a folder:
//
//	go run docs/guide/img/draw.go docs/guide/img
//
// A drawing is boxes, lines and texts at places that stand here.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gaspi-go/gaspi-go/internal/chart"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run docs/guide/img/draw.go FOLDER")
	}
	for _, d := range []*chart.Diagram{segment(), write(), queue(), team(), clock(), chain()} {
		var b bytes.Buffer
		err := d.WriteSVG(&b)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], d.Name+".svg"), b.Bytes(), 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// segment is the memory of three ranks, two of which write into that of the third.
func segment() *chart.Diagram {
	d := chart.NewDiagram("segment", "Segment 0 of three ranks", 740, 290)
	for i, x := range []float64{20, 285, 550} {
		d.Middle("", x+85, 24, fmt.Sprintf("rank %d", i))
		d.Box("box", x, 34, 170, 190)
		d.Word("soft", x+10, 54, "segment 0")
		d.Box("cell", x+10, 64, 150, 92)
		d.Word("soft", x+18, 82, "data")
		d.Box("cell", x+10, 168, 150, 46)
		d.Word("soft", x+18, 186, "notifications")
		d.Word("code", x+18, 206, "id 0, 1, 2 ...")
	}
	cell := func(x float64, value, offset string) {
		d.Box("hot", x, 92, 66, 28)
		d.Middle("code", x+33, 111, value)
		d.Middle("soft", x+33, 140, offset)
	}
	cell(36, "42", "0 to 7")
	cell(302, "42", "64 to 71")
	cell(371, "43", "72 to 79")
	cell(632, "43", "0 to 7")
	d.Arrow(102, 106, 300, 106)
	d.Arrow(632, 106, 439, 106)
	d.Middle("code", 237, 98, "At(1, 64)")
	d.Middle("code", 502, 98, "At(1, 72)")
	d.Word("", 20, 250, "Rank 0 names its own bytes by")
	d.Word("code", 270, 250, "seg.Span(0, 8)")
	d.Word("", 20, 274, "and those of rank 1 by")
	d.Word("code", 270, 274, "seg.At(1, 64)")
	d.Word("soft", 400, 274, "= rank 1, segment 0, offset 64")
	return d
}

// write is the order of a write and its notification.
func write() *chart.Diagram {
	d := chart.NewDiagram("write", "A write with a notification, in the order of time", 740, 290)
	const left, right = 180, 460
	for i, x := range []float64{left, right} {
		d.Middle("", x, 24, fmt.Sprintf("rank %d", i))
		d.Line("line", x, 34, x, 276)
	}
	d.Last("code", left-12, 62, "q.WriteNotify")
	d.Arrow(left, 70, right, 84)
	d.Middle("", 320, 64, "1. the bytes: 42")
	d.Word("", right+12, 88, "42 is in its memory")
	d.Arrow(left, 116, right, 130)
	d.Middle("", 320, 110, "2. notification 7")
	d.Word("", right+12, 134, "notification 7 is 1")
	d.Last("", left-12, 134, "goes on computing")
	d.Word("code", right+12, 178, "3. seg.WaitSome returns")
	d.Word("soft", right+12, 198, "the 1 is seen, so the 42 is there")
	d.Word("code", right+12, 238, "4. seg.Reset")
	d.Word("soft", right+12, 258, "reads 1 and leaves 0")
	d.Last("code", left-12, 238, "q.Wait returns")
	d.Last("soft", left-12, 258, "source may change")
	return d
}

// queue is the time for which an operation holds what.
func queue() *chart.Diagram {
	d := chart.NewDiagram("queue", "The life of a queue entry", 740, 250)
	const posted, waited, flushed = 160, 470, 640
	d.Middle("code", posted, 28, "q.Write")
	d.Middle("code", waited, 28, "q.Wait returns")
	d.Middle("code", flushed, 28, "q.Flush returns")
	d.Word("", 20, 77, "queue entry")
	d.Box("hot", posted, 60, waited-posted, 26)
	d.Middle("", (posted+waited)/2, 78, "taken")
	d.Word("soft", waited+10, 78, "free again")
	d.Word("", 20, 117, "source")
	d.Box("hot", posted, 100, waited-posted, 26)
	d.Middle("", (posted+waited)/2, 118, "borrowed: do not change it")
	d.Word("soft", waited+10, 118, "may be changed")
	d.Word("", 20, 157, "bytes at target")
	d.Box("open", posted, 140, flushed-posted, 26)
	d.Middle("", (posted+waited)/2, 158, "arrive some time")
	d.Word("soft", flushed+10, 158, "are there")
	for _, x := range []float64{posted, waited, flushed} {
		d.Line("line", x, 38, x, 176)
	}
	d.Arrow(posted, 196, 720, 196)
	d.Last("soft", posted-10, 200, "time")
	d.Word("code", 20, 234, "ErrQueueFull")
	d.Word("soft", 130, 234, "no entry is free: q.Write returns it, and nothing is written")
	return d
}

// team is a group, a smaller one, and its team.
func team() *chart.Diagram {
	d := chart.NewDiagram("team", "Groups and a team", 740, 300)
	column := func(rank int) float64 { return 200 + 56*float64(rank) }
	row := func(y float64, class string, ranks ...int) {
		for i, r := range ranks {
			text := fmt.Sprint(r)
			if class == "hot" {
				text = fmt.Sprint(i)
			}
			d.Box(class, column(r), y, 40, 30)
			d.Middle("code", column(r)+20, y+20, text)
		}
	}
	for i, text := range []string{"p.World()", "g", "team"} {
		d.Word("code", 20, 44+104*float64(i), text)
		d.Word("soft", 20, 64+104*float64(i), []string{"group of all ranks", "group of some ranks", "g with memory"}[i])
		d.Box("open", 190, 24+104*float64(i), 340, 50)
	}
	row(34, "cell", 0, 1, 2, 3, 4, 5)
	row(138, "cell", 0, 2, 4)
	row(242, "hot", 0, 2, 4)
	for _, r := range []int{0, 2, 4} {
		d.Arrow(column(r)+20, 74, column(r)+20, 128)
		d.Arrow(column(r)+20, 178, column(r)+20, 232)
	}
	d.Word("code", 545, 106, "Subgroup, Dup, Shrink")
	d.Word("code", 545, 210, "collectives.NewTeam")
	d.Word("soft", 545, 250, "its own numbers,")
	d.Word("soft", 545, 268, "memory, queue and")
	d.Word("soft", 545, 286, "notifications")
	return d
}

// clock is a stale-synchronous reduction with slack 2, at call 7 of rank 0.
func clock() *chart.Diagram {
	d := chart.NewDiagram("clock", "Rank 0 makes call 7 with slack 2", 740, 230)
	column := func(call int) float64 { return 50 + 52*float64(call) }
	d.Middle("soft", column(3)+21, 24, "too old for call 7")
	d.Middle("soft", column(6)+21, 24, "slack 2: new enough")
	d.Line("line", column(5)-5, 12, column(5)-5, 186)
	for rank, calls := range []int{7, 5, 4} {
		y := 40 + 50*float64(rank)
		d.Word("", 20, y+22, fmt.Sprintf("rank %d", rank))
		for call := 1; call <= calls; call++ {
			class := "cell"
			if call == calls && call >= 5 {
				class = "hot"
			}
			d.Box(class, column(call), y, 42, 32)
			d.Middle("code", column(call)+21, y+21, fmt.Sprint(call))
		}
	}
	d.Box("open", column(5), 140, 42, 32)
	d.Middle("code", column(5)+21, 161, "5")
	d.Word("", 480, 62, "contributes call 7")
	d.Word("", 480, 112, "call 5 is used: no wait")
	d.Word("", 480, 162, "rank 0 waits for its call 5")
	d.Word("code", 102, 212, "result.Oldest = 5, result.Newest = 7")
	return d
}

// chain is an object on its way from store to store.
func chain() *chart.Diagram {
	d := chart.NewDiagram("chain", "An object moves along a chain of ranks", 740, 190)
	const pieces = 8
	for i, has := range []int{8, 5, 2} {
		x := 20 + 265*float64(i)
		d.Word("", x, 24, fmt.Sprintf("rank %d", i))
		d.Word("code", x+60, 24, []string{"Put", "Get", "Get"}[i])
		d.Box("box", x, 36, 170, 60)
		for piece := range pieces {
			class := "open"
			if piece < has {
				class = "hot"
			}
			d.Box(class, x+9+19.2*float64(piece), 54, 16, 24)
		}
		if i > 0 {
			d.Arrow(x-93, 66, x-4, 66)
			d.Middle("soft", x-48, 58, "pieces")
		}
		d.Word("soft", x, 118, []string{"has all pieces", "has some, and", "is the end of the"}[i])
		d.Word("soft", x, 136, []string{"and sends to one rank", "passes them on", "chain: the next Get"}[i])
	}
	d.Word("soft", 550, 154, "is put behind it")
	return d
}
