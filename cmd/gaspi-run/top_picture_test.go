package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"testing"

	"github.com/gaspi-go/gaspi-go/internal/chart"
)

var drawTop = flag.String("draw-top", "", "a `FILE` for a picture of what top shows, such as docs/figures/top.svg")

// TestPictureOfTop draws what top shows of five ranks on a terminal of 80 columns.
func TestPictureOfTop(t *testing.T) {
	before, now := twoLooks()
	for i, clock := range []uint64{412, 409, 7} {
		now.Ranks[i].Clock = clock
	}
	const letter, line = 7.9, 19.0
	lines := frame(before, now, 80, 24)
	d := chart.NewDiagram("top", "gaspi-run top on a terminal of 80 columns", 80*letter+20, line*float64(len(lines))+16)
	for i, text := range lines {
		for _, at := range regexp.MustCompile(`\S+( \S+)*`).FindAllStringIndex(text, -1) {
			d.Word("code", 10+letter*float64(at[0]), 8+line*float64(i)+14, text[at[0]:at[1]])
		}
	}
	var b bytes.Buffer
	if err := d.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if *drawTop != "" {
		if err := os.WriteFile(*drawTop, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
