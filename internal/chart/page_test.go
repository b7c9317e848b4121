package chart

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dataOf matches the data of the panels of a page.
var dataOf = regexp.MustCompile(`<script type="application/json">(.*)</script>`)

// sampleOfPage is two panels: one with a band, of which a name needs escaping, and a limit.
func sampleOfPage() Chart {
	return Chart{Title: "not on the page", Panels: []Panel{
		{Title: "8 ranks", XLabel: "length (bytes)", YLabel: "time (us)", XBytes: true, LogY: true, Curves: []Curve{
			{Name: "a </script> b", X: []float64{1024, 4096}, Y: []float64{10, 20}, Low: []float64{9, 20}, High: []float64{12.5, 20}},
			{Name: "links", Limit: true, X: []float64{1024, 4096}, Y: []float64{5, 6}},
		}},
		{Title: "9 ranks", Curves: []Curve{{Name: "links", Limit: true, X: []float64{1}, Y: []float64{1}}}},
	}}
}

// TestHTML: a panel is a figure with a button for each of its curves, in the order of its data,
// and all text is escaped.
func TestHTML(t *testing.T) {
	var b strings.Builder
	if err := sampleOfPage().WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for want, times := range map[string]int{
		"<figure class=\"panel\">": 2, "<button": 3, `aria-pressed="true"`: 3, "</script>": 2, "a &lt;/script&gt; b</button>": 1,
		`<g class="curve" data-curve="1">`: 2, `class="band"`: 1, "currentColor": 0, "<output": 2, "not on the page": 0, "#FFFFFF": 0, "<svg width": 0,
	} {
		got := strings.Count(page, want)
		if want == "currentColor" && got == 0 || want != "currentColor" && got != times {
			t.Errorf("%q is there %d times, want %d", want, got, times)
		}
	}
	if outside := regexp.MustCompile(`(src|href)=|url\(`).FindString(page); outside != "" {
		t.Errorf("the part of a page needs %s", outside)
	}
	for i, found := range dataOf.FindAllStringSubmatch(page, -1) {
		var curves []struct {
			Name   string
			Points [][]any
		}
		if err := json.Unmarshal([]byte(found[1]), &curves); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			continue
		}
		var texts []string
		for _, p := range curves[0].Points {
			texts = append(texts, fmt.Sprint(p[2]))
		}
		want := []string{"length (bytes) 1K, time (us) 10 (rounds: 9 to 12.5)", "length (bytes) 4K, time (us) 20"}
		if d := cmp.Diff(want, texts); d != "" || curves[0].Name != "a </script> b" || len(curves) != 2 {
			t.Errorf("data of %q: %s", curves[0].Name, d)
		}
	}
}

// TestPanelsWithoutPoints: curves without a point have no button, and panels that have none are named in a line
// in place of frames without a curve.
func TestPanelsWithoutPoints(t *testing.T) {
	c := Chart{Panels: []Panel{
		{XBytes: true, Curves: []Curve{{Name: "done", X: []float64{1024}, Y: []float64{1}}, {Name: "cut"}}},
		{Title: "later", XBytes: true, Curves: []Curve{{Name: "cut"}}},
		{Title: "9 & 10", XBytes: true, Curves: []Curve{{Name: "cut"}}},
	}}
	var b strings.Builder
	if err := c.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	_, later, _ := strings.Cut(b.String(), "</figure>")
	if n := strings.Count(b.String(), "<button"); n != 1 || later != "\n</div>\n<p class=\"lacking\">Not measured: later; 9 &amp; 10</p>\n" {
		t.Errorf("%d buttons, and without points %s", n, later)
	}
}

// TestBandsAreBehindCurves: the lines of all curves come after all bands.
func TestBandsAreBehindCurves(t *testing.T) {
	some, wide := []float64{1, 2, 3}, []float64{9, 9, 9}
	c := Chart{Panels: []Panel{{Curves: []Curve{{Name: "a", X: some, Y: some, Low: some, High: wide}, {Name: "b", X: some, Y: some, Low: some, High: wide}}}}}
	var b strings.Builder
	if err := c.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	before, behind, _ := strings.Cut(b.String(), "<circle")
	if n := strings.Count(before, `class="band"`); n != 2 || strings.Contains(behind, `class="band"`) {
		t.Errorf("%d of 2 bands are before the first mark", n)
	}
}

// TestLabelsAreInside: the label at the end of the lower axis ends within the panel.
func TestLabelsAreInside(t *testing.T) {
	var b strings.Builder
	c := Chart{Panels: []Panel{{XBytes: true, Curves: []Curve{{Name: "a", X: []float64{1024, 128 << 10}, Y: []float64{1, 2}}}}}}
	if err := c.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`<text x="([\d.]+)" [^>]*>128K<`).FindStringSubmatch(b.String())
	if found == nil {
		t.Fatalf("no label 128K in %s", b.String())
	}
	if x, err := strconv.ParseFloat(found[1], 64); err != nil || x+textWidth("128K", tickSize)/2 > pageWidth {
		t.Errorf("the label 128K around %s ends outside of %d", found[1], pageWidth)
	}
}

// TestReadingsAreOnCurves: the data of the script has the places of the marks in the drawing.
func TestReadingsAreOnCurves(t *testing.T) {
	var b strings.Builder
	if err := sampleOfPage().WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	found := dataOf.FindStringSubmatch(b.String())
	var curves []struct{ Points [][]any }
	if found == nil || json.Unmarshal([]byte(found[1]), &curves) != nil {
		t.Fatal("the page has no data")
	}
	for _, p := range curves[0].Points {
		if mark := fmt.Sprintf(`cx="%v" cy="%v"`, p[0], p[1]); !strings.Contains(b.String(), mark) {
			t.Errorf("no mark at %s", mark)
		}
	}
}

// TestScript runs the part of the script that needs no browser.
func TestScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the script is run by node, which is not installed")
	}
	const test = `
const curves = [{ points: [[10, 10, "a"], [20, 10, "b"]] }, { points: [[10, 90, "c"]] }, { points: [] }];
const show = (found) => console.log(found === null ? "none" : found.curve + found.point[2]);
show(nearest(curves, new Set(), 11, 12));
show(nearest(curves, new Set(), 19, 40));
show(nearest(curves, new Set(), 10, 80));
show(nearest(curves, new Set([0]), 20, 10));
show(nearest(curves, new Set([0, 1]), 20, 10));
`
	out, err := exec.CommandContext(t.Context(), node, "-e", Script+test).CombinedOutput()
	if want := "0a\n0b\n1c\n1c\nnone\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}
